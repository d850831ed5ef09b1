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
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// ends notes the ends of attempts as they are counted.
type ends struct {
	running.Metrics
	mu   sync.Mutex
	seen []string
}

func (e *ends) Ended(end entity.AttemptEnd) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := string(end.Status) + "(" + string(end.Reason) + ")"
	if end.Retried {
		text += " retried"
	}
	e.seen = append(e.seen, text)
}

func (e *ends) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.seen...)
}

// await waits for so many ends: an end is counted after its slot was given back.
func (e *ends) await(t *testing.T, count int) []string {
	t.Helper()
	enginetest.Await(t, func() bool { return len(e.all()) >= count }, "ends are counted")
	return e.all()
}

// cancelRun cancels a running run as the service does.
func cancelRun(t *testing.T, n *enginetest.Node, id string) {
	t.Helper()
	changeRow(t, n, id, func(exec *entity.Execution) { exec.CancelRequested = true })
	n.Commits.AfterCommit(commit.PostCommit{Stopping: []*entity.Execution{n.Execution(t, id)}})
}

// Reason and message belong to their own attempt (engine rule 19): the next one
// does not show them, nor does the run's end; the former attempt keeps them.
func TestReasonAndMessageBelongToTheirAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		counted := &ends{Metrics: n.Runner.Metrics}
		n.Runner.Ends.Metrics, n.Repairs.Metrics = counted, counted
		n.Start(t)
		job := n.Add(t, enginetest.Job("fails", retrying(3)))
		inTurn(n, entity.Outcome{
			Status: entity.StatusFailed, Reason: entity.ReasonExitCode, Message: "exit code 3",
			Result: "half", Checkpoint: "row 7",
		})
		exec := startRun(t, n, job.ID)
		waiting := awaitRetry(t, n, exec.ID, 1)
		n.Script.Hold()
		require.Equal(t, []string{"", "", ""}, []string{string(waiting.Reason), waiting.ErrorMessage, waiting.Result})
		require.Equal(t, "row 7", waiting.Checkpoint, "the next attempt goes on from there")
		tryAgain(t, n, exec.ID, 1)
		n.Script.Await(t, 2)
		second := n.Execution(t, exec.ID)
		require.Equal(t, entity.StatusRunning, second.Status)
		require.Equal(t, []string{"", "", ""}, []string{string(second.Reason), second.ErrorMessage, second.Result})
		cancelRun(t, n, exec.ID)
		ended := n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		require.Equal(t, []string{"", "", ""}, []string{string(ended.Reason), ended.ErrorMessage, ended.Result})
		former := attemptsOf(t, n, exec.ID)
		require.Len(t, former, 1)
		require.Equal(t, []string{"EXIT_CODE", "exit code 3", "half"},
			[]string{string(former[0].Reason), former[0].ErrorMessage, former[0].Result})
		awaitIdle(t, n)
		require.Equal(t, []string{"FAILED(EXIT_CODE) retried", "CANCELLED()"}, counted.await(t, 2))
	})
}

// Why a run that was put back has not begun stands in its execution while it waits, and
// no longer (engine rule 19).
func TestWhyARunWasPutBackIsNoMessageOfItsAttempt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		job := n.Add(t, enginetest.Job("busy", nil))
		inTurn(n, entity.NotBegun(time.Second, "no place is free"))
		exec := startRun(t, n, job.ID)
		eventually(t, n, "it is put back", func() bool { return n.Execution(t, exec.ID).ErrorMessage == "no place is free" })
		require.Equal(t, entity.StatusWaiting, n.Execution(t, exec.ID).Status)
		release := n.Script.Hold()
		eventually(t, n, "it begins", func() bool { return n.Execution(t, exec.ID).Status == entity.StatusRunning })
		require.Empty(t, n.Execution(t, exec.ID).ErrorMessage)
		release()
		require.Empty(t, n.AwaitStatus(t, exec.ID, entity.StatusSuccess).ErrorMessage)
	})
}

// A run that is cancelled while its attempt fails is counted as what it is.
func TestACancelThatMeetsAFailureIsCountedAsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		counted := &ends{Metrics: n.Runner.Metrics}
		n.Runner.Ends.Metrics, n.Repairs.Metrics = counted, counted
		n.Start(t)
		job := n.Add(t, enginetest.Job("fails", retrying(3)))
		end := make(chan struct{})
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome { <-end; return failed() })
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested = true })
		close(end)
		ended := n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		require.Empty(t, ended.ErrorMessage)
		require.Equal(t, "it broke", attemptsOf(t, n, exec.ID)[0].ErrorMessage)
		awaitIdle(t, n)
		require.Equal(t, []string{"CANCELLED()"}, counted.await(t, 1))
	})
}

// Each attempt has the same span to start in, counted from the end of its wait,
// under the definition that counts then (engine rule 17).
func TestEachRetryHasTheWholeSpanToStartIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("deadline", func(j *entity.Job) {
			retrying(5)(j)
			j.StartDeadlineSec = 60
		}))
		open := make(chan struct{})
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
			<-open
			return failed()
		})
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		n.Clock.Advance(time.Hour) // the attempt takes an hour
		close(open)
		span := func(attempt int) time.Duration {
			r := awaitRetry(t, n, exec.ID, attempt)
			until, _ := r.Claim.ScheduledUntil()
			return r.StartDeadline.Sub(until)
		}
		for attempt := 1; attempt <= 3; attempt++ {
			require.InDelta(t, 60, span(attempt).Seconds(), 0.001)
			if attempt == 3 {
				n.Change(t, job.ID, func(j *entity.Job) { j.Version, j.StartDeadlineSec = 2, 0 })
			}
			tryAgain(t, n, exec.ID, attempt)
		}
		require.Zero(t, awaitRetry(t, n, exec.ID, 4).StartDeadline)
	})
}

// A run that has begun was not skipped: a retry whose deadline passes has FAILED.
func TestARetryWhoseDeadlinePassesHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		counted := &ends{Metrics: n.Runner.Metrics}
		n.Runner.Ends.Metrics, n.Repairs.Metrics = counted, counted
		n.Script.Reply(enginetest.Always(failed()))
		stop := n.Start(t)
		job := n.Add(t, enginetest.Job("deadline", func(j *entity.Job) {
			retrying(5)(j)
			j.StartDeadlineSec = 60
		}))
		exec := startRun(t, n, job.ID)
		awaitRetry(t, n, exec.ID, 1)
		stop()
		never := waitingRun(t, n, job.ID)
		n.Clock.Advance(2 * time.Minute)
		closed, err := n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, closed, "the span of the retry begins when it is let start")
		_, err = n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		n.Clock.Advance(61 * time.Second)
		closed, err = n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, closed)
		ended := n.Execution(t, exec.ID)
		require.Equal(t, "FAILED(DEADLINE)", string(ended.Status)+"("+string(ended.Reason)+")")
		require.Contains(t, ended.ErrorMessage, "start deadline")
		require.Equal(t, entity.StatusSkipped, n.Execution(t, never.ID).Status)
		require.ElementsMatch(t, []string{"FAILED(ERROR) retried", "FAILED(DEADLINE)", "SKIPPED(DEADLINE)"},
			counted.await(t, 3))
	})
}

// A retry that a newer fire replaces is CANCELLED, and the newer one starts.
func TestARetryThatIsReplacedIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		inTurn(n, failed())
		job := n.Add(t, enginetest.Job("replace", func(j *entity.Job) {
			retrying(5)(j)
			j.Overlap = entity.OverlapReplace
		}))
		exec := startRun(t, n, job.ID)
		awaitRetry(t, n, exec.ID, 1)
		n.Script.Reply(enginetest.Always(entity.Succeeded("")))
		newer := startRun(t, n, job.ID)
		n.AwaitStatus(t, newer.ID, entity.StatusSuccess)
		ended := n.Execution(t, exec.ID)
		require.Equal(t, "CANCELLED(REPLACED)", string(ended.Status)+"("+string(ended.Reason)+")")
	})
}

// A success whose commit was not answered, and did not happen, is evidence when
// the run was given up and queued again meanwhile (engine rule 19).
func TestALateSuccessOfARunThatWaitsAgainIsEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("slow", nil))
		end := make(chan struct{})
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
			<-end
			return entity.Succeeded("late")
		})
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		other := enginetest.On(t, n.Store, enginetest.Options{NodeID: "node-2", Clock: n.Clock})
		other.Start(t)
		other.Runner.Suspend(true)
		n.Runner.Suspend(true)
		first := sync.OnceFunc(func() {
			_, err := other.Runner.Reap(t.Context(), "node-1", 1)
			require.NoError(t, err)
			enginetest.Await(t, func() bool { return n.Execution(t, exec.ID).Status == entity.StatusWaiting }, "it waits again")
		})
		n.Faults.After(func(name string) {
			if name == "complete" {
				first()
			}
		})
		n.Faults.Next("complete", enginetest.LostCommit)
		close(end)
		eventually(t, n, "the report is judged", func() bool {
			return n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }) == 1
		})
		// It is counted before it is stored.
		eventually(t, n, "the evidence is stored", func() bool {
			return len(linesOf(t, n, exec.ID, entity.LogEvidence)) == 1
		})
		require.Contains(t, linesOf(t, n, exec.ID, entity.LogEvidence)[0].Content, "reported SUCCESS")
	})
}
