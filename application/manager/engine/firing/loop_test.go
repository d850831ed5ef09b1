package firing_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
)

// runPlanner runs the planner's own loop until the returned function, or the
// test, ends it.
func runPlanner(t *testing.T, n *enginetest.Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Planner.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return stop
}

// Rule 12: what a scan found fires when its time comes, without another one.
func TestTheLoopFiresWhatComesDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		stop := runPlanner(t, n)
		n.Clock.Jump(-300 * time.Millisecond) // it comes due between two looks at the clock
		job := n.Add(t, everySecond(nil))
		scan(t, n)
		for s := range 3 {
			synctest.Wait()
			require.Equal(t, 1, n.Planner.Held())
			require.Len(t, n.Executions(t, job.ID), s)
			n.Clock.Advance(second(s).Sub(n.Clock.Now()))
		}
		synctest.Wait()
		stop()
		scan(t, n)
		n.Clock.Advance(time.Second)
		require.Equal(t, []int{0, 1, 2}, scheduledTimes(n.Executions(t, job.ID)), "a loop that has ended fires nothing")
		n.Start(t)
	})
}

// A clock that jumps ahead while the loop sleeps until a moment of the old
// time is noticed at the next look, without anybody's poke.
func TestTheLoopLooksAtTheClockAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		runPlanner(t, n)
		const soon = 2900 * time.Millisecond // within the scan's horizon
		n.Clock.Jump(-soon)
		job := n.Add(t, enginetest.Job("hourly", enginetest.Every(time.Hour)))
		scan(t, n)
		synctest.Wait()
		n.Clock.Jump(soon)
		n.Pass(t, func() bool { return len(n.Executions(t, job.ID)) > 0 }, "it fires")
		require.Less(t, n.Clock.Monotonic(), 2*time.Second, "long before its timer would tell")
		n.Start(t)
	})
}

// Rule 9: the loop survives a store that is away, backs off, and goes on with
// what the next scan finds.
func TestTheLoopGoesOnAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		runPlanner(t, n)
		job := n.Add(t, enginetest.Job("hourly", enginetest.Every(time.Hour)))
		n.Faults.Away(true)
		scan(t, n)
		synctest.Wait()
		require.Zero(t, n.Planner.Held(), "its hint is dropped")
		require.Zero(t, slotsInUse(n))
		n.Faults.Away(false)
		scan(t, n)
		n.Pass(t, func() bool { return len(n.Executions(t, job.ID)) > 0 }, "it fires")
		require.GreaterOrEqual(t, n.Clock.Monotonic(), 100*time.Millisecond, "it does not hammer at the store")
		n.Start(t)
	})
}
