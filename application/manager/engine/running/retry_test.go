package running_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Automatic retries stay in the execution, which is parked until the back-off is
// over; the former attempts can be read beside it (engine rule 19). The token
// grows by one with each attempt (engine rule 21).
func TestARetryStaysInItsRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("retried", retrying(2)))
		inTurn(n, failed(), timedOut(), entity.Succeeded("at last"))
		id := startRun(t, n, job.ID).ID
		begin := n.Clock.Now()
		exec := awaitRetry(t, n, id, 1)
		until, parked := exec.Claim.ScheduledUntil()
		require.True(t, parked)
		require.Equal(t, begin.Add(retryWait), until)
		require.Equal(t, 1, exec.RetryCount)
		require.Empty(t, exec.NodeID)
		require.Zero(t, exec.StartTime)

		n.Clock.Advance(retryWait - time.Millisecond)
		next, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		require.Equal(t, until, next)
		require.Equal(t, entity.StatusWaiting, n.Execution(t, id).Status, "the back-off is not over")
		n.Clock.Advance(time.Millisecond) // the loop looks by itself
		tryAgain(t, n, id, 2)
		exec = n.AwaitStatus(t, id, entity.StatusSuccess)
		require.Equal(t, "at last", exec.Result)
		require.Equal(t, 2, exec.RetryCount)
		require.Empty(t, exec.ErrorMessage)
		require.Empty(t, exec.Reason)

		for i, run := range n.Script.Runs() {
			require.Equal(t, i+1, run.Execution.Attempt)
			require.EqualValues(t, i+1, run.Execution.Token)
			require.EqualValues(t, i+1, run.Execution.FencingToken())
		}
		attempts := attemptsOf(t, n, id)
		require.Len(t, attempts, 2)
		for i, want := range []entity.Outcome{failed(), timedOut()} {
			require.Equal(t, i+1, attempts[i].Attempt)
			require.Equal(t, want.Status, attempts[i].Status)
			require.Equal(t, want.Reason, attempts[i].Reason)
			require.Equal(t, want.Message, attempts[i].ErrorMessage)
			require.Equal(t, "node-1", attempts[i].NodeID)
		}
		require.Empty(t, n.Events(t))
	})
}

// A retry starts when its wait is over, not at the next sweep.
func TestARetryStartsWhenItsWaitIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("prompt", func(j *entity.Job) { j.Retry.MaxRetries, j.Retry.IntervalMs = 1, 2000 }))
		inTurn(n, failed(), entity.Succeeded("done"))
		id := startRun(t, n, job.ID).ID
		awaitRetry(t, n, id, 1)
		n.Clock.Advance(2 * time.Second)
		require.Equal(t, enginetest.Noon.Add(2*time.Second), n.AwaitStatus(t, id, entity.StatusSuccess).StartTime)
	})
}

// A run whose retries are used up is DEAD whatever ended its last attempt, and
// waits as a dead letter (engine rule 20).
func TestARunThatUsesItsRetriesUpIsDead(t *testing.T) {
	for name, last := range map[string]entity.Outcome{"by a failure": failed(), "by a timeout": timedOut()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("doomed", retrying(1)))
				inTurn(n, failed(), last)
				id := startRun(t, n, job.ID).ID
				tryAgain(t, n, id, 1)
				exec := n.AwaitStatus(t, id, entity.StatusDead)
				require.Equal(t, last.Reason, exec.Reason)
				require.Equal(t, 1, exec.RetryCount)
				require.Equal(t, 2, exec.Attempt)
				letters := deadLettersOf(t, n, job.ID)
				require.Len(t, letters, 1)
				require.Equal(t, id, letters[0].ExecutionID)
				require.Equal(t, last.Reason, letters[0].Reason)
				require.Equal(t, last.Message, letters[0].Message)
				events := n.Events(t)
				require.Len(t, events, 1)
				require.Equal(t, id+":2:DEAD", events[0].ID)
			})
		})
	}
}

// How long a run waits for its next attempt.
func TestTheWaitForARetry(t *testing.T) {
	after := failed()
	after.RetryAfter = 7 * time.Minute
	asked := failed()
	asked.Asked = time.Hour
	for _, c := range []struct {
		name    string
		change  func(j *entity.Job)
		outcome entity.Outcome
		want    time.Duration
	}{
		{"the policy's", retrying(1), failed(), retryWait},
		{"the handler's", retrying(1), after, 7 * time.Minute},
		{"the longest of the " +
			"policy", func(j *entity.Job) { retrying(1)(j); j.Retry.MaxIntervalMs = 60_000 }, asked, time.Minute},
		{"the policy's as it is now", func(j *entity.Job) { retrying(1)(j); j.Retry.IntervalMs = 1 }, failed(), retryWait},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("waits", c.change))
				n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
					if job.Retry.IntervalMs == 1 { // edited while it runs (engine rule 17)
						n.Change(t, job.ID, func(j *entity.Job) { j.Version, j.Retry.IntervalMs = 2, retryWait.Milliseconds() })
					}
					return c.outcome
				})
				exec := awaitRetry(t, n, startRun(t, n, job.ID).ID, 1)
				until, _ := exec.Claim.ScheduledUntil()
				require.Equal(t, n.Clock.Now().Add(c.want), until)
				if c.outcome.Asked > 0 {
					require.Equal(
						t,
						"it broke; the target asks for 1 h, the policy waits 60 s",
						attemptsOf(t, n, exec.ID)[0].ErrorMessage,
					)
				}
			})
		})
	}
}

// Retries follow the job as it is when the attempt ends (engine rule 17).
func TestRetriesFollowTheCurrentDefinition(t *testing.T) {
	for _, c := range []struct {
		name   string
		before int
		change func(t *testing.T, n *enginetest.Node, id string)
		want   entity.Status
	}{
		{"more than before", 0, editRetries(2), entity.StatusWaiting},
		{"none any more", 2, editRetries(0), entity.StatusFailed},
		{"the job is deleted", 2, deleteJob, entity.StatusFailed},
		{"the job is paused", 2, pauseJob, entity.StatusWaiting},
	} {
		for _, overlap := range []entity.OverlapPolicy{entity.OverlapParallel, entity.OverlapSerial} {
			t.Run(c.name+" under "+string(overlap), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := startedNode(t, enginetest.Options{})
					job := n.Add(t, enginetest.Job("edited", func(j *entity.Job) { retrying(c.before)(j); j.Overlap = overlap }))
					end := make(chan struct{})
					n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome { <-end; return failed() })
					id := startRun(t, n, job.ID).ID
					n.Script.Await(t, 1)
					c.change(t, n, job.ID)
					close(end)
					awaitIdle(t, n)
					require.Equal(t, c.want, n.Execution(t, id).Status)
					require.Equal(t, c.want.Final(), len(liveFiresOf(t, n, job.ID)) == 0 && n.Execution(t, id).Claim == "")
				})
			})
		}
	}
}

func editRetries(retries int) func(t *testing.T, n *enginetest.Node, id string) {
	return func(t *testing.T, n *enginetest.Node, id string) {
		n.Change(t, id, func(j *entity.Job) { j.Version, j.Retry.MaxRetries = j.Version+1, retries })
	}
}

func pauseJob(t *testing.T, n *enginetest.Node, id string) {
	n.Change(t, id, func(j *entity.Job) { j.Version, j.Status = j.Version+1, entity.JobPaused })
}

// The next attempt runs by the definition of its own start (engine rule 17).
func TestARetryRunsByTheCurrentDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("edited", retrying(1)))
		inTurn(n, failed(), entity.Succeeded("done"))
		id := startRun(t, n, job.ID).ID
		awaitRetry(t, n, id, 1)
		n.Change(t, job.ID, func(j *entity.Job) { j.Version, j.Data = 2, `{"mended":true}` })
		tryAgain(t, n, id, 1)
		n.AwaitStatus(t, id, entity.StatusSuccess)
		require.Equal(t, 2, n.Script.Runs()[1].Job.Version)
	})
}

// What an attempt leaves behind is there for the next (checkpoint), and what
// concerns it alone is not (progress).
func TestTheNextAttemptGetsTheCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("resumes", retrying(2)))
		n.Script.Reply(func(_ context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
			switch run.Execution.Attempt {
			case 1:
				rep.Checkpoint("page 7")
				rep.Progress(40)
				return failed()
			case 2:
				return failed() // says nothing: the former one stays
			}
			rep.Progress(60)
			o := failed()
			o.NoRetry = true
			return o
		})
		id := startRun(t, n, job.ID).ID
		exec := awaitRetry(t, n, id, 1)
		require.Equal(t, "page 7", exec.Checkpoint)
		require.Zero(t, exec.Progress)
		tryAgain(t, n, id, 1)
		tryAgain(t, n, id, 2)
		exec = n.AwaitStatus(t, id, entity.StatusFailed)
		require.Equal(t, 60, exec.Progress)
		for i, want := range []string{"", "page 7", "page 7"} {
			require.Equal(t, want, n.Script.Runs()[i].Execution.Checkpoint)
		}
	})
}

// A start deadline counts from the moment an attempt may start (engine rule 17).
func TestARetryGetsANewStartDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("urgent", func(j *entity.Job) { retrying(1)(j); j.StartDeadlineSec = 30 }))
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
			n.Clock.Advance(time.Minute)
			return failed()
		})
		exec := awaitRetry(t, n, startRun(t, n, job.ID).ID, 1)
		require.Equal(t, enginetest.Noon.Add(time.Minute+retryWait+30*time.Second), exec.StartDeadline)
		swept, err := n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Zero(t, swept)
	})
}

// A run in back-off keeps its slot among its job's fires (engine rule 16).
func TestARunInBackOffKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("serial", func(j *entity.Job) { retrying(1)(j); j.Overlap = entity.OverlapSerial }))
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			if len(n.Script.Runs()) == 1 {
				return failed()
			}
			return entity.Succeeded("done")
		})
		first := startRun(t, n, job.ID)
		next := waitingRun(t, n, job.ID)
		awaitRetry(t, n, first.ID, 1)
		n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
		require.True(t, n.Execution(t, next.ID).Claim.Queued())
		tryAgain(t, n, first.ID, 1)
		n.AwaitStatus(t, next.ID, entity.StatusSuccess)
		var order []string
		for _, run := range n.Script.Runs() {
			order = append(order, run.Execution.ID)
		}
		require.Equal(t, []string{first.ID, first.ID, next.ID}, order)
	})
}

// Several retries of one transaction all keep their attempts, whatever the
// order of their ids.
func TestRetriesThatEndTogetherAreAllKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		var jobs []*entity.Job
		for _, name := range []string{"a", "b", "c", "d"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, retrying(1))))
		}
		execs := endTogether(t, n, failed(), nothing, jobs...)
		for _, exec := range execs {
			awaitRetry(t, n, exec.ID, 1)
			require.Len(t, attemptsOf(t, n, exec.ID), 1)
		}
	})
}

// delayed is a FIXED_DELAY job, fired at Noon for the first time.
func delayed(more func(j *entity.Job)) func(j *entity.Job) {
	return func(j *entity.Job) {
		retrying(1)(j)
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, fixedDelay.Milliseconds()
		if more != nil {
			more(j)
		}
	}
}

// fixedDelay is shorter than the planner's horizon, beyond which it takes no hints.
const fixedDelay = 2 * time.Second

// FIXED_DELAY counts from the end of the last attempt of the last shard, and
// the planner hears of it at once (engine rule 7).
func TestAFixedDelayCountsFromTheLastEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("rhythm", delayed(func(j *entity.Job) { j.ShardCount = 2 })))
		lastShard := make(chan struct{})
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			switch {
			case run.Execution.ShardIndex == 1 && run.Execution.Attempt == 1:
				return failed()
			case run.Execution.ShardIndex == 1:
				<-lastShard
			}
			return entity.Succeeded("done")
		})
		n.Fire(t)
		execs := n.Executions(t, job.ID)
		require.Len(t, execs, 2)
		n.AwaitStatus(t, execs[0].ID, entity.StatusSuccess)
		require.Zero(t, n.Job(t, job.ID).NextFireTime, "a shard is to be repeated")
		tryAgain(t, n, execs[1].ID, 1)
		n.Script.Await(t, 3)
		require.Zero(t, n.Job(t, job.ID).NextFireTime, "a shard still runs")
		n.Clock.Advance(5 * time.Second)
		end := n.Clock.Now()
		close(lastShard)
		n.AwaitStatus(t, execs[1].ID, entity.StatusSuccess)
		require.Equal(t, end.Add(fixedDelay), n.Job(t, job.ID).NextFireTime)
		awaitIdle(t, n)

		n.Clock.Advance(fixedDelay)
		fired, err := n.Planner.FireDue(t.Context()) // without a scan
		require.NoError(t, err)
		require.Equal(t, 1, fired)
		require.Len(t, n.Executions(t, job.ID), 4)
	})
}

// Only the end of a scheduled run re-arms a FIXED_DELAY, as long as the job is
// enabled and its schedule the same, whatever its version (engine rule 7).
func TestWhatDoesNotReArmAFixedDelay(t *testing.T) {
	for _, c := range []struct {
		name   string
		manual bool
		change func(j *entity.Job)
		want   bool
	}{
		{"nothing happened", false, func(*entity.Job) {}, true},
		{"an edit that leaves the schedule", false, func(j *entity.Job) { j.Version++ }, true},
		{"an edit of the schedule", false, func(j *entity.Job) { j.Version++; j.Schedule.IntervalMs++ }, false},
		{"a pause", false, func(j *entity.Job) { j.Version++; j.Status = entity.JobPaused }, false},
		{"a run by hand", true, func(*entity.Job) {}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("rhythm", delayed(nil)))
				release := n.Script.Hold()
				if c.manual {
					n.Change(t, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} })
					startRun(t, n, job.ID)
				} else {
					n.Fire(t)
				}
				n.Script.Await(t, 1)
				n.Change(t, job.ID, c.change)
				release()
				awaitIdle(t, n)
				require.Equal(t, entity.StatusSuccess, n.Executions(t, job.ID)[0].Status)
				require.Equal(t, c.want, !n.Job(t, job.ID).NextFireTime.IsZero())
			})
		})
	}
}

// A value that an attempt keeps just before it ends is shown with the end.
func TestTheLastCheckpointIsKeptWithTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, outcome := range map[entity.Status]entity.Outcome{
			entity.StatusSuccess: entity.Succeeded(""), entity.StatusFailed: failed(),
		} {
			n := startedNode(t, enginetest.Options{})
			n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
				rep.Checkpoint("page 7")
				return outcome
			})
			exec := n.AwaitStatus(t, startRun(t, n, n.Add(t, enginetest.Job("keeps", nil)).ID).ID, status)
			require.Equal(t, "page 7", exec.Checkpoint)
		}
	})
}
