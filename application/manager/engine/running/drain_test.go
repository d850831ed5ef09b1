package running_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// drain begins to drain and returns what is closed at its end.
func drain(ctx context.Context, n *enginetest.Node, grace time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Runner.Drain(ctx, grace)
	}()
	return done
}

// With grace, a drain waits for what runs (engine rule 28).
func TestADrainWaitsForRunsWithinItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("long", nil))
		release := n.Script.Hold()
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		done := drain(t.Context(), n, time.Minute)
		awaitDraining(t, n)
		n.Clock.Advance(time.Second)
		synctest.Wait()
		select {
		case <-done:
			require.Fail(t, "the drain did not wait")
		default:
		}
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
		release()
		<-done
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
	})
}

// When the grace is over, runs are stopped; their attempts end as SHUTDOWN,
// use up no retry, and the job's answer to a node's loss applies (engine rule 28).
func TestWhatBecomesOfRunsWhoseNodeStops(t *testing.T) {
	for _, c := range []struct {
		name   string
		grace  time.Duration
		onLoss entity.OnNodeLoss
		want   entity.Status
	}{
		{"without grace", 0, entity.NodeLossRetry, entity.StatusWaiting},
		{"after the grace", time.Minute, entity.NodeLossRetry, entity.StatusWaiting},
		{"when the job gives up", 0, entity.NodeLossFail, entity.StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("long", func(j *entity.Job) { retrying(1)(j); j.OnNodeLoss = c.onLoss }))
				n.Script.Hold()
				exec := startRun(t, n, job.ID)
				n.Script.Await(t, 1)
				done := drain(t.Context(), n, c.grace)
				synctest.Wait()
				n.Clock.Advance(c.grace)
				<-done
				awaitIdle(t, n)
				ended := n.Execution(t, exec.ID)
				require.Equal(t, c.want, ended.Status)
				require.Zero(t, ended.RetryCount)
				require.Zero(t, ended.NodeLosses)
				attempts := attemptsOf(t, n, exec.ID)
				if c.want.Final() {
					require.Equal(t, entity.ReasonShutdown, ended.Reason)
					require.Empty(t, attempts)
					require.Len(t, n.Events(t), 1)
					return
				}
				require.Empty(t, ended.Reason, "it is the attempt's")
				require.Len(t, attempts, 1)
				require.Equal(t, entity.ReasonShutdown, attempts[0].Reason)

				other := enginetest.On(t, n.Store, enginetest.Options{NodeID: "node-2", Clock: n.Clock})
				other.Start(t)
				eventually(t, n, "the other node runs it", func() bool {
					return n.Execution(t, exec.ID).Status == entity.StatusSuccess
				})
				again := n.Execution(t, exec.ID)
				require.Equal(t, "node-2", again.NodeID)
				require.Equal(t, 2, again.Attempt)
				require.EqualValues(t, 2, again.Token)
				require.Zero(t, again.RetryCount)
			})
		})
	}
}

// A node that drains starts nothing, neither waiting runs nor fires (engine rule 28).
func TestADrainedNodeStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		looked := make(chan struct{}, 1000)
		n.Runner.Claims = tellingClaims{n.Store, looked}
		n.Start(t)
		waits := n.Add(t, enginetest.Job("waits", nil))
		fires := n.Add(t, enginetest.Job("fires", enginetest.Every(time.Hour)))
		n.Runner.Drain(t.Context(), time.Minute)
		<-looked // the first look, at the start
		exec := startRun(t, n, waits.ID)
		n.Fire(t)
		for range 3 {
			eventually(t, n, "the node looks for runs", func() bool { return len(looked) > 0 })
			<-looked
		}
		require.Equal(t, entity.StatusWaiting, n.Execution(t, exec.ID).Status)
		require.Equal(t, entity.StatusWaiting, n.Executions(t, fires.ID)[0].Status)
		require.Empty(t, n.Script.Runs())
		require.Zero(t, n.Runner.Reserve(entity.Slots{1}))
		require.Zero(t, n.Runner.WaitForSlots(t.Context(), time.Hour))
	})
}

// A claim that commits while the node stops, and has no grace left, does not keep
// its run going (engine rule 28).
func TestAClaimThatMeetsADrainIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("late", nil))
		exec := waitingRun(t, n, job.ID)
		n.Script.Hold()
		var drained <-chan struct{}
		begin := sync.OnceFunc(func() {
			drained = drain(t.Context(), n, 0)
			awaitDraining(t, n)
		})
		n.Faults.Before(func(name string) {
			if name == "claim" {
				begin()
			}
		})
		n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
		awaitRetry(t, n, exec.ID, 1)
		awaitIdle(t, n)
		require.Equal(t, entity.ReasonShutdown, attemptsOf(t, n, exec.ID)[0].Reason)
		<-drained
	})
}

// awaitDraining waits until a drain has begun.
func awaitDraining(t *testing.T, n *enginetest.Node) {
	t.Helper()
	enginetest.Await(t, func() bool { return n.Runner.WaitForSlots(t.Context(), 0) == 0 }, "the drain begins")
}

// A claimed run runs within the grace, although the node stops between the
// commit and the start (engine rule 28).
func TestADrainWaitsForAClaimThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("late", nil))
		exec := waitingRun(t, n, job.ID)
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		n.Faults.After(func(name string) {
			if name != "claim" {
				return
			}
			n.Faults.After(nil)
			go func() {
				defer close(stopped)
				n.Runner.Drain(t.Context(), time.Hour)
				stop()
			}()
			// The timer of its grace says that it waits; one that does not has stopped.
			enginetest.Await(t, func() bool {
				select {
				case <-stopped:
					return true
				default:
					return n.Clock.HasTimer(time.Hour)
				}
			}, "the drain waits or ends")
		})
		ended := make(chan struct{})
		go func() { defer close(ended); _ = n.Runner.Run(ctx) }()
		<-ended
		<-stopped
		require.Equal(t, entity.StatusSuccess, n.Execution(t, exec.ID).Status)
	})
}

// A second signal ends the wait at once (engine rule 28).
func TestADrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("stubborn", nil))
		end := make(chan struct{})
		causes := make(chan error, 1)
		n.Script.Reply(func(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			<-end
			return enginetest.Stopped(ctx)
		})
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		done := drain(ctx, n, time.Hour)
		cancel()
		<-done
		require.Equal(t, entity.ErrStopShutdown, <-causes)
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status, "it has not ended yet")
		close(end)
		awaitRetry(t, n, exec.ID, 1)
	})
}

// A node ends after its last run, whatever was waited for (engine rule 23).
func TestANodeEndsAfterItsLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("stubborn", nil))
		exec := waitingRun(t, n, job.ID)
		release := n.Script.Hold()
		timers := stoppedTimers{n.Runner.Clock, make(chan struct{}, 100)}
		n.Runner.Clock = timers
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = n.Runner.Run(ctx) }()
		n.Script.Await(t, 1)
		cancel()
		for range 3 { // the claiming, the unparking and the flushing of logs
			<-timers.stopped
		}
		release()
		<-ended
		require.Equal(t, entity.StatusSuccess, n.Execution(t, exec.ID).Status)
	})
}

// stoppedTimers tells whenever somebody is done with a timer, as a loop that ends is.
type stoppedTimers struct {
	clock.Clock
	stopped chan struct{}
}

func (s stoppedTimers) NewTimer(d time.Duration) clock.Timer {
	return stoppedTimer{s.Clock.NewTimer(d), s.stopped}
}

type stoppedTimer struct {
	clock.Timer
	stopped chan<- struct{}
}

func (s stoppedTimer) Stop() bool {
	defer func() { s.stopped <- struct{}{} }()
	return s.Timer.Stop()
}
