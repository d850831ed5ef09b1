package executor

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Opener is the executor of workflows: it lets a workflow run begin, whose steps are executions of their own.
type Opener struct{}

// Run implements Executor.
func (Opener) Run(context.Context, entity.Run, entity.Reporter) entity.Outcome {
	return entity.Opened()
}

// Check implements Checker.
func (Opener) Check(*entity.Job) []apperror.Field { return nil }
