package app_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Engine rules 1, 3 and 14: planned fires start on this node at once, each
// nominal time once, and a fire never changes the version (rule 4).
func TestPlannedFiresRunOnceEachAndOnTheGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{})
		defer n.stop()
		j := n.create(newJob("grid", every(200*time.Millisecond)))
		n.await("five runs", func() bool { return count(n.rows(j.ID), entity.StatusSuccess, "") >= 5 })
		rows := n.rows(j.ID)
		for i, row := range rows {
			require.Equal(t, entity.TriggerSchedule, row.Trigger)
			require.Zero(t, row.ScheduledTime.Sub(j.Schedule.Anchor)%(200*time.Millisecond))
			require.False(t, row.StartTime.IsZero() && row.Status == entity.StatusSuccess)
			if i > 0 {
				require.Equal(t, 200*time.Millisecond, row.ScheduledTime.Sub(rows[i-1].ScheduledTime), "no fire is left out")
			}
			require.False(t, !row.StartTime.IsZero() && row.StartTime.Before(row.DueTime), "nothing starts early")
		}
		current, err := n.Jobs.Get(t.Context(), j.ID)
		require.NoError(t, err)
		require.Equal(t, 1, current.Version)
	})
}

// Engine rule 16.
func TestOverlapPolicies(t *testing.T) {
	cases := map[string]struct {
		policy entity.OverlapPolicy
		check  func(t *testing.T, n *node, first, second string, release func())
	}{
		"discard": {entity.OverlapDiscard, func(t *testing.T, n *node, first, second string, release func()) {
			row := n.row(second)
			require.Equal(t, entity.StatusSkipped, row.Status)
			require.Equal(t, entity.ReasonOverlap, row.Reason)
			release()
			n.awaitStatus(first, entity.StatusSuccess)
		}},
		"serial": {entity.OverlapSerial, func(t *testing.T, n *node, first, second string, release func()) {
			require.Equal(t, entity.StatusWaiting, n.row(second).Status)
			release()
			n.awaitStatus(first, entity.StatusSuccess)
			after := n.awaitStatus(second, entity.StatusSuccess)
			require.False(t, after.StartTime.Before(n.row(first).EndTime), "one after the other")
			require.Greater(t, after.FencingToken(), n.row(first).FencingToken(), "rule 21: the number grows from fire to fire")
		}},
		"replace": {entity.OverlapReplace, func(t *testing.T, n *node, first, second string, release func()) {
			gone := n.awaitStatus(first, entity.StatusCancelled)
			require.Equal(t, entity.ReasonReplaced, gone.Reason)
			release()
			n.awaitStatus(second, entity.StatusSuccess)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				s := &script{reply: func(ctx context.Context, run entity.Run) entity.Outcome {
					select {
					case <-gate:
						return entity.Succeeded("")
					case <-ctx.Done():
						return untilStopped(ctx, run)
					}
				}}
				n := startNode(t, newConfig(t), s)
				defer n.stop()
				j := n.create(newJob(name, func(j *entity.Job) { j.Overlap = c.policy }))
				first := n.trigger(j.ID)
				n.awaitStatus(first, entity.StatusRunning)
				c.check(t, n, first, n.trigger(j.ID), func() { close(gate) })
			})
		})
	}
}

func TestASerialQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: untilStopped})
		defer n.stop()
		j := n.create(newJob("queue", func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1 }))
		n.awaitStatus(n.trigger(j.ID), entity.StatusRunning)
		require.Equal(t, entity.StatusWaiting, n.row(n.trigger(j.ID)).Status)
		third := n.row(n.trigger(j.ID))
		require.Equal(t, entity.StatusSkipped, third.Status)
		require.Equal(t, entity.ReasonQueueFull, third.Reason)
	})
}

// Engine rules 19 and 20: retries stay in the row, what exhausts them is DEAD
// and can be replayed, once; the original stays.
func TestRetriesEndInADeadLetterThatCanBeReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var good atomic.Bool
		s := &script{reply: func(context.Context, entity.Run) entity.Outcome {
			if good.Load() {
				return entity.Succeeded("")
			}
			return entity.Failed(entity.ReasonError, "no")
		}}
		n := startNode(t, newConfig(t), s)
		defer n.stop()
		j := n.create(newJob("fails", func(j *entity.Job) { j.Retry.MaxRetries, j.Retry.IntervalMs = 2, 10 }))
		id := n.trigger(j.ID)
		dead := n.awaitStatus(id, entity.StatusDead)
		require.Equal(t, 3, dead.Attempt)
		require.Equal(t, 2, dead.RetryCount)
		attempts, err := n.Executions.Attempts(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, attempts, 3, "the former attempts are kept, and the latest one is told of")
		for i, a := range attempts {
			require.Equal(t, []any{i + 1, entity.StatusFailed, dead.NodeID}, []any{a.Attempt, a.Status, a.NodeID})
		}
		var tokens []int64
		for _, run := range s.runs() {
			tokens = append(tokens, run.Execution.Token)
			require.Equal(t, id, run.Execution.IdempotencyKey(), "one key over all attempts")
		}
		require.IsIncreasing(t, tokens)

		letters, _, err := n.Executions.DeadLetters(t.Context(), repository.DeadLetterFilter{JobID: j.ID},
			repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, letters, 1)
		good.Store(true)
		replay, err := n.Executions.Replay(t.Context(), id, entity.Actor{})
		require.NoError(t, err)
		again := n.awaitStatus(replay, entity.StatusSuccess)
		require.Equal(t, id, again.RetryOf)
		require.Equal(t, id, again.IdempotencyKey())
		require.Equal(t, entity.StatusDead, n.row(id).Status, "the original stays")
		_, err = n.Executions.Replay(t.Context(), id, entity.Actor{})
		require.True(t, apperror.Is(err, apperror.KindConflict), "a letter is replayed once: %v", err)
	})
}

func TestWithoutRetriesAFailureIsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: func(context.Context, entity.Run) entity.Outcome {
			return entity.Failed(entity.ReasonHTTPStatus, "404")
		}})
		defer n.stop()
		row := n.awaitStatus(n.trigger(n.create(newJob("fails", nil)).ID), entity.StatusFailed)
		require.Equal(t, entity.ReasonHTTPStatus, row.Reason)
		require.Equal(t, "404", row.ErrorMessage)
	})
}

func TestATimeoutEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: untilStopped})
		defer n.stop()
		j := n.create(newJob("slow", func(j *entity.Job) { j.TimeoutSec = 1 }))
		n.awaitStatus(n.trigger(j.ID), entity.StatusTimeout)
	})
}

func TestCancelEndsWaitingAndRunningRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: untilStopped})
		defer n.stop()
		j := n.create(newJob("long", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
		running, waiting := n.trigger(j.ID), n.trigger(j.ID)
		n.awaitStatus(running, entity.StatusRunning)
		require.NoError(t, n.Executions.Cancel(t.Context(), waiting))
		require.Equal(t, entity.StatusCancelled, n.row(waiting).Status)
		require.NoError(t, n.Executions.Cancel(t.Context(), running))
		n.awaitStatus(running, entity.StatusCancelled)
		err := n.Executions.Cancel(t.Context(), running)
		require.True(t, apperror.Is(err, apperror.KindConflict), "a final run cannot be cancelled: %v", err)
	})
}

// Engine rule 3: a paused span is one range row, written when it ends.
func TestAPausedSpanIsOneRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{})
		defer n.stop()
		j := n.create(newJob("paused", every(100*time.Millisecond)))
		n.await("a run", func() bool { return len(n.rows(j.ID)) > 0 })
		_, err := n.Jobs.Pause(t.Context(), j.ID, entity.Pause{})
		require.NoError(t, err)
		before := len(n.rows(j.ID))
		n.clock.Jump(10 * time.Second)
		_, err = n.Jobs.Resume(t.Context(), j.ID)
		require.NoError(t, err)
		n.await("runs go on", func() bool { return len(n.rows(j.ID)) > before+2 })
		var ranges []*entity.Execution
		for _, row := range n.rows(j.ID) {
			if row.SkipCount > 0 {
				ranges = append(ranges, row)
			}
		}
		require.Len(t, ranges, 1)
		require.Equal(t, entity.ReasonPaused, ranges[0].Reason)
		require.InDelta(t, 100, ranges[0].SkipCount, 5)
	})
}

// Engine rule 13: ahead, the misfire policy decides; back, the cursor waits.
func TestTheWallClockMayJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{})
		defer n.stop()
		j := n.create(newJob("jump", func(j *entity.Job) {
			every(time.Second)(j)
			j.Misfire = entity.Misfire{Policy: entity.MisfireSkip, ThresholdSec: 5, WindowSec: 60, MaxFires: 10}
		}))
		n.await("a run", func() bool { return count(n.rows(j.ID), entity.StatusSuccess, "") >= 1 })
		n.clock.Jump(time.Hour)
		n.await("the hour is one skipped range", func() bool {
			return count(n.rows(j.ID), entity.StatusSkipped, entity.ReasonMisfire) == 1
		})
		n.await("fires go on after the jump", func() bool {
			rows := n.rows(j.ID)
			return rows[len(rows)-1].Status == entity.StatusSuccess
		})
		seen := map[string]bool{}
		for _, row := range n.rows(j.ID) {
			require.False(t, seen[row.FireKey], "no fire twice")
			seen[row.FireKey] = true
		}
		n.clock.Jump(-time.Hour)
		before := len(n.rows(j.ID))
		// A job that is made now fires by the clock as it is: the planner has looked at both since the jump.
		later := n.create(newJob("made after the jump", every(time.Second)))
		n.await("runs of the later job", func() bool { return count(n.rows(later.ID), entity.StatusSuccess, "") >= 3 })
		require.LessOrEqual(t, len(n.rows(j.ID)), before+1, "decided times are not decided again")
	})
}

// Engine rule 7.
func TestFixedDelayIsArmedAgainAfterItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{})
		defer n.stop()
		j := n.create(newJob("delay", func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 100
		}))
		n.await("four runs", func() bool { return count(n.rows(j.ID), entity.StatusSuccess, "") >= 4 })
		rows := n.rows(j.ID)
		for i := 1; i < 4; i++ {
			require.GreaterOrEqual(t, rows[i].StartTime.Sub(rows[i-1].EndTime), 95*time.Millisecond)
		}
	})
}

// Engine rules 9 and 20: what a former life of the node ran is retried, and
// the fencing token grows.
func TestANewLifeRecoversTheRunsOfTheFormerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := newConfig(t)
		n := startNode(t, cfg, &script{reply: untilStopped})
		j := n.create(newJob("lost", nil))
		id := n.trigger(j.ID)
		n.awaitStatus(id, entity.StatusRunning)
		n.stop()
		require.Equal(t, entity.StatusWaiting, n.stored(id).Status, "a graceful stop sends it back (rule 28)")

		again := startNode(t, cfg, &script{})
		defer again.stop()
		row := again.awaitStatus(id, entity.StatusSuccess)
		require.Equal(t, 2, row.Attempt)
		require.Zero(t, row.RetryCount, "a shutdown uses no retry up")
		require.EqualValues(t, 2, row.Token)
	})
}

// stored reads a run of a stopped node through a fresh engine, before that
// engine runs anything.
func (n *node) stored(id string) *entity.Execution {
	n.t.Helper()
	e, err := app.NewEngine(n.t.Context(), n.cfg, app.Options{Clock: n.clock, Executor: n.script, Logger: discard()})
	require.NoError(n.t, err)
	row, err := e.Executions.Get(n.t.Context(), id)
	require.NoError(n.t, err)
	require.NoError(n.t, e.Close())
	return row
}

func TestADeletedJobsWaitingRunsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: untilStopped})
		defer n.stop()
		j := n.create(newJob("gone", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
		running, waiting := n.trigger(j.ID), n.trigger(j.ID)
		n.awaitStatus(running, entity.StatusRunning)
		require.NoError(t, n.Jobs.Delete(t.Context(), j.ID, 0))
		row := n.row(waiting)
		require.Equal(t, entity.StatusCancelled, row.Status)
		require.Equal(t, entity.ReasonDeleted, row.Reason)
		require.Equal(t, entity.StatusRunning, n.row(running).Status, "what runs may end")
		_, err := n.Jobs.Trigger(t.Context(), j.ID, job.Trigger{Source: entity.TriggerManual})
		require.True(t, apperror.Is(err, apperror.KindNotFound))
	})
}

// Engine rule 17.
func TestARunPastItsStartDeadlineIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: untilStopped})
		defer n.stop()
		j := n.create(newJob("late", func(j *entity.Job) { j.Overlap, j.StartDeadlineSec = entity.OverlapSerial, 1 }))
		n.awaitStatus(n.trigger(j.ID), entity.StatusRunning)
		row := n.awaitStatus(n.trigger(j.ID), entity.StatusSkipped)
		require.Equal(t, entity.ReasonDeadline, row.Reason)
	})
}

func TestTheLedgerFoldsShardsAndShowsWhatIsPlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: func(_ context.Context, run entity.Run) entity.Outcome {
			if run.Execution.ShardIndex == 1 {
				return entity.Failed(entity.ReasonError, "one shard fails")
			}
			return entity.Succeeded("")
		}})
		defer n.stop()
		j := n.create(newJob("shards", func(j *entity.Job) {
			every(500 * time.Millisecond)(j)
			j.ShardCount = 3
		}))
		n.await("two fires", func() bool { return count(n.rows(j.ID), entity.StatusFailed, entity.ReasonError) >= 2 })
		_, err := n.Jobs.Pause(t.Context(), j.ID, entity.Pause{})
		require.NoError(t, err)
		entries, _, err := n.Executions.Fires(t.Context(), entity.LedgerQuery{JobID: j.ID, Limit: 50})
		require.NoError(t, err)
		last := entries[len(entries)-1]
		require.Equal(t, string(entity.StatusFailed), last.Outcome, "the worst shard decides")
		require.Len(t, last.ExecutionIDs, 3)
		require.Equal(t, entity.ReasonError, last.Reason)

		_, err = n.Jobs.Resume(t.Context(), j.ID)
		require.NoError(t, err)
		entries, _, err = n.Executions.Fires(t.Context(), entity.LedgerQuery{JobID: j.ID, Limit: 50})
		require.NoError(t, err)
		require.Equal(t, entity.OutcomePlanned, entries[0].Outcome)
	})
}

func TestASecondServerOnTheSameFolderIsRefused(t *testing.T) {
	cfg := newConfig(t)
	n := startNode(t, cfg, &script{})
	defer n.stop()
	_, err := app.NewEngine(t.Context(), cfg, app.Options{Executor: &script{}, Logger: discard()})
	require.ErrorContains(t, err, "in use by another server")
	require.ErrorContains(t, err, "dataDir")
}

// A start that fails at its end gives back all that it has opened: the next one works.
func TestAStartThatFailsLateLeavesNothingOpen(t *testing.T) {
	cfg := newConfig(t)
	cfg.Monitoring.WeeklyReport.Channel, cfg.Monitoring.WeeklyReport.TimeZone = "mail", "Nowhere/Town"
	engine, err := app.NewEngine(t.Context(), cfg, app.Options{Executor: &script{}, Logger: discard()})
	require.ErrorContains(t, err, "monitoring.weeklyReport.timeZone")
	require.Nil(t, engine)
	cfg.Monitoring.WeeklyReport.Channel = ""
	startNode(t, cfg, &script{}).stop()
}
