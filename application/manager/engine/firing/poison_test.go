package firing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// choosyStore fails the inserts of one job for a reason that is no value's.
type choosyStore struct {
	repository.Store
	jobID string
}

var errBroken = errors.New("no such column")

func (c choosyStore) Write(ctx context.Context, lane repository.Lane, name string, fn func(ctx context.Context, tx repository.Tx) error) error {
	return c.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		tx.Executions = choosyRuns{tx.Executions, c.jobID}
		return fn(ctx, tx)
	})
}

type choosyRuns struct {
	repository.ExecutionWriter
	jobID string
}

func (c choosyRuns) Insert(ctx context.Context, execs []*entity.Execution) error {
	if slices.ContainsFunc(execs, func(exec *entity.Execution) bool { return exec.JobID == c.jobID }) {
		return errBroken
	}
	return c.ExecutionWriter.Insert(ctx, execs)
}

// The one job of a batch that cannot be fired, whatever the reason, holds up
// none of the others (engine rule 10).
func TestOneJobThatCannotBeFiredHoldsUpNobody(t *testing.T) {
	eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
		jobs := addMany(t, n, 12, nil)
		n.Planner.Store = choosyStore{n.Faults, jobs[5].ID}
		n.Start(t)
		require.ErrorIs(t, fireOnce(t, n), errBroken)
		for i, job := range jobs {
			if i == 5 {
				require.Empty(t, n.Executions(t, job.ID), "nothing of it is decided")
				require.Equal(t, second(0), n.Job(t, job.ID).NextFireTime)
				continue
			}
			n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		}
		n.Planner.Store = n.Faults
		n.Fire(t)
		n.AwaitStatus(t, n.Executions(t, jobs[5].ID)[0].ID, entity.StatusSuccess)
	})
}
