package firing_test

import (
	"context"
	"testing"
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
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(within):
			require.Fail(t, "the planner's loop does not end")
		}
	}
	t.Cleanup(stop)
	return stop
}

// awaitExecutions waits until a job has that many executions.
func awaitExecutions(t *testing.T, n *enginetest.Node, id string, count int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(n.Executions(t, id)) == count }, within, time.Millisecond)
}

// Rule 12: what a scan found fires when its time comes, without another one.
func TestTheLoopFiresWhatComesDue(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	stop := runPlanner(t, n)
	job := n.Add(t, everySecond(nil))
	scan(t, n)
	awaitExecutions(t, n, job.ID, 1)
	for s := 1; s <= 2; s++ {
		require.Eventually(t, func() bool { return n.Planner.Held() == 1 }, within, time.Millisecond)
		// Timers of a loop that is about to sleep must not miss the clock.
		require.Eventually(t, func() bool {
			if n.Clock.Now().Before(second(s)) {
				n.Clock.Advance(second(s).Sub(n.Clock.Now()))
			}
			n.Planner.Wake()
			return len(n.Executions(t, job.ID)) == s+1
		}, within, time.Millisecond)
	}
	stop()
	scan(t, n)
	n.Clock.Advance(time.Second)
	require.Equal(t, []int{0, 1, 2}, scheduledTimes(n.Executions(t, job.ID)), "a loop that has ended fires nothing")
	n.Start(t)
}

// A clock that jumps ahead while the loop sleeps until a moment of the old
// time is noticed at the next look, without anybody's poke.
func TestTheLoopLooksAtTheClockAgain(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	runPlanner(t, n)
	const soon = 2900 * time.Millisecond // within the scan's horizon
	n.Clock.Jump(-soon)
	job := enginetest.Job("hourly", enginetest.Every(time.Hour))
	n.Add(t, job)
	scan(t, n)
	n.Clock.Jump(soon)
	require.Eventually(t, func() bool {
		if n.Clock.Monotonic() < 2*time.Second { // long before the loop would look if it trusted its timer
			n.Clock.Advance(10 * time.Millisecond)
		}
		return len(n.Executions(t, job.ID)) > 0
	}, within, time.Millisecond)
	n.Start(t)
}

// Rule 9: the loop survives a store that is away, backs off, and goes on with
// what the next scan finds.
func TestTheLoopGoesOnAfterFailures(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	runPlanner(t, n)
	job := n.Add(t, enginetest.Job("hourly", enginetest.Every(time.Hour)))
	n.Faults.Away(true)
	scan(t, n)
	require.Eventually(t, func() bool { return n.Planner.Held() == 0 }, within, time.Millisecond, "its hint is dropped")
	require.Eventually(t, func() bool { return slotsInUse(n) == 0 }, within, time.Millisecond)
	n.Faults.Away(false)
	scan(t, n)
	require.Eventually(t, func() bool {
		n.Clock.Advance(time.Millisecond)
		return len(n.Executions(t, job.ID)) > 0
	}, within, time.Millisecond)
	require.GreaterOrEqual(t, n.Clock.Monotonic(), 100*time.Millisecond, "it does not hammer at the store")
	n.Start(t)
}
