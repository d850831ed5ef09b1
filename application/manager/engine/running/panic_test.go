package running_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Rule 10: an end whose storing panics, each time, holds up no other end. It is
// tried again and again, and stored once that is over.
func TestAnEndThatPanicsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		bad, good := n.Add(t, enginetest.Job("panics", nil)), n.Add(t, enginetest.Job("good", nil))
		execs, effect := trigger(t, n, bad.ID)
		var panics atomic.Int32
		var mended atomic.Bool
		n.Faults.Poison(func(id string) bool {
			if id == execs[0].ID && !mended.Load() {
				panics.Add(1)
				panic("an end that panics")
			}
			return false
		})
		n.Commits.AfterCommit(effect)
		enginetest.Await(t, func() bool { return panics.Load() >= 2 }, "also without what follows from it")
		n.AwaitStatus(t, startRun(t, n, good.ID).ID, entity.StatusSuccess)
		require.Equal(t, entity.StatusRunning, n.Execution(t, execs[0].ID).Status)
		mended.Store(true)
		eventually(t, n, "the end is stored after all", func() bool {
			return n.Execution(t, execs[0].ID).Status == entity.StatusSuccess
		})
		awaitIdle(t, n)
	})
}

// Rule 10: a claim that panics ends neither the node nor its claiming, and keeps
// no slot.
func TestAClaimThatPanicsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 1})
		job := n.Add(t, enginetest.Job("claimed", nil))
		exec := waitingRun(t, n, job.ID)
		var panics atomic.Int32
		n.Faults.Before(func(name string) {
			if name == "claim" && panics.Add(1) <= 2 {
				panic("a claim that panics")
			}
		})
		n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
		eventually(t, n, "the run ends", func() bool { return n.Execution(t, exec.ID).Status == entity.StatusSuccess })
		require.Greater(t, panics.Load(), int32(2))
		awaitIdle(t, n)
	})
}
