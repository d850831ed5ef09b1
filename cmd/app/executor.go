package app

import (
	"log/slog"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/report"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Executors are those of a node, and what they need beside the engine.
type Executors struct {
	*executor.DistributedExecutor
	// Reports takes what the targets of asynchronous calls say.
	Reports *report.Registry

	commands *commands
	logger   *slog.Logger
}

// Prepare ends what a former life of this node left running. The engine calls
// it when the node's id is surely its own.
func (e *Executors) Prepare() error {
	if e.commands == nil {
		return nil
	}
	return e.commands.prepare(e.logger)
}

// Close ends the processes that help. Nothing may run any more.
func (e *Executors) Close() error {
	if e.commands == nil {
		return nil
	}
	return e.commands.close()
}

// NewServerExecutor is NewExecutor for a program whose first argument may be
// HelperCommand: it runs commands too, where the configuration allows.
func NewServerExecutor(cfg config.Config, c clock.Clock, logger *slog.Logger) (*Executors, error) {
	commands, err := newCommands(cfg, c, logger)
	if err != nil {
		return nil, err
	}
	e, err := newExecutors(c, nil, commands)
	if err != nil {
		return nil, err
	}
	e.logger = logger
	return e, nil
}

// NewExecutor makes the executors of a node: HTTP calls, the built-in handlers
// and those given, by their class.
func NewExecutor(c clock.Clock, handlers map[string]sdk.Handler) (*Executors, error) {
	return newExecutors(c, handlers, nil)
}

func newExecutors(c clock.Clock, handlers map[string]sdk.Handler, commands *commands) (*Executors, error) {
	reports, err := report.NewRegistry()
	if err != nil {
		return nil, err
	}
	registry := custom.New(c)
	for class, h := range handlers {
		if err := registry.Register(class, h); err != nil {
			return nil, err
		}
	}
	byType := map[entity.JobType]executor.Executor{
		entity.JobCustom: registry,
		entity.JobHTTP:   httpcall.New(c, nil).WithReports(reports),
	}
	if commands != nil {
		byType[entity.JobCommand] = commands.executor
	}
	return &Executors{DistributedExecutor: executor.New(byType), Reports: reports, commands: commands}, nil
}
