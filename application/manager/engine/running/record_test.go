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
)

// A report of an attempt that is in other hands, or over, changes nothing and
// is kept as evidence (engine rule 19).
func TestALateReportIsRefusedAndKeptAsEvidence(t *testing.T) {
	lost := map[string]func(exec *entity.Execution){
		"another token": func(exec *entity.Execution) { exec.Token++ },
		"another epoch": func(exec *entity.Execution) { exec.Epoch++ },
		"another node":  func(exec *entity.Execution) { exec.NodeID = "node-2" },
		"already over": func(exec *entity.Execution) {
			exec.Status, exec.Reason, exec.Claim = entity.StatusCancelled, entity.ReasonDeleted, ""
		},
	}
	reports := map[string]entity.Outcome{"success": entity.Succeeded("late"), "failure": failed()}
	for how, change := range lost {
		for what, outcome := range reports {
			t.Run(what+" of "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := startedNode(t, enginetest.Options{})
					job := n.Add(t, enginetest.Job("slow", retrying(3)))
					end := make(chan struct{})
					n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome { <-end; return outcome })
					id := startRun(t, n, job.ID).ID
					n.Script.Await(t, 1)
					changeRow(t, n, id, change)
					before := n.Execution(t, id)
					close(end)
					awaitIdle(t, n)
					require.Equal(t, before, n.Execution(t, id))
					require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
					evidence := linesOf(t, n, id, entity.LogEvidence)
					require.Len(t, evidence, 1)
					require.Contains(t, evidence[0].Content, "node-1 reported "+string(outcome.Status))
					require.Contains(t, evidence[0].Content, outcome.Message)
					require.Empty(t, attemptsOf(t, n, id))
					require.Empty(t, n.Events(t))
				})
			})
		}
	}
}

// A report that could not be sent at once is late all the same when the run
// was given away meanwhile: nothing of it was ever stored (engine rule 19).
func TestAReportThatWasHeldTooLongIsEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("slow", nil))
		id := waitingRun(t, n, job.ID).ID
		first := true
		n.Faults.Before(func(name string) {
			if name == "complete" && first {
				first = false
				return
			}
			if name == "complete" {
				changeRow(t, n, id, func(exec *entity.Execution) {
					exec.Status, exec.NodeID, exec.NodeLosses = entity.StatusWaiting, "", 1
					exec.Claim = entity.ScheduledKey(enginetest.Noon.Add(time.Hour))
				})
			}
		})
		n.Faults.Next("complete", enginetest.Refused)
		n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
		n.Script.Await(t, 1)
		eventually(t, n, "the report is judged", func() bool {
			return n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }) == 1
		})
		awaitIdle(t, n)
		require.Len(t, linesOf(t, n, id, entity.LogEvidence), 1)
		require.Equal(t, entity.StatusWaiting, n.Execution(t, id).Status)
	})
}

// When a late report cannot be judged at once, the other ends of its
// transaction do not wait for it, and it is judged once (engine rule 19).
func TestALateReportThatCannotBeJudgedHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		reads := &unreadableExecutions{ExecutionReader: n.Store.Executions}
		n.Runner.Ends.Executions = reads
		jobs := []*entity.Job{
			n.Add(t, enginetest.Job("first", nil)), n.Add(t, enginetest.Job("late", nil)),
			n.Add(t, enginetest.Job("good", nil)),
		}
		reads.away.Store(true)
		judged := make(chan struct{})
		n.Runner.Ends.Observer = func(job *entity.Job, _ *entity.Execution) {
			if job.ID == jobs[2].ID {
				close(judged)
			}
		}
		n.Start(t)
		execs := endTogether(t, n, entity.Succeeded("done"), func(execs []*entity.Execution) {
			changeRow(t, n, execs[1].ID, func(exec *entity.Execution) { exec.Token++ })
		}, jobs...)
		<-judged
		eventually(t, n, "the slots of the others are free", func() bool {
			running, _ := n.Runner.Load(entity.SlotGeneral)
			return running == 1
		})
		require.Equal(t, entity.StatusSuccess, n.Execution(t, execs[2].ID).Status)
		reads.away.Store(false)
		eventually(t, n, "the late one is judged", func() bool {
			running, _ := n.Runner.Load(entity.SlotGeneral)
			return running == 0
		})
		require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
		require.Len(t, linesOf(t, n, execs[1].ID, entity.LogEvidence), 1)
		require.Empty(t, linesOf(t, n, execs[2].ID, entity.LogEvidence))
	})
}

// The outcome of a run, and who hears of it (engine rules 20 and 24).
func TestHowRunsEnd(t *testing.T) {
	forbidden := func(o entity.Outcome) entity.Outcome { o.NoRetry = true; return o }
	for _, c := range []struct {
		name    string
		retries int
		not     []entity.Reason
		outcome entity.Outcome
		want    entity.Status
	}{
		{"success", 0, nil, entity.Succeeded("done"), entity.StatusSuccess},
		{"failure", 0, nil, failed(), entity.StatusFailed},
		{"timeout", 0, nil, timedOut(), entity.StatusTimeout},
		{"cancel despite retries", 3, nil, entity.Outcome{Status: entity.StatusCancelled}, entity.StatusCancelled},
		{"failure that forbids retries", 3, nil, forbidden(failed()), entity.StatusFailed},
		{"timeout that forbids retries", 3, nil, forbidden(timedOut()), entity.StatusTimeout},
		{"failure for a reason that is not retried", 3, []entity.Reason{entity.ReasonError}, failed(), entity.StatusFailed},
		{
			"timeout where timeouts are not retried", 3,
			[]entity.Reason{entity.ReasonTimeout},
			timedOut(),
			entity.StatusTimeout,
		},
		{"no end at all", 0, nil, entity.Outcome{Status: entity.StatusRunning}, entity.StatusFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("ends", func(j *entity.Job) {
					j.Retry.MaxRetries, j.Retry.NoRetryOn = c.retries, c.not
				}))
				n.Script.Reply(enginetest.Always(c.outcome))
				exec := n.AwaitStatus(t, startRun(t, n, job.ID).ID, c.want)
				require.Equal(t, c.outcome.Reason, exec.Reason)
				require.Equal(t, c.outcome.Message, exec.ErrorMessage)
				require.Equal(t, c.outcome.Result, exec.Result)
				require.Equal(t, c.outcome.Progress, exec.Progress)
				require.Equal(t, 1, exec.Attempt)
				require.Empty(t, exec.Claim, "a final row leaves the claim index")
				require.Empty(t, attemptsOf(t, n, exec.ID))
				require.Empty(t, deadLettersOf(t, n, job.ID))
				events := n.Events(t)
				if c.want == entity.StatusSuccess {
					require.Empty(t, events)
					return
				}
				require.Len(t, events, 1)
				require.Equal(t, exec.ID+":1:"+string(c.want), events[0].ID)
				require.Equal(t, job.ID, events[0].Key)
				require.Contains(t, events[0].Payload, `"status":"`+string(c.want)+`"`)
			})
		})
	}
}

// The start is the handler's entry and not the commit of the start, and it is
// written with the end (engine rule 22).
func TestTheStartTimeIsTheHandlersEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("direct", enginetest.Every(time.Hour)))
		n.Faults.Before(func(name string) {
			if name == "fire" {
				n.Clock.Advance(2 * time.Second)
			}
		})
		release := n.Script.Hold()
		n.Fire(t)
		n.Script.Await(t, 1)
		exec := n.Executions(t, job.ID)[0]
		require.Equal(t, enginetest.Noon, exec.StartTime, "an estimate until the end")
		n.Clock.Advance(3 * time.Second)
		release()
		exec = n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.Equal(t, enginetest.Noon.Add(2*time.Second), exec.StartTime)
		require.Equal(t, enginetest.Noon.Add(5*time.Second), exec.EndTime)
		require.Equal(t, 3*time.Second, exec.Duration)
		require.Equal(t, 2*time.Second, exec.Lateness())
	})
}

// Every shard runs; the fire's slot is free after the last (engine rule 16).
func TestEveryShardOfAFireRunsAndTheLastFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("shards", func(j *entity.Job) { j.ShardCount, j.Overlap = 3, entity.OverlapSerial }))
		last := make(chan struct{})
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			if run.Execution.ShardIndex == 2 {
				<-last
			}
			return entity.Succeeded("done")
		})
		execs, effect := trigger(t, n, job.ID)
		second, _ := trigger(t, n, job.ID)
		require.Len(t, execs, 3)
		n.Commits.AfterCommit(effect)
		n.Script.Await(t, 3)
		for _, exec := range execs[:2] {
			n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		}
		live := liveFiresOf(t, n, job.ID)
		require.Len(t, live, 2)
		require.Equal(t, 1, live[0].Remaining)
		require.False(t, live[1].Active)
		require.True(t, n.Execution(t, second[0].ID).Claim.Queued(), "the next fire waits for all shards")
		close(last)
		for _, exec := range append(execs, second...) {
			n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		}
		require.Empty(t, liveFiresOf(t, n, job.ID))
	})
}

// Of a job with one run at a time the number that guards its writes grows from
// fire to fire (engine rule 21), and fires follow one another (rule 16).
func TestSerialFiresFollowOneAnotherWithGrowingFences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("serial", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
		var execs []*entity.Execution
		for range 3 {
			execs = append(execs, waitingRun(t, n, job.ID))
		}
		require.True(t, execs[1].Claim.Queued())
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			for _, exec := range execs {
				if exec.JobFence < run.Execution.JobFence && !n.Execution(t, exec.ID).Status.Final() {
					return entity.Failed(entity.ReasonError, "a former fire is live")
				}
			}
			return entity.Succeeded("done")
		})
		n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
		fence := int64(0)
		for i, run := range n.Script.Await(t, 3) {
			require.Equal(t, execs[i].ID, run.Execution.ID)
			require.Greater(t, run.Execution.FencingToken(), fence)
			fence = run.Execution.FencingToken()
			n.AwaitStatus(t, execs[i].ID, entity.StatusSuccess)
		}
	})
}

// Under REPLACE the running fire is stopped, and the new one starts after its
// end (engine rule 16).
func TestAReplacingFireStartsAfterTheEndOfTheReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("newest", func(j *entity.Job) { j.Overlap = entity.OverlapReplace }))
		n.Script.Hold()
		old := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		stopped := make(chan entity.Status, 1)
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
			stopped <- n.Execution(t, old.ID).Status
			return entity.Succeeded("done")
		})
		next := startRun(t, n, job.ID)
		require.False(t, next.Claim.Ready())
		n.AwaitStatus(t, next.ID, entity.StatusSuccess)
		require.Equal(t, entity.StatusCancelled, <-stopped)
		require.Equal(t, entity.ReasonReplaced, n.Execution(t, old.ID).Reason)
		require.Len(t, n.Events(t), 1)
	})
}

// A cancel that meets a failing attempt goes before its retry, and the slot
// of the run is given on.
func TestACancelGoesBeforeARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("unwanted", func(j *entity.Job) {
			retrying(3)(j)
			j.Overlap = entity.OverlapSerial
		}))
		end := make(chan struct{})
		n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome { <-end; return failed() })
		exec := startRun(t, n, job.ID)
		next := waitingRun(t, n, job.ID)
		n.Script.Await(t, 1)
		changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested = true })
		n.Script.Reply(enginetest.Always(entity.Succeeded("done")))
		close(end)
		n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
		n.AwaitStatus(t, next.ID, entity.StatusSuccess)
		require.Len(t, n.Events(t), 1)
		require.Len(t, n.Script.Runs(), 2)
	})
}

// The observer hears of every end, after it was stored.
func TestTheObserverHearsOfStoredEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("watched", retrying(1)))
		type news struct {
			told, stored entity.Status
			why          string
		}
		heard := make(chan news, 10)
		n.Runner.Ends.Observer = func(_ *entity.Job, exec *entity.Execution) {
			heard <- news{exec.Status, n.Execution(t, exec.ID).Status, string(exec.Reason) + " " + exec.ErrorMessage}
		}
		inTurn(n, failed(), entity.Succeeded("done"))
		n.Start(t)
		exec := startRun(t, n, job.ID)
		require.Equal(t, news{entity.StatusWaiting, entity.StatusWaiting, "ERROR it broke"}, <-heard)
		tryAgain(t, n, exec.ID, 1)
		require.Equal(t, news{entity.StatusSuccess, entity.StatusSuccess, " "}, <-heard)
	})
}
