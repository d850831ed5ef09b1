package app

import (
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// NewExecutor makes the executors of a node: HTTP calls, the built-in handlers
// and those given, by their class.
func NewExecutor(c clock.Clock, handlers map[string]sdk.Handler) (*executor.DistributedExecutor, error) {
	registry := custom.New(c)
	for class, h := range handlers {
		if err := registry.Register(class, h); err != nil {
			return nil, err
		}
	}
	return executor.New(map[entity.JobType]executor.Executor{
		entity.JobCustom: registry,
		entity.JobHTTP:   httpcall.New(c, nil),
	}), nil
}
