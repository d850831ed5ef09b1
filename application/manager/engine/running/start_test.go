package running_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A handler that ends its goroutine instead of returning ends its run, and the
// slot is given back.
func TestAHandlerThatEndsItsGoroutineFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 1})
		job := n.Add(t, enginetest.Job("quits", nil))
		n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
			rep.Log(entity.LogStdout, "last words")
			runtime.Goexit()
			return entity.Outcome{}
		})
		exec := n.AwaitStatus(t, startRun(t, n, job.ID).ID, entity.StatusFailed)
		require.Equal(t, entity.ReasonPanic, exec.Reason)
		require.NotEmpty(t, exec.ErrorMessage)
		require.Len(t, linesOf(t, n, exec.ID, entity.LogStdout), 1)
		awaitIdle(t, n)
	})
}

// An attempt is told when its time is up, and its cause says so.
func TestAnAttemptIsStoppedWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("slow", func(j *entity.Job) { j.TimeoutSec = 1 }))
		n.Script.Hold()
		exec := n.AwaitStatus(t, startRun(t, n, job.ID).ID, entity.StatusTimeout)
		require.Equal(t, entity.ReasonTimeout, exec.Reason)
	})
}

// A cancel reaches the run it names and no other.
func TestACancelStopsTheRunItNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("cancelled", retrying(3)))
		release := n.Script.Hold()
		exec, other := startRun(t, n, job.ID), startRun(t, n, job.ID)
		n.Script.Await(t, 2)
		stop := *exec
		stop.Reason = entity.ReasonReplaced
		unknown := stop
		unknown.ID = "00000000-0000-0000-0000-000000000000"
		n.Commits.AfterCommit(commit.PostCommit{Stopping: []*entity.Execution{&unknown, &stop}})
		later := stop
		later.Reason = entity.ReasonDeleted
		n.Commits.AfterCommit(commit.PostCommit{Stopping: []*entity.Execution{&later}})
		ended := n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		require.Equal(t, entity.ReasonReplaced, ended.Reason, "the first one decides")
		require.Equal(t, entity.StatusRunning, n.Execution(t, other.ID).Status)
		release()
		n.AwaitStatus(t, other.ID, entity.StatusSuccess)
		awaitIdle(t, n)
	})
}

// A run that ends well although it was told to stop has ended well.
func TestASuccessDespiteACancelCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("stubborn", nil))
		n.Script.Reply(func(ctx context.Context, _ entity.Run, _ entity.Reporter) entity.Outcome {
			<-ctx.Done()
			return entity.Succeeded("done")
		})
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		n.Commits.AfterCommit(commit.PostCommit{Stopping: []*entity.Execution{exec}})
		require.Empty(t, n.AwaitStatus(t, exec.ID, entity.StatusSuccess).Reason)
	})
}

// A fire starts here at once when a slot is free, and holds it until its end
// is stored; without one it waits (engine rule 14).
func TestADirectStartTakesASlotUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Slots: 1})
		first := n.Add(t, enginetest.Job("first", enginetest.Every(time.Hour)))
		second := n.Add(t, enginetest.Job("second", enginetest.Every(time.Hour)))
		release := n.Script.Hold()
		n.Fire(t)
		n.Script.Await(t, 1)
		status := map[entity.Status]int{}
		for _, exec := range append(n.Executions(t, first.ID), n.Executions(t, second.ID)...) {
			status[exec.Status]++
		}
		require.Equal(t, map[entity.Status]int{entity.StatusRunning: 1, entity.StatusWaiting: 1}, status)
		release()
		for _, job := range []*entity.Job{first, second} {
			n.AwaitStatus(t, n.Executions(t, job.ID)[0].ID, entity.StatusSuccess)
		}
		awaitIdle(t, n)
		synctest.Wait()
		require.Equal(t, 1, n.Runner.WaitForSlots(t.Context(), 0))
	})
}

// A node takes only runs that ask for labels it carries (engine rule 14).
func TestWhichJobsSuitANode(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{
		NodeID: "node-7", Epoch: 3,
		Labels: map[string]string{"zone": "a", "disk": ""},
	})
	node, epoch := n.Runner.NodeIdentity()
	require.Equal(t, "node-7", node)
	require.EqualValues(t, 3, epoch)
	for _, c := range []struct {
		asked map[string]string
		want  bool
	}{
		{nil, true},
		{map[string]string{"zone": "a"}, true},
		{map[string]string{"zone": "b"}, false},
		{map[string]string{"zone": "a", "gpu": "yes"}, false},
		{map[string]string{"disk": ""}, true},
	} {
		require.Equal(t, c.want, n.Runner.CanRun(&entity.Job{Routing: entity.Routing{Labels: c.asked}}), "%v", c.asked)
	}
}

// Lateness counts from the due time, that of a retry from the end of its wait.
func TestLatenessOfARetryCountsFromTheEndOfItsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("late", retrying(1)))
		seen := &lateness{Metrics: n.Runner.Metrics}
		n.Runner.Metrics = seen
		inTurn(n, failed(), entity.Succeeded("done"))
		exec := waitingRun(t, n, job.ID)
		n.Clock.Advance(3 * time.Second)
		n.Start(t)
		n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
		tryAgain(t, n, exec.ID, 1)
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.Equal(t, []time.Duration{3 * time.Second, 0}, seen.all())
	})
}

// lateness notes how late each attempt began.
type lateness struct {
	running.Metrics
	mu   sync.Mutex
	seen []time.Duration
}

func (l *lateness) Started(start entity.AttemptStart) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, start.Lateness)
}

func (l *lateness) all() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]time.Duration(nil), l.seen...)
}
