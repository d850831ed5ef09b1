package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/initproc"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging"
)

func (s *session) serverCommand() *cobra.Command {
	var examples string
	c := &cobra.Command{
		Use:   "server",
		Short: "Run a node: API, scheduler and executor",
		Long: `Run a node in the foreground. Without any configuration it is a standalone
server on 127.0.0.1:8080 with an SQLite file in ./data. The first signal stops
it gracefully, the second one at once.`,
		Example: "  platform-scheduler server\n  PS_SERVER_ADDR=127.0.0.1:9090 platform-scheduler server --config " +
			"scheduler.yaml",
		Args: usage.Args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			keys := map[string]string{"addr": "server.addr", "data-dir": "dataDir", "standby": "server.standby"}
			for flag, key := range keys {
				if f := c.Flags().Lookup(flag); f.Value.String() != f.DefValue {
					s.flags[key] = f.Value.String()
				}
			}
			cfg, warnings, err := config.Load(s.sources())
			if err != nil {
				s.warn(warnings)
				return err
			}
			return s.serve(c.Context(), cfg, warnings, examples)
		},
	}
	c.Flags().StringVar(&examples, "apply", "",
		"create the jobs of the YAML files in `DIR` at the first start, and show every run that ends")
	c.Flags().String("addr", "", "listen on `HOST:PORT` (server.addr)")
	c.Flags().String("data-dir", "", "keep data in `DIR` (dataDir)")
	c.Flags().Bool("standby", false,
		"serve API and console, and do nothing else: for a copy of a store (server.standby)")
	return c
}

// giveUp is how long a graceful stop may take beyond its grace.
const giveUp = 20 * time.Second

func (s *session) serve(ctx context.Context, cfg config.Config, warnings []string, examples string) error {
	logger, _, err := logging.New(s.Err, cfg.Log.Format, cfg.Log.Level)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		logger.Warn(w)
	}
	if err := initproc.Conceal(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	if cfg.InClear() {
		logger.Warn("passwords and tokens come over the network in clear: set server.tls.certFile and server.tls.keyFile, "+
			"or put a proxy with TLS before the server and its https address into server.publicUrl",
			"address", cfg.Server.Addr)
	}
	if cfg.Worker.AllowPlain {
		logger.Warn("workers may call without TLS (worker.allowPlain): their tokens, and the data of jobs, are readable on " +
			"the way")
	}
	machine := failpoint.Clock(clock.NewSystem())
	executor, err := executors.New(cfg, executors.Options{
		Clock: machine, Logger: logger, Handlers: failpoint.Handlers(),
		Served: true, Commands: true,
	})
	if err != nil {
		return err
	}
	options := app.Options{Clock: machine, Executor: executor, Processes: executor, Logger: logger}
	// A reader of examples is a person, unless JSON was asked for.
	show := newConsole(s.Out, logging.IsJSON(s.Err, cfg.Log.Format) &&
		(examples == "" || cfg.Log.Format == logging.FormatJSON))
	if examples != "" {
		options.Observer = show.Observe
		defer show.Close()
	}
	server, err := startable(ctx, signals, func(ctx context.Context) (*server.Server, error) {
		return server.New(ctx, cfg, options)
	})
	if err != nil || server == nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	applied := 0
	if examples != "" {
		if applied, err = server.ApplyExamples(ctx, examples); err != nil {
			_ = server.Stop(ctx)
			return err
		}
	}
	show.Welcome(server, applied)
	s.notifyManager(ctx, initproc.Ready, logger)
	logger.Info("the server is ready", "address", server.URL(), "store", cfg.Store.Driver, "version", app.Version())

	select {
	case sig := <-signals:
		logger.Info("stopping; a second signal stops at once", "signal", sig.String(), "graceSec",
			cfg.Server.ShutdownGraceSec)
	case err = <-server.Failed():
		err = fmt.Errorf("serving ended: %w", err)
	case err = <-server.Lost():
		logger.Error("this process ends", "error", err)
	case <-ctx.Done():
	}
	s.notifyManager(ctx, initproc.Stopping, logger)
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx),
		time.Duration(cfg.Server.ShutdownGraceSec)*time.Second+giveUp)
	defer cancel()
	go stopAtOnce(stopCtx, machine, signals, cancel)
	if stopErr := server.Stop(stopCtx); stopErr != nil && err == nil {
		err = stopErr
	}
	logger.Info("stopped")
	return err
}

// startable makes a server, which may wait for its services. A signal ends that
// wait: then there is neither server nor error.
func startable(ctx context.Context, signals chan os.Signal,
	open func(ctx context.Context) (*server.Server, error),
) (*server.Server, error) {
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	over, heard := make(chan struct{}), make(chan os.Signal, 1)
	go func() {
		defer close(heard)
		select {
		case sig := <-signals:
			heard <- sig
			cancel()
		case <-over:
		}
	}()
	server, err := open(starting)
	close(over)
	sig, stopped := <-heard
	switch {
	case stopped && err != nil:
		return nil, nil
	case stopped:
		signals <- sig // the server is there: it is stopped in order
	}
	return server, err
}

// notifyManager notifies the service manager that started this process, if one did.
func (s *session) notifyManager(ctx context.Context, state string, logger *slog.Logger) {
	if err := initproc.Notify(context.WithoutCancel(ctx), s.Environment("NOTIFY_SOCKET"), state); err != nil {
		logger.Warn("the service manager was not notified", "state", state, "error", err)
	}
}

// sameSignal is the time in which further signals are echoes of the first:
// some tools signal a process and its group.
const sameSignal = 500 * time.Millisecond

// stopAtOnce ends a graceful stop at the second signal.
func stopAtOnce(ctx context.Context, c clock.Clock, signals <-chan os.Signal, giveUp func()) {
	echoes := c.NewTimer(sameSignal)
	defer echoes.Stop()
	first := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-echoes.C():
			first = false
		case <-signals:
			if !first {
				giveUp()
				return
			}
		}
	}
}
