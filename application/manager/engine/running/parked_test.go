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

// parking waits, without a slot, until the channel gives a token.
func parking(tokens <-chan struct{}) func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
	return func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
		begins := rep.Waits()
		p, ok := run.Parking.Park("the same host")
		if !ok {
			return entity.NotBegun(time.Second, "there is no room")
		}
		select {
		case <-tokens:
		case <-p.Closing():
			return entity.NotBegun(time.Second, "the node closes")
		case <-ctx.Done():
			return enginetest.Stopped(ctx)
		}
		if err := p.Resume(ctx); err != nil {
			return entity.NotBegun(time.Second, err.Error())
		}
		begins()
		return entity.Succeeded("done")
	}
}

// Runs that wait for a busy host take no slots from others, and begin without another look at the store.
func TestRunsThatWaitElsewhereHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 8})
		busy, other := n.Add(t, enginetest.Job("busy", nil)), n.Add(t, enginetest.Job("other", nil))
		tokens := make(chan struct{})
		waits := parking(tokens)
		n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
			if run.Job.ID == busy.ID {
				return waits(ctx, run, rep)
			}
			return entity.Succeeded("done")
		})
		var execs []*entity.Execution
		for range 30 { // half of what may wait here
			execs = append(execs, startRun(t, n, busy.ID))
		}
		n.Script.Await(t, len(execs))
		eventually(t, n, "they have given their slots back", func() bool {
			used, _ := n.Runner.Load(entity.SlotGeneral)
			return used == 0
		})
		n.AwaitStatus(t, startRun(t, n, other.ID).ID, entity.StatusSuccess)
		for range execs {
			tokens <- struct{}{}
		}
		for _, exec := range execs {
			ended := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
			require.Equal(t, 1, ended.Attempt)
		}
		awaitIdle(t, n)
	})
}

// A stop ends a run also while it waits without a slot, and frees no slot of
// another.
func TestARunThatWaitsElsewhereCanBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 2})
		job := n.Add(t, enginetest.Job("busy", nil))
		n.Script.Reply(parking(nil))
		exec, stays := startRun(t, n, job.ID), startRun(t, n, job.ID)
		n.Script.Await(t, 2)
		changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested = true })
		reconcile(t, n, 1)
		n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		used, slots := n.Runner.Load(entity.SlotGeneral)
		require.Zero(t, used)
		require.Equal(t, 2, slots)
		n.Runner.Suspend(true) // somebody drains the node
		eventually(t, n, "the run is free for other nodes", func() bool {
			return n.Execution(t, stays.ID).Status == entity.StatusWaiting
		})
		awaitIdle(t, n)
	})
}
