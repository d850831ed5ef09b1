package repository

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ExecutionState is what of an execution may change, as far as people see it.
type ExecutionState struct {
	ID, JobID string
	Status    entity.Status
	Attempt   int
	Progress  int
	// Stopping: somebody has asked it to stop.
	Stopping bool
}

// RunSeq is how often the row of a workflow run has changed.
type RunSeq struct {
	ID  string
	Seq int64
}

// Changes reads what has changed lately, for those who watch. Each call is one statement
// over a primary key or the claim index.
type Changes interface {
	// ExecutionsAfter returns those with ids behind one of them, in order, at most limit.
	// Ids begin with the time of the fire, or of the request.
	ExecutionsAfter(ctx context.Context, id string, limit int) ([]ExecutionState, error)
	// ExecutionStates returns those that exist, in order of their ids.
	ExecutionStates(ctx context.Context, ids []string) ([]ExecutionState, error)
	// RunSeqs returns those of the workflow runs that exist, in order of their ids.
	RunSeqs(ctx context.Context, ids []string) ([]RunSeq, error)
	// DigestsAfter returns digests with ids behind one of them, in order, at most limit.
	// Ids begin with the time of the transaction.
	DigestsAfter(ctx context.Context, id BinaryID, limit int) ([]Digest, error)
	// OpenApprovals returns the ids of executions that wait for people to approve them, at most limit.
	OpenApprovals(ctx context.Context, limit int) ([]string, error)
	// GroupsOf are the groups of those jobs that exist, deleted ones among them.
	GroupsOf(ctx context.Context, jobs []BinaryID) (map[BinaryID]string, error)
}
