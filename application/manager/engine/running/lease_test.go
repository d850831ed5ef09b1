package running_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Rule 27: a process that was frozen for longer than its lease, and does not know
// it yet, begins nothing: it asks its lease before each new effect.
func TestANodeWithoutALeaseBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("short", nil))
		n.Lease.Lose()
		n.Start(t) // not before: a claim may have asked already
		exec := waitingRun(t, n, job.ID)
		n.Runner.RunsReady(entity.SlotGeneral)
		eventually(t, n, "it asks again and again", func() bool { return n.Lease.Asked() > 5 })
		require.Equal(t, entity.StatusWaiting, n.Execution(t, exec.ID).Status, "no claim")
		require.Empty(t, n.Script.Runs())
		n.Lease.Regain()
		eventually(t, n, "it runs", func() bool {
			n.Clock.Advance(time.Second)
			return n.Execution(t, exec.ID).Status == entity.StatusSuccess
		})
	})
}

// The lease ended between the commit of a claim or fire and the start.
func TestWhatWasCommittedWithoutALeaseDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("late", func(j *entity.Job) { j.OnNodeLoss = entity.NodeLossFail }))
		n.Script.Reply(untilStopped)
		exec := lostRun(t, n, job.ID, nil)
		eventually(t, n, "a slot is free", func() bool { return n.Runner.Reserve(entity.Slots{1}) == (entity.Slots{1}) })
		n.Lease.Lose()
		n.Runner.Expect([]*entity.Execution{exec})
		n.Runner.Start([]entity.Run{{Job: job, Execution: exec}})
		n.Lease.Regain()
		eventually(t, n, "it ends", func() bool {
			n.Clock.Advance(time.Second)
			return n.Execution(t, exec.ID).Status == entity.StatusFailed
		})
		require.Equal(t, entity.ReasonNodeLost, n.Execution(t, exec.ID).Reason)
	})
}

// Ends are held until the node knows where it stands.
func TestEndsWaitForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("ends", nil))
		end := make(chan struct{})
		may := make(chan bool, 1)
		n.Script.Reply(func(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
			<-end
			may <- entity.MayAct(ctx)
			return entity.Succeeded("")
		})
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		n.Lease.Lose()
		close(end)
		require.False(t, <-may, "an attempt may ask, too")
		asked := n.Lease.Asked()
		eventually(t, n, "it asks again and again", func() bool { return n.Lease.Asked() > asked+20 })
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
		n.Lease.Regain()
		eventually(t, n, "it is stored", func() bool {
			n.Clock.Advance(5 * time.Second)
			return n.Execution(t, exec.ID).Status == entity.StatusSuccess
		})
	})
}

// A node on its way down hands its ends in: the store refuses what is not its own.
func TestAStopDoesNotWaitForALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("last", nil))
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		n.Lease.Lose()
		drained := make(chan struct{})
		go func() { defer close(drained); n.Runner.Drain(t.Context(), time.Second) }()
		eventually(t, n, "it is stored", func() bool {
			n.Clock.Advance(5 * time.Second)
			return n.Execution(t, exec.ID).Status.Final()
		})
		<-drained
	})
}
