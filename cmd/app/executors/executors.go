// Package executors makes the executors of a node: HTTP calls, commands and handlers.
package executors

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall/hosts"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Executors are those of a node, and what they need beside the engine.
type Executors struct {
	*executor.DistributedExecutor

	registry *custom.Registry
	calls    *httpcall.Executor
	commands *commands
	// off is why commands are off on a node that should run them.
	off    string
	logger *slog.Logger
}

// Handlers implements app.Executor.
func (e *Executors) Handlers() []string { return e.registry.Own() }

// CommandSlots implements app.Executor.
func (e *Executors) CommandSlots() int {
	if e.commands == nil {
		return 0
	}
	return e.commands.slots
}

// Prepare ends the commands that a former process of this node left. The engine calls it
// when it owns the node's id.
func (e *Executors) Prepare() {
	if e.commands != nil {
		e.commands.prepare(e.logger)
	}
}

// Off says why commands are off on a node that should run them; empty when
// they are on, or are not asked for.
func (e *Executors) Off() string { return e.off }

// Exposed reports whether commands run as the server's own user, to whom its
// store and its keys are open.
func (e *Executors) Exposed() bool { return e.commands != nil && !e.commands.account.Change }

// Isolation tells what holds for the commands of this node; ok is false where
// it runs none.
func (e *Executors) Isolation() (i metrics.Isolation, ok bool) {
	if e.commands == nil {
		return i, false
	}
	return e.commands.isolation(), true
}

// Close ends the processes that help and the connections that are kept.
// Nothing may run any more.
func (e *Executors) Close() error {
	e.calls.Close()
	if e.commands == nil {
		return nil
	}
	return e.commands.close()
}

// Options say what a program gives the executors of its node.
type Options struct {
	Clock  clock.Clock
	Logger *slog.Logger
	// Handlers are the program's own, by their class.
	Handlers map[string]sdk.Handler
	// Served: the node has a REST edge, where the targets of asynchronous calls
	// report. Without one such calls are refused.
	Served bool
	// Commands: the program's first argument may be HelperCommand, so that it
	// runs commands where the configuration allows.
	Commands bool
	// Name separates the processes and folders of this program from others on its machine, where it keeps no data
	// folder. Empty: the node's id and data folder do.
	Name string
	// Left is how long this program may act, where a lease bounds that; see supervise.Config.
	Left func() time.Duration
}

// server is what a program is that has a data folder.
const server = "server"

// acts is what the program is, for messages.
func (o Options) acts() string {
	if o.Name != "" {
		return "worker"
	}
	return server
}

// New makes the executors of a node: HTTP calls, commands, the
// built-in handlers and those given.
func New(cfg config.Config, o Options) (*Executors, error) {
	registry := custom.New(o.Clock)
	e := &Executors{registry: registry, logger: o.Logger}
	for class, h := range o.Handlers {
		if err := registry.Register(class, h); err != nil {
			return nil, err
		}
	}
	var err error
	if e.calls, err = newCalls(cfg, o); err != nil {
		return nil, err
	}
	byType := map[entity.JobType]executor.Executor{
		entity.JobCustom: registry, entity.JobHTTP: e.calls,
	}
	if o.Commands {
		var folders errNoFolders
		if e.commands, err = newCommands(cfg, o); errors.As(err, &folders) {
			e.off = "commands are off on this node: " + err.Error()
			if o.acts() != server {
				e.off = "commands are off: " + err.Error()
			}
			o.Logger.Error(e.off)
		} else if err != nil {
			return nil, err
		}
	}
	if e.commands != nil {
		byType[entity.JobCommand] = e.commands.executor
	}
	e.DistributedExecutor = executor.New(byType, map[entity.JobType]executor.Checker{
		entity.JobCommand: command.New(o.Clock, nil, command.Settings{Interpreters: cfg.Executor.Command.Interpreters}),
	}).As(o.acts())
	return e, nil
}

func newCalls(cfg config.Config, o Options) (*httpcall.Executor, error) {
	calls := cfg.Executor.HTTP
	networks, err := outbound.ParseNetworks(calls.AllowCIDRs)
	if err != nil {
		return nil, fmt.Errorf("executor.http.allowCIDRs: %w", err)
	}
	return httpcall.New(o.Clock, httpcall.Settings{
		Guard: outbound.New(outbound.Policy{
			AllowPrivate: calls.AllowPrivate, AllowCIDRs: networks, Acts: o.acts(),
		}),
		Hosts: hosts.Settings{
			PerHost: calls.MaxPerHost, BreakAfter: calls.BreakAfter,
			BreakFor: time.Duration(calls.BreakSec) * time.Second,
		},
		Timeout: time.Duration(calls.TimeoutSec) * time.Second,
		Reports: o.Served, BaseURL: reportBase(cfg),
	}), nil
}

// reportBase is the address below which targets report; empty when this node
// does not know how others reach it.
func reportBase(cfg config.Config) string {
	if cfg.Server.PublicURL != "" {
		return strings.TrimSuffix(cfg.Server.PublicURL, "/")
	}
	host, port, err := net.SplitHostPort(cfg.Server.Addr)
	if ip := net.ParseIP(host); err != nil || host == "" || port == "0" || ip != nil && ip.IsUnspecified() {
		return ""
	}
	scheme := "http://"
	if cfg.Server.TLS.CertFile != "" {
		scheme = "https://"
	}
	return scheme + cfg.Server.Addr
}
