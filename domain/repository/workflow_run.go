package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// WorkflowRunWriter keeps workflow runs, inside a transaction.
type WorkflowRunWriter interface {
	// AddRuns inserts runs without a state; one that is there stays as it is.
	AddRuns(ctx context.Context, runs []workflow.Run) error
	// LockRuns locks those that exist, by id, and returns the Seq of each.
	LockRuns(ctx context.Context, ids []string) (map[string]int64, error)
	// SaveRuns writes Phase, State, Wake and Problem of locked runs, and counts their Seq up.
	SaveRuns(ctx context.Context, runs []workflow.Run, now time.Time) error
	// AddSteps inserts the ids of steps; one that is there stays as it is.
	AddSteps(ctx context.Context, steps []workflow.StepRow) error
}

// WorkflowRunReader reads workflow runs and steps.
type WorkflowRunReader interface {
	// WorkflowRuns are those that exist, in no order.
	WorkflowRuns(ctx context.Context, ids []string) ([]workflow.Run, error)
	// RunsToWake are the ids of runs whose Wake is up to a moment, the earliest first, at most limit.
	RunsToWake(ctx context.Context, until time.Time, limit int) ([]string, error)
	// WorkflowSteps are the steps of these ids that exist, in no order.
	WorkflowSteps(ctx context.Context, ids []string) ([]workflow.StepRow, error)
}

// WorkflowRunFilter narrows a list; empty fields do not filter. From and To bound the moment in the id, as those of
// ExecutionFilter do.
type WorkflowRunFilter struct {
	WorkflowID string
	Phases     []workflow.Phase
	// Status is that of the root.
	Status   entity.Status
	From, To time.Time
	// Groups are those whose workflows may be seen; nil is all.
	Groups []string
}

// WorkflowRunLister lists workflow runs.
type WorkflowRunLister interface {
	// WorkflowRunIDs are those of the runs of a page, newest first.
	WorkflowRunIDs(ctx context.Context, f WorkflowRunFilter, p Page) (ids []string, next string, err error)
}
