package running_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// untilStopped is an executor that obeys, and says why it stopped.
func untilStopped(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
	<-ctx.Done()
	if errors.Is(context.Cause(ctx), entity.ErrStopLost) {
		return entity.Failed(entity.ReasonNodeLost, "lost")
	}
	return enginetest.Stopped(ctx)
}

// Rule 27: a node without the right to work stops everything, starts nothing,
// and works again under the epoch that it is given.
func TestAFencedNodeStopsAndStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("long", nil))
		n.Script.Reply(untilStopped)
		exec := waitingRun(t, n, job.ID)
		n.Runner.RunsReady(entity.SlotGeneral)
		n.Script.Await(t, 1)

		require.NoError(t, n.Runner.Fence(t.Context()))
		ended := n.AwaitStatus(t, exec.ID, entity.StatusWaiting)
		require.Equal(t, 1, ended.NodeLosses, "the run is lost with the node, and goes elsewhere")
		require.Zero(t, n.Runner.Reserve(entity.Slots{10}))
		require.Zero(t, n.Runner.WaitForSlots(t.Context(), 0))
		n.Clock.Advance(time.Hour)
		require.Len(t, n.Script.Runs(), 1, "nothing is claimed")

		n.Script.Reply(enginetest.Always(entity.Succeeded("")))
		n.Runner.Adopt(2)
		n.Clock.Advance(2 * time.Second)
		done := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.EqualValues(t, 2, done.Epoch)
	})
}

// A fire or a claim that was under way when the node was fenced may be committed
// after it works again: its executions are those of the former epoch, and lost.
func TestARunOfAFormerEpochDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("late", func(j *entity.Job) { j.OnNodeLoss = entity.NodeLossFail }))
		n.Script.Reply(untilStopped)
		exec := lostRun(t, n, job.ID, nil)
		require.NoError(t, n.Runner.Fence(t.Context()))
		n.Runner.Adopt(2)
		eventually(t, n, "a slot is free", func() bool { return n.Runner.Reserve(entity.Slots{1}) == (entity.Slots{1}) })
		n.Runner.Expect([]*entity.Execution{exec})
		n.Runner.Start([]entity.Run{{Job: job, Execution: exec}})
		require.Equal(t, entity.ReasonNodeLost, n.AwaitStatus(t, exec.ID, entity.StatusFailed).Reason)
	})
}

// A node that was declared dead and comes back may claim what it lost before the
// report of its own first attempt is refused: that report must not take the
// second attempt for its own.
func TestALateReportLeavesALaterAttemptOfTheRunAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		ends := []chan struct{}{make(chan struct{}), make(chan struct{})}
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			<-ends[min(run.Execution.Attempt, len(ends))-1]
			return entity.Succeeded("")
		})
		exec := waitingRun(t, n, n.Add(t, enginetest.Job("long", nil)).ID)
		n.Runner.RunsReady(entity.SlotGeneral)
		n.Script.Await(t, 1)
		changeRow(t, n, exec.ID, func(r *entity.Execution) {
			r.Status, r.NodeID, r.Claim = entity.StatusWaiting, "", exec.Claim
		})
		n.Runner.Adopt(2)
		n.Script.Await(t, 2)

		close(ends[0])
		synctest.Wait()
		require.Len(t, linesOf(t, n, exec.ID, entity.LogEvidence), 1)
		running, _ := n.Runner.Load(entity.SlotGeneral)
		require.Equal(t, 1, running)
		reconcile(t, n, 3)
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status, "the second attempt is known to run here")
		close(ends[1])
		done := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.Equal(t, 2, done.Attempt)
	})
}

func TestAFenceWaitsForWhatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		deaf := make(chan struct{})
		defer close(deaf)
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
			<-deaf
			return entity.Succeeded("")
		})
		waitingRun(t, n, n.Add(t, enginetest.Job("deaf", nil)).ID)
		n.Runner.RunsReady(entity.SlotGeneral)
		n.Script.Await(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorContains(t, n.Runner.Fence(ctx), "1 runs")
	})
}

// Rule 20: the runs of a node that is down are recovered by another, those of
// its later lives are not.
func TestTheRunsOfADeadNodeAreReaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("lost", nil))
		on := func(epoch int64) *entity.Execution {
			return lostRun(t, n, job.ID, func(exec *entity.Execution) {
				exec.NodeID, exec.Epoch, exec.Claim = "node-2", epoch, entity.RunningKey("node-2")
			})
		}
		old, later := on(3), on(4)
		held, err := n.Runner.Reap(t.Context(), "node-2", 3)
		require.NoError(t, err)
		require.Equal(t, 1, held)
		done := n.AwaitStatus(t, old.ID, entity.StatusSuccess)
		require.Equal(t, []any{"node-1", 1, 2}, []any{done.NodeID, done.NodeLosses, done.Attempt})
		require.Equal(t, entity.StatusRunning, n.Execution(t, later.ID).Status)
		held, err = n.Runner.Reap(t.Context(), "node-2", 3)
		require.NoError(t, err)
		require.Zero(t, held)
	})
}

// Rule 15: a run that has lost its node had its turn. It does not stand behind the queue that grew meanwhile.
func TestALostRunGoesBeforeTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 1})
		release := n.Script.Hold()
		job := n.Add(t, enginetest.Job("many", nil))
		lost := lostRun(t, n, job.ID, func(exec *entity.Execution) {
			exec.NodeID, exec.Epoch, exec.Claim = "node-2", 3, entity.RunningKey("node-2")
		})
		n.AwaitStatus(t, n.Trigger(t, job.ID)[0].ID, entity.StatusRunning)
		n.Clock.Advance(time.Second)
		var waiting []string
		for range 5 {
			waiting = append(waiting, n.Trigger(t, job.ID)[0].ID)
		}
		n.Clock.Advance(time.Minute)
		_, err := n.Runner.Reap(t.Context(), "node-2", 3)
		require.NoError(t, err)
		n.Pass(t, func() bool {
			_, err := n.Repairs.PromoteScheduled(t.Context())
			return err == nil && n.Execution(t, lost.ID).Claim.Ready()
		}, "the lost run may start")
		release()
		n.AwaitStatus(t, waiting[4], entity.StatusSuccess)
		var order []string
		for _, run := range n.Script.Runs()[1:] {
			order = append(order, run.Execution.ID)
		}
		require.Equal(t, append([]string{lost.ID}, waiting...), order)
	})
}

// The dead node may be back while its runs are reaped: what it runs by then is
// another attempt than the one that was lost.
func TestTheNextAttemptOfANodeThatCameBackIsNotReaped(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("lost", nil))
	exec := lostRun(t, n, job.ID, func(exec *entity.Execution) {
		exec.NodeID, exec.Epoch, exec.Claim = "node-2", 3, entity.RunningKey("node-2")
	})
	n.Runner.Executions = readAfter{n.Store.Executions, func() {
		changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.Epoch, exec.Token, exec.Attempt = 4, 2, 2 })
	}}
	held, err := n.Runner.Reap(t.Context(), "node-2", 3)
	require.NoError(t, err)
	require.Equal(t, 1, held)
	require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
}

func TestAStopThatWasAskedElsewhereIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		n.Script.Reply(untilStopped)
		exec := waitingRun(t, n, n.Add(t, enginetest.Job("long", nil)).ID)
		n.Runner.RunsReady(entity.SlotGeneral)
		n.Script.Await(t, 1)
		require.NoError(t, n.Runner.StopAsked(t.Context(), []string{exec.ID, "none"}))
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status, "nobody asked")
		changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested = true })
		require.NoError(t, n.Runner.StopAsked(t.Context(), []string{"none"}))
		require.NoError(t, n.Runner.StopAsked(t.Context(), []string{exec.ID}))
		n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
	})
}
