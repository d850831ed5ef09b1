package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/initproc"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

// workerFlags are what a worker process is told on its command line.
type workerFlags struct {
	worker.Options

	commands bool
	grace    int
	health   string
}

// workerProcess makes the command about workers a worker itself, where it is given flags: it runs commands and HTTP
// calls on this machine, without a store.
func (s *session) workerProcess(c *cobra.Command) {
	w, flags, help := &workerFlags{}, pflag.NewFlagSet(c.Name(), pflag.ContinueOnError), c.RunE
	flags.StringSliceVar(&w.Servers, "server", nil, "addresses of nodes, as `URL,…`")
	flags.StringVar(&w.Group, "group", "", "the worker `GROUP` of the token")
	flags.StringVar(&w.TokenFile, "token-file", "",
		"`FILE` with the token of the worker group; it is read again when refused")
	flags.StringVar(&w.Instance, "instance", "", "the `NAME` of this process in its group (default: the host name)")
	flags.IntVar(&w.Slots, "slots", 8, "HTTP calls at once; 0: none")
	flags.BoolVar(&w.commands, "commands", false, "run commands; the worker group must allow them")
	flags.IntVar(&w.CommandSlots, "command-slots", 0, "commands at once (default: executor.command.slots)")
	flags.StringToStringVar(&w.Labels, "labels", nil, "labels that jobs may ask for, as `NAME=VALUE,…`")
	flags.IntVar(&w.Weight, "weight", 1, "share under the strategy WEIGHTED")
	flags.IntVar(&w.grace, "grace", 30, "how many `SECONDS` runs may go on after SIGTERM")
	flags.StringVar(&w.CAFile, "ca-file", "", "`FILE` with the certificates that a server's must descend from")
	flags.BoolVar(&w.AllowPlain, "allow-plain", false,
		"call servers of other machines over http: others can read the token")
	flags.StringVar(&w.health, "health", "", "answer GET /readyz at `HOST:PORT`, for health checks")
	c.Use = "worker [flags]"
	c.Flags().AddFlagSet(flags)
	c.RunE = func(c *cobra.Command, args []string) error {
		given := false
		flags.VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
		if !given {
			return help(c, args)
		}
		return s.work(c.Context(), w)
	}
}

// options completes what the SDK is told.
func (w *workerFlags) options(cfg config.Config) (worker.Options, error) {
	o := w.Options
	for _, required := range [...]struct {
		flag    string
		missing bool
	}{{"server", len(o.Servers) == 0}, {"group", o.Group == ""}, {"token-file", o.TokenFile == ""}} {
		if required.missing {
			return o, usage.Errorf("a worker needs --%s", required.flag)
		}
	}
	switch {
	case w.grace < 0:
		return o, usage.Errorf("--grace must not be negative")
	case o.Slots < 0, o.CommandSlots < 0:
		return o, usage.Errorf("slots must not be negative")
	case o.Weight < 1:
		return o, usage.Errorf("--weight must be 1 or more")
	case o.CommandSlots > 0 && !w.commands:
		return o, usage.Errorf("--command-slots needs --commands")
	case o.Slots == 0 && !w.commands:
		return o, usage.Errorf("a worker without --slots and without --commands runs nothing")
	}
	o.Grace = max(time.Duration(w.grace)*time.Second, time.Nanosecond)
	o.HTTP = o.Slots > 0
	if o.Slots == 0 {
		o.Slots = -1
	}
	if w.commands && o.CommandSlots == 0 {
		o.CommandSlots = cfg.Executor.Command.Slots
	}
	if o.Instance == "" {
		host, err := os.Hostname()
		if err != nil || host == "" {
			return o, usage.Errorf("this host has no name: give --instance")
		}
		o.Instance = host
	}
	o.Version = app.Version()
	return o, nil
}

// byFlags names the flags in the place of the options that the SDK complains about.
func byFlags(err error) string {
	return strings.NewReplacer("make a worker: ", "", "option Servers", "--server", "set AllowPlain", "give --allow-plain",
		"read TokenFile", "read --token-file", "TokenFile ", "--token-file ", "read CAFile", "read --ca-file",
		"CAFile ", "--ca-file ").Replace(err.Error())
}

// name tells this worker from others on its machine, also from those of other servers.
func name(o worker.Options) string {
	servers := slices.Sorted(slices.Values(o.Servers))
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", o.Group, o.Instance, servers))
	return "worker." + hex.EncodeToString(sum[:8])
}

// workerConfig reads the settings of executors. A worker acts for others, as a server does that others reach: what is
// open to the users of this machine alone has to be asked for.
func (s *session) workerConfig(w *workerFlags) (config.Config, []string, error) {
	sources := s.sources()
	sources.Flags = map[string]string{
		"server.addr": ":8080", "executor.command.enabled": fmt.Sprint(w.commands),
		// Nothing waits for a host here without a slot, so no run is held back either.
		"executor.http.breakAfter": "0",
	}
	return config.Load(sources)
}

func (s *session) work(ctx context.Context, w *workerFlags) error {
	cfg, warnings, err := s.workerConfig(w)
	if err != nil {
		s.warn(warnings)
		return err
	}
	o, err := w.options(cfg)
	if err != nil {
		return err
	}
	logger, _, err := logging.New(s.Err, cfg.Log.Format, cfg.Log.Level)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		logger.Warn(warning)
	}
	if err := initproc.Conceal(); err != nil {
		return err
	}
	var running atomic.Pointer[worker.Worker]
	executor, err := executors.New(cfg, executors.Options{
		Clock: clock.NewSystem(), Logger: logger, Commands: true, Name: name(o), Left: func() time.Duration {
			if w := running.Load(); w != nil {
				return w.LeaseLeft()
			}
			return 0
		},
	})
	if err != nil {
		return err
	}
	err = s.workWith(ctx, w, o, executor, &running, logger)
	return errors.Join(err, executor.Close())
}

// workWith runs the worker until it is asked to stop, or the servers refuse it.
func (s *session) workWith(ctx context.Context, w *workerFlags, o worker.Options, executor *executors.Executors,
	running *atomic.Pointer[worker.Worker], logger *slog.Logger,
) error {
	switch {
	case w.commands && executor.CommandSlots() == 0:
		return errors.New("this worker cannot run commands: " + strings.TrimPrefix(executor.Off()+"; see the log", "; "))
	case executor.Exposed():
		logger.Warn("commands run as the user of this worker, who can read its token: set executor.command.user " +
			"(PS_EXECUTOR_COMMAND_USER) and run the worker as root, or give it a user of its own")
	}
	var once sync.Once
	o.Executor, o.Logger = executor, logger
	o.Registered = func() {
		once.Do(func() {
			executor.Prepare() // the name is ours now, so what former processes left is nobody's
			s.notifyManager(ctx, initproc.Ready, logger)
		})
	}
	process, err := worker.New(o)
	if err != nil {
		return usage.Errorf("%s", byFlags(err))
	}
	running.Store(process)
	closeHealth, err := serveHealth(ctx, w.health, process)
	if err != nil {
		return err
	}
	defer closeHealth()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	draining, drain := context.WithCancel(ctx)
	defer drain()
	ended := make(chan error, 1)
	go func() { ended <- process.Run(draining) }()
	select {
	case err := <-ended:
		return err
	case sig := <-signals:
		logger.Info("stopping; a second signal stops at once", "signal", sig.String(), "graceSec", w.grace)
	}
	s.notifyManager(ctx, initproc.Stopping, logger)
	drain()
	patience, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	go stopAtOnce(patience, clock.NewSystem(), signals, giveUp)
	select {
	case err := <-ended:
		if err == nil {
			logger.Info("stopped")
		}
		return err
	case <-patience.Done():
		return errors.New("stopped at once: what ran is lost when the lease is over")
	}
}
