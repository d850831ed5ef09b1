package running_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func heldBack() entity.Outcome { return entity.HeldBack(8*time.Second, "held back: nobody is there") }

// oneByOne plays one outcome for each start, the last one again and again.
func oneByOne(n *enginetest.Node, outcomes ...entity.Outcome) {
	var starts atomic.Int64
	n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
		return outcomes[min(int(starts.Add(1)), len(outcomes))-1]
	})
}

// holdsOf are what the store knows of a run's holds.
func holdsOf(t *testing.T, n *enginetest.Node, id string) []entity.Hold {
	t.Helper()
	holds, err := n.Store.Executions.Holds(t.Context(), []string{id})
	require.NoError(t, err)
	return holds
}

// awaitHold waits until a run was held back so often, and returns its row.
func awaitHold(t *testing.T, n *enginetest.Node, id string, times int) *entity.Execution {
	t.Helper()
	enginetest.Await(t, func() bool {
		used, _ := n.Runner.Load(entity.SlotGeneral)
		return entity.TotalHold(holdsOf(t, n, id)).Count == times && n.Execution(t, id).Status == entity.StatusWaiting &&
			used == 0
	}, "it is held back %d times", times)
	return n.Execution(t, id)
}

// A call that is held back takes no retry and no slot, is not called before the interval of the policy, and is counted
// once in its execution, also after a restart.
func TestACallThatIsHeldBackTakesNoRetry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		store := dbtest.Open(t, cfg)
		n := enginetest.On(t, store, enginetest.Options{Slots: 1})
		stop := n.Start(t)
		job := n.Add(t, enginetest.Job("held", retrying(1)))
		oneByOne(n, failed(), heldBack())
		began := n.Clock.Now()
		id := startRun(t, n, job.ID).ID
		tryAgain(t, n, id, 1)
		exec := awaitHold(t, n, id, 1)
		until, _ := exec.Claim.ScheduledUntil()
		require.Equal(t, began.Add(retryWait+8*time.Second), until)
		require.Equal(t, []any{1, 1}, []any{exec.Attempt, exec.RetryCount})
		require.Equal(t, "held back: nobody is there (1 time, 8s in all)", exec.ErrorMessage)

		stop()
		again := enginetest.On(t, store, enginetest.Options{Slots: 1, Clock: n.Clock, Epoch: 2})
		oneByOne(again, heldBack(), entity.Succeeded("at last"))
		again.Start(t)
		again.Clock.Advance(8 * time.Second)
		_, err := again.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		exec = awaitHold(t, again, id, 2)
		require.Equal(t, "held back: nobody is there (2 times, 16s in all)", exec.ErrorMessage)
		again.Clock.Advance(8 * time.Second)
		_, err = again.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		exec = again.AwaitStatus(t, id, entity.StatusSuccess)
		require.Equal(t, []any{2, 1}, []any{exec.Attempt, exec.RetryCount})
		require.Len(t, attemptsOf(t, again, id), 1, "no attempt is kept that called nobody")
		last := again.Script.Runs()[1].Execution
		require.Equal(t, []entity.Hold{{ExecutionID: id, Attempt: 2, Count: 2, For: 16 * time.Second}}, last.Holds)
	})
}

// Where the policy repeats no such failure, a call that is held back fails at once; else it counts after ten minutes.
func TestACallIsHeldBackForTenMinutesAtMost(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		holds  int
		want   entity.Status
	}{
		"no retries": {retrying(0), 0, entity.StatusFailed},
		"errors are not repeated": {func(j *entity.Job) {
			retrying(1)(j)
			j.Retry.NoRetryOn = []entity.Reason{entity.ReasonError}
		}, 0, entity.StatusFailed},
		"ten minutes of 8 seconds": {retrying(1), 75, entity.StatusDead},
	} {
		bubble(t, name, func(t *testing.T) {
			n := startedNode(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("held", c.change))
			n.Script.Reply(enginetest.Always(heldBack()))
			began := n.Clock.Now()
			id := startRun(t, n, job.ID).ID
			for times := 1; times <= c.holds; times++ {
				awaitHold(t, n, id, times)
				n.Clock.Advance(8 * time.Second)
				_, err := n.Repairs.PromoteScheduled(t.Context())
				require.NoError(t, err)
			}
			if c.holds > 0 {
				until, _ := awaitRetry(t, n, id, 1).Claim.ScheduledUntil()
				require.Equal(t, began.Add(retry.MaxHeld+retryWait), until, "the policy waits from then on")
				require.Equal(t, "held back: nobody is there (75 times, 10m0s in all)", attemptsOf(t, n, id)[0].ErrorMessage)
				tryAgain(t, n, id, 1)
			}
			exec := n.AwaitStatus(t, id, c.want)
			require.Equal(t, entity.ReasonError, exec.Reason)
			require.Equal(t, c.holds, entity.TotalHold(holdsOf(t, n, id)).Count)
		})
	}
}

// Somebody may cancel a run whose call is held back, and its place goes on.
func TestARunWhoseCallIsHeldBackCanBeCancelled(t *testing.T) {
	n := startedNode(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("held", retrying(1)))
	end := make(chan struct{})
	n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome { <-end; return heldBack() })
	exec := startRun(t, n, job.ID)
	n.Script.Await(t, 1)
	changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested = true })
	close(end)
	n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
	require.Empty(t, holdsOf(t, n, exec.ID))
	awaitIdle(t, n)
}

// A look at what is due may take so long that a run starts, and waits anew, before it goes on: it leaves that run
// alone.
func TestALookThatLastsLeavesANewWaitAlone(t *testing.T) {
	bubble(t, "held back again", func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		n.Script.Reply(enginetest.Always(heldBack()))
		id := startRun(t, n, n.Add(t, enginetest.Job("held", retrying(1))).ID).ID
		awaitHold(t, n, id, 1)
		var began, over atomic.Bool
		n.Faults.Before(func(name string) {
			if name == "unpark" && began.CompareAndSwap(false, true) {
				_, err := n.Repairs.PromoteScheduled(t.Context())
				require.NoError(t, err)
				time.Sleep(time.Minute) // of the bubble: the run starts and is held back
				over.Store(true)
			}
		})
		n.Clock.Advance(8 * time.Second)
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		for !over.Load() { // the node's own look may be the one that lasts
			time.Sleep(time.Second)
		}
		awaitHold(t, n, id, 2)
		until, _ := n.Execution(t, id).Claim.ScheduledUntil()
		require.Equal(t, n.Clock.Now().Add(8*time.Second), until)
	})
}
