package running_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// parkedRun is a waiting run that may not start before a moment.
func parkedRun(t *testing.T, n *enginetest.Node, jobID string, until time.Time) *entity.Execution {
	t.Helper()
	exec := waitingRun(t, n, jobID)
	changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.Claim = entity.ScheduledKey(until) })
	return n.Execution(t, exec.ID)
}

func at(d time.Duration) time.Time { return enginetest.Noon.Add(d) }

// Rule 15: scheduled runs become ready when their moment has come, and the next
// moment is told.
func TestParkedRunsBecomeReadyInTime(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("parked", func(j *entity.Job) { j.Priority = 7 }))
	early, late := parkedRun(t, n, job.ID, at(time.Second)), parkedRun(t, n, job.ID, at(time.Minute))
	next, err := n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	require.Equal(t, at(time.Second), next)
	require.Equal(t, early, n.Execution(t, early.ID), "nothing is early")
	n.Clock.Advance(time.Second)
	next, err = n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	require.Equal(t, at(time.Minute), next)
	ready := n.Execution(t, early.ID)
	require.Equal(t, entity.CommonQueue.Key(7, at(time.Second)), ready.Claim)
	require.Equal(t, at(time.Second), ready.UpdateTime, "from now on it is late")
	require.Equal(t, late, n.Execution(t, late.ID))
	n.Clock.Advance(time.Hour)
	next, err = n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	require.Zero(t, next, "none is parked any more")
}

// A claim passes over a row that is locked. A node that locks a run which another has made ready meanwhile therefore
// says that it waits, once it has let go of it.
func TestTheClaimFollowsWhoLookedAtAReadyRun(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	slow := n.Join(t, enginetest.Options{})[1]
	job := n.Add(t, enginetest.Job("parked", nil))
	exec := parkedRun(t, n, job.ID, at(0))
	slow.Repairs.Claims = thenDo{n.Store, func() {
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
	}}
	var heard []commit.PostCommit
	slow.Commits.OnCommit(func(e commit.PostCommit) { heard = append(heard, e) })
	_, err := slow.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	require.Equal(t, []commit.PostCommit{{Ready: 1}}, heard)
	require.True(t, n.Execution(t, exec.ID).Claim.Ready())
}

// thenDo does something after each look at a range of claim keys.
type thenDo struct {
	repository.ClaimReader
	then func()
}

func (c thenDo) Range(ctx context.Context, r repository.ClaimRange) ([]*entity.Execution, error) {
	execs, err := c.ClaimReader.Range(ctx, r)
	c.then()
	return execs, err
}

// A sweep takes more than one transaction where it must.
func TestManyParkedRunsBecomeReady(t *testing.T) {
	const count = 1203
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("parked", nil))
	first := waitingRun(t, n, job.ID)
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		execs := make([]*entity.Execution, count)
		for i := range execs {
			exec := *first
			exec.ID, exec.FireKey = fmt.Sprintf("parked-%d", i), fmt.Sprintf("parked-%d", i)
			exec.Claim = entity.ScheduledKey(at(-time.Second))
			execs[i] = &exec
		}
		return tx.Executions.Insert(ctx, execs)
	})
	_, err := n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	ready, err := n.Store.CountRange(t.Context(), repository.ClaimRange{Lo: entity.ReadySpan().Lo, Hi: "W+", Limit: 5000})
	require.NoError(t, err)
	require.Equal(t, count+1, ready)
}

// Rule 17: a run waits no longer than its start deadline, wherever it waits.
func TestARunPastItsStartDeadlineIsSkipped(t *testing.T) {
	for name, claim := range map[string]func(jobID string) entity.ClaimKey{
		"ready":  func(string) entity.ClaimKey { return entity.CommonQueue.Key(5, at(0)) },
		"parked": func(string) entity.ClaimKey { return entity.ScheduledKey(at(time.Hour)) },
		"queued": func(jobID string) entity.ClaimKey { return entity.QueuedKey(jobID, 3) },
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("hasty", func(j *entity.Job) { j.StartDeadlineSec = 10 }))
			exec := waitingRun(t, n, job.ID)
			changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.Claim = claim(job.ID) })
			closed, err := n.Repairs.SweepDeadlines(t.Context())
			require.NoError(t, err)
			require.Zero(t, closed)
			n.Clock.Advance(10*time.Second + time.Millisecond)
			closed, err = n.Repairs.SweepDeadlines(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, closed)
			ended := n.Execution(t, exec.ID)
			require.Equal(t, entity.StatusSkipped, ended.Status)
			require.Equal(t, entity.ReasonDeadline, ended.Reason)
			require.Empty(t, ended.Claim)
			require.Equal(t, n.Time.Now(), ended.EndTime)
			require.Len(t, n.Events(t), 1, "rule 24")
		})
	}
}

// Runs that have begun have met their deadline.
func TestARunningRunHasNoStartDeadlineAnyMore(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("hasty", func(j *entity.Job) { j.StartDeadlineSec = 1 }))
	exec := lostRun(t, n, job.ID, nil)
	n.Clock.Advance(time.Minute)
	closed, err := n.Repairs.SweepDeadlines(t.Context())
	require.NoError(t, err)
	require.Zero(t, closed)
	require.Equal(t, exec, n.Execution(t, exec.ID))
}

// Rule 16: what ends without having run gives its slot on.
func TestASkippedRunGivesItsPlaceOn(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("serial", func(j *entity.Job) {
		j.Overlap, j.StartDeadlineSec = entity.OverlapSerial, 10
	}))
	first, second := waitingRun(t, n, job.ID), waitingRun(t, n, job.ID)
	require.True(t, n.Execution(t, second.ID).Claim.Queued())
	changeRow(t, n, second.ID, func(exec *entity.Execution) { exec.StartDeadline = time.Time{} })
	n.Clock.Advance(11 * time.Second)
	closed, err := n.Repairs.SweepDeadlines(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, closed)
	require.Equal(t, entity.StatusSkipped, n.Execution(t, first.ID).Status)
	require.False(t, n.Execution(t, second.ID).Claim.Queued(), "it may start now")
	live := liveFiresOf(t, n, job.ID)
	require.Len(t, live, 1)
	require.True(t, live[0].Active)
}

// Rule 7: nobody else would arm a FIXED_DELAY job that has no next time and no
// in-flight fire.
func TestTheSweepArmsWhatNobodyElseWill(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("delay", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
	}))
	n.Change(t, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} })
	touched, err := n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, touched)
	require.Equal(t, at(5*time.Second), n.Job(t, job.ID).NextFireTime)
	touched, err = n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Zero(t, touched, "it is armed")
}

func TestTheSweepLeavesAJobAloneWhoseRunWillArmIt(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("delay", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
	}))
	n.Fire(t)
	require.Len(t, liveFiresOf(t, n, job.ID), 1)
	touched, err := n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Zero(t, touched)
	require.Zero(t, n.Job(t, job.ID).NextFireTime)
}

// Rule 15: a queued fire whose job has room, because the transaction that
// should have freed it was lost, is found.
func TestTheSweepFreesAForgottenQueuedRun(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("serial", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
	_, second := waitingRun(t, n, job.ID), waitingRun(t, n, job.ID)
	touched, err := n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Zero(t, touched, "the first fire holds the place")
	first := n.InFlightFires(t, job.ID)[:1]
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.InFlightFires.Delete(ctx, first) })
	touched, err = n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, touched)
	require.False(t, n.Execution(t, second.ID).Claim.Queued())
}

// The output of a run can be read while it runs, and a failed flush loses nothing,
// whether the store took it or not.
func TestLogsOfARunningRunAreFlushedInOrder(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"refused": enginetest.Refused, "stored, its answer lost": enginetest.LostReply,
		"not stored, and no answer": enginetest.LostCommit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				said, release := make(chan string), make(chan struct{})
				n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
					for line := range said {
						rep.Log(entity.LogStdout, line)
						release <- struct{}{}
					}
					return entity.Succeeded("")
				})
				exec := startRun(t, n, n.Add(t, enginetest.Job("talks", nil)).ID)
				say := func(line string) { said <- line; <-release }
				say("one")
				require.NoError(t, n.Runner.FlushLogs(t.Context()))
				require.Equal(t, "one", linesOf(t, n, exec.ID, entity.LogStdout)[0].Content)
				say("two")
				n.Faults.Next("logs", fault)
				require.Error(t, n.Runner.FlushLogs(t.Context()))
				say("three")
				require.NoError(t, n.Runner.FlushLogs(t.Context()))
				say("four")
				close(said)
				n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
				var text []string
				last := int64(0)
				for _, chunk := range linesOf(t, n, exec.ID, entity.LogStdout) {
					require.Equal(t, last+1, chunk.SeqFrom, "line numbers have no gap")
					last = chunk.SeqTo
					text = append(text, strings.Split(chunk.Content, "\n")...)
				}
				require.Equal(t, []string{"one", "two", "three", "four"}, text)
			})
		})
	}
}

// A run may end while a flush of its lines is under way, which then fails.
func TestLinesOfAFlushThatFailsAfterTheEndAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		said, end := make(chan struct{}), make(chan struct{})
		n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
			rep.Log(entity.LogStdout, "one")
			close(said)
			<-end
			rep.Log(entity.LogStdout, "two")
			return entity.Succeeded("")
		})
		exec := startRun(t, n, n.Add(t, enginetest.Job("talks", nil)).ID)
		<-said
		n.Faults.Next("logs", enginetest.Refused)
		n.Faults.Before(func(name string) {
			if name == "logs" {
				close(end)
				n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
			}
		})
		require.Error(t, n.Runner.FlushLogs(t.Context()))
		n.Faults.Before(nil)
		var text []string
		for _, chunk := range linesOf(t, n, exec.ID, entity.LogStdout) {
			text = append(text, chunk.Content)
		}
		require.Equal(t, []string{"one", "two"}, text)
	})
}

// A run's checkpoint outlives its node, and what was said before a failed flush
// is said again.
func TestTheCheckpointOfARunningRunIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		states, taken := make(chan string), make(chan struct{})
		n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
			for state := range states {
				rep.Checkpoint(state)
				rep.Progress(len(state))
				taken <- struct{}{}
			}
			return entity.Succeeded("")
		})
		exec := startRun(t, n, n.Add(t, enginetest.Job("walks", nil)).ID)
		at := func(state string) { states <- state; <-taken }
		kept := func() []any {
			got := n.Execution(t, exec.ID)
			return []any{got.Status, got.Checkpoint, got.Progress}
		}
		at("row 1")
		require.NoError(t, n.Runner.FlushLogs(t.Context()))
		require.Equal(t, []any{entity.StatusRunning, "row 1", 5}, kept())
		at("row 22")
		n.Faults.Next("logs", enginetest.Refused)
		require.Error(t, n.Runner.FlushLogs(t.Context()))
		require.Equal(t, "row 1", kept()[1])
		require.NoError(t, n.Runner.FlushLogs(t.Context()))
		require.Equal(t, []any{entity.StatusRunning, "row 22", 6}, kept())
		close(states)
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
	})
}

// CloseWaiting ends what still waits, asks about each locked execution again, and
// leaves everything else alone.
func TestOnlyWhatStillWaitsIsClosed(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("closes", nil))
	waits, spared, runs := waitingRun(t, n, job.ID), waitingRun(t, n, job.ID), waitingRun(t, n, job.ID)
	changeRow(t, n, runs.ID, func(exec *entity.Execution) {
		exec.Status, exec.NodeID, exec.Epoch, exec.Token, exec.Attempt, exec.Claim = entity.StatusRunning, "node-1", 1, 1, 1,
			entity.RunningKey("node-1")
	})
	closer := maintenance.Closer{Store: n.Faults, Admitter: n.Admitter, Jobs: n.Jobs, Clock: n.Time}
	closed, _, err := closer.CloseWaiting(t.Context(), repository.LaneAPI, []*entity.Execution{runs, spared, waits},
		func(exec *entity.Execution, now time.Time) error { return exec.Cancel(entity.ReasonNone, now) },
		func(exec *entity.Execution, now time.Time) bool {
			require.Equal(t, enginetest.Noon, now)
			return exec.ID != spared.ID
		})
	require.NoError(t, err)
	require.Len(t, closed, 1)
	require.Equal(t, entity.StatusCancelled, n.Execution(t, waits.ID).Status)
	require.Equal(t, entity.StatusWaiting, n.Execution(t, spared.ID).Status)
	require.Equal(t, entity.StatusRunning, n.Execution(t, runs.ID).Status)
	require.Len(t, n.Events(t), 1)
}

// Much that many runs have said is stored in several transactions, so that
// none holds a store's only writer for long.
func TestLoudRunsAreFlushedInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		said, release := make(chan struct{}), make(chan struct{})
		n.Script.Reply(func(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
			for range 20 {
				rep.Log(entity.LogStdout, strings.Repeat("x", 8<<10))
			}
			said <- struct{}{}
			<-release
			return entity.Succeeded("")
		})
		job := n.Add(t, enginetest.Job("loud", nil))
		var ids []string
		for range 4 {
			ids = append(ids, startRun(t, n, job.ID).ID)
			<-said
		}
		flushes := 0
		n.Faults.Before(func(name string) {
			if name == "logs" {
				flushes++
			}
		})
		require.NoError(t, n.Runner.FlushLogs(t.Context()))
		n.Faults.Before(nil)
		require.Equal(t, 2, flushes, "two runs of 160 KiB in each")
		for _, id := range ids {
			total := 0
			for _, chunk := range linesOf(t, n, id, entity.LogStdout) {
				total += len(chunk.Content)
			}
			require.GreaterOrEqual(t, total, 160<<10)
		}
		close(release)
		awaitIdle(t, n)
	})
}
