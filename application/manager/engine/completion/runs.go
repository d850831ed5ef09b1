package completion

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// addRuns stores the workflow runs that begin, and what they owe: their first steps.
func (c *completion) addRuns(ctx context.Context, tx repository.Tx) error {
	if len(c.opened) == 0 {
		return nil
	}
	runs := make([]workflow.Run, len(c.opened))
	todos := make([]entity.Todo, len(c.opened))
	for i, e := range c.opened {
		runs[i] = workflow.Run{
			ID: e.ID, WorkflowID: e.JobID, Version: e.JobVersion, CreateTime: c.now, UpdateTime: c.now,
		}
		todos[i] = workflow.Todo(e.ID, workflow.OwesOpening, c.now)
	}
	if err := tx.WorkflowRuns.AddRuns(ctx, runs); err != nil {
		return fmt.Errorf("open %d workflow runs: %w", len(runs), err)
	}
	return tx.Todos.AddTodos(ctx, todos)
}
