package app

import (
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
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
}

// NewExecutor makes the executors of a node: HTTP calls, the built-in handlers
// and those given, by their class.
func NewExecutor(c clock.Clock, handlers map[string]sdk.Handler) (*Executors, error) {
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
	return &Executors{
		DistributedExecutor: executor.New(map[entity.JobType]executor.Executor{
			entity.JobCustom: registry,
			entity.JobHTTP:   httpcall.New(c, nil),
		}),
		Reports: reports,
	}, nil
}
