package firing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// beforeByIDs does something before executions are read by id, and may fail the read.
type beforeByIDs struct {
	repository.ExecutionReader
	do func() error
}

func (b beforeByIDs) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	if err := b.do(); err != nil {
		return nil, err
	}
	return b.ExecutionReader.ByIDs(ctx, ids)
}

// While the executions of an unanswered commit are read again, which may take long,
// they do not count as lost (engine rule 9).
func TestAnUnansweredCommitKeepsItsRunsUntilTheyAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, everySecond(nil))
		n.Planner.Executions = beforeByIDs{n.Store.Executions, func() error {
			for range 3 {
				require.NoError(t, n.Runner.Reconcile(t.Context()))
			}
			return nil
		}}
		n.Start(t)
		n.Faults.Next("fire", enginetest.LostReply)
		require.NoError(t, fireOnce(t, n))
		exec := n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		require.Equal(t, 1, exec.Attempt)
		require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
	})
}

// An outage right after the commit ends none of its runs: their executions are read
// again until the store answers, and they do not count as lost (engine rule 27).
func TestAnUnansweredCommitBeforeAnOutageLosesNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, everySecond(nil))
		tries := 0
		n.Planner.Executions = beforeByIDs{n.Store.Executions, func() error {
			require.NoError(t, n.Runner.Reconcile(t.Context()))
			if tries++; tries <= 3 {
				return apperror.Unavailable(errors.New("away"))
			}
			return nil
		}}
		n.Start(t)
		n.Faults.Next("fire", enginetest.LostReply)
		fired := make(chan error, 1)
		go func() { fired <- fireOnce(t, n) }()
		n.Pass(t, func() bool { return len(fired) > 0 }, "the answer is known")
		require.NoError(t, <-fired)
		require.Equal(t, 4, tries)
		exec := n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		require.Equal(t, 1, exec.Attempt)
		require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
	})
}

// A node that ends before it has read them gives them up, and never starts them
// by itself: two looks later they are lost, and run again.
func TestAnUnansweredCommitThatCannotBeReadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, everySecond(nil))
		ctx, end := context.WithCancel(t.Context())
		n.Planner.Executions = beforeByIDs{n.Store.Executions, func() error {
			end()
			return apperror.Unavailable(errors.New("away"))
		}}
		n.Start(t)
		n.Faults.Next("fire", enginetest.LostReply)
		require.Error(t, fireIn(ctx, t, n))
		for range 2 {
			require.Empty(t, n.Script.Runs())
			require.NoError(t, n.Runner.Reconcile(t.Context()))
		}
		exec := n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		require.Equal(t, 2, exec.Attempt)
		require.Len(t, n.Script.Runs(), 1)
	})
}

// A job drops out of the transaction, because another node has fired it. This node has claimed that execution meanwhile
// and works on it under the same token. After an unanswered commit it does not start a second time (engine rule 9).
func TestAnUnansweredCommitStartsNothingThatDroppedOut(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				jobs := addMany(t, n, 2, func(_ int, j *entity.Job) { j.Overlap = overlap })
				theirs := entity.NewExecutions(jobs[0], atNoon(), second(0))[0]
				theirs.Status, theirs.NodeID, theirs.Epoch, theirs.Token, theirs.Attempt = entity.StatusRunning, "node-1", 1, 1, 1
				fired := false
				n.Faults.Before(func(tx string) {
					if tx == "fire" && !fired {
						fired = true
						insertRow(t, n, theirs)
						n.Change(t, jobs[0].ID, func(j *entity.Job) { j.NextFireTime = second(1) })
					}
				})
				n.Faults.Next("fire", enginetest.LostReply)
				require.NoError(t, fireOnce(t, n))
				n.Start(t)
				for _, exec := range n.Executions(t, jobs[1].ID) {
					n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
				}
				runs := n.Script.Runs()
				require.Len(t, runs, 1)
				require.Equal(t, jobs[1].ID, runs[0].Execution.JobID)
				require.Zero(t, slotsInUse(n))
			})
		})
	}
}
