package firing_test

import (
	"context"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// catchUp does what an edit does first: it decides what is due under the stored
// definition, and stores where the cursor went.
func catchUp(t *testing.T, n *enginetest.Node, id string) (*entity.Job, commit.PostCommit) {
	t.Helper()
	job, effect, more := catchUpSome(t, n, id)
	require.False(t, more)
	return job, effect
}

// catchUpSome is catchUp that may leave something.
func catchUpSome(t *testing.T, n *enginetest.Node,
	id string,
) (job *entity.Job, effect commit.PostCommit, more bool) {
	t.Helper()
	planner := firing.CatchUpPlanner{Admitter: n.Admitter, Schedules: n.Schedules}
	n.Write(t, func(ctx context.Context, tx repository.Tx) (err error) {
		if job, err = tx.Jobs.LockFull(ctx, id); err != nil {
			return err
		}
		if effect, more, err = planner.CatchUp(ctx, tx, job, n.Time.Now(), n.Time.Now()); err != nil {
			return err
		}
		return tx.Jobs.Update(ctx, job, false)
	})
	return job, effect, more
}

// Rule 3: what is due and undecided is recorded under the old definition, as
// runs that wait; the cursor is never in decided time again.
func TestAnEditDecidesWhatIsDueFirst(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(nil))
	n.Clock.Advance(2500 * time.Millisecond)
	edited, effect := catchUp(t, n, job.ID)
	execs := n.Executions(t, job.ID)
	require.Equal(t, []int{0, 1, 2}, scheduledTimes(execs))
	require.Equal(t, []string{"WAITING", "WAITING", "WAITING"}, enginetest.States(execs))
	require.Equal(t, 3, effect.Ready)
	require.Equal(t, second(3), edited.NextFireTime)
	require.Equal(t, second(2), edited.LastFireTime)
	n.Fire(t)
	require.Len(t, n.Executions(t, job.ID), 3, "nothing of it is decided again")
	again, effect := catchUp(t, n, job.ID)
	require.Equal(t, second(3), again.NextFireTime)
	require.Zero(t, effect.Ready)
}

func TestSettlingFollowsTheMisfirePolicy(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(func(j *entity.Job) { j.Misfire.ThresholdSec = 1 }))
	n.Clock.Advance(10 * time.Second)
	catchUp(t, n, job.ID)
	require.Equal(t, []outcome{
		{0, "SKIPPED(MISFIRE)", entity.TriggerSchedule, 8},
		{8, "WAITING", entity.TriggerMisfire, 0},
		{9, "WAITING", entity.TriggerSchedule, 0},
		{10, "WAITING", entity.TriggerSchedule, 0},
	}, outcomes(n.Executions(t, job.ID)))
	require.Len(t, n.Events(t), 1)
}

// One transaction of an edit records about 2,000 runs and no more; the next one
// goes on at the cursor. Not even the scheduled times that only their jitter
// holds back are decided too early.
func TestSettlingGoesOnWhereItStopped(t *testing.T) {
	for name, c := range map[string]struct{ shards, due, first int }{
		"one shard":       {1, 2100, 2000},
		"two shards":      {2, 1050, 1000},
		"a thousand ones": {1000, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, everySecond(func(j *entity.Job) {
				j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 5000, WindowSec: 5000, MaxFires: 5000}
				j.Schedule.JitterMs, j.ShardCount = 400, c.shards
			}))
			n.Clock.Advance(job.DueTime.Add(time.Duration(c.due)*time.Second - time.Millisecond).Sub(n.Clock.Now()))
			edited, _, more := catchUpSome(t, n, job.ID)
			require.True(t, more)
			require.Equal(t, second(c.first), edited.NextFireTime)
			edited, _, more = catchUpSome(t, n, job.ID)
			require.False(t, more)
			require.Equal(t, second(c.due), edited.NextFireTime)
			total := 0
			for s := range c.due {
				runs, err := n.Store.FiresAt(t.Context(), job.ID, []time.Time{second(s)})
				require.NoError(t, err)
				total += len(runs)
			}
			require.Equal(t, c.due*c.shards, total)
		})
	}
}

// Rule 3: a paused span is one range row, written when it ends.
func TestAPausedSpanIsOneRow(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(nil))
	n.Change(t, job.ID, func(j *entity.Job) { j.Status, j.DueTime = entity.JobPaused, time.Time{} })
	n.FireAt(t, second(30))
	require.Empty(t, n.Executions(t, job.ID), "a paused job does not fire")
	edited, _ := catchUp(t, n, job.ID)
	execs := n.Executions(t, job.ID)
	require.Equal(t, []outcome{{0, "SKIPPED(PAUSED)", entity.TriggerSchedule, 31}}, outcomes(execs))
	require.Equal(t, second(0), execs[0].SkipFrom)
	require.Equal(t, second(30).Add(time.Millisecond), execs[0].SkipTo, "it holds no time that is yet to be decided")
	require.Equal(t, second(31), edited.NextFireTime)
	require.Len(t, n.Events(t), 1)
}

func TestThereIsNothingToSettleWithoutAPlan(t *testing.T) {
	for name, change := range map[string]func(j *entity.Job){
		"no schedule": func(j *entity.Job) {
			j.Schedule.Kind, j.NextFireTime, j.DueTime = schedule.None, time.Time{}, time.Time{}
		},
		"a delay whose run has not ended": func(j *entity.Job) {
			j.Schedule.Kind, j.NextFireTime, j.DueTime = schedule.FixedDelay, time.Time{}, time.Time{}
		},
		"finished": func(j *entity.Job) { j.Status, j.DueTime = entity.JobFinished, time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, everySecond(nil))
			n.Change(t, job.ID, change)
			n.Clock.Advance(time.Minute)
			before := n.Job(t, job.ID)
			catchUp(t, n, job.ID)
			require.Empty(t, n.Executions(t, job.ID))
			require.Equal(t, before, n.Job(t, job.ID))
		})
	}
}

// Coordinated fires take their slots also when an edit decides them.
func TestSettledFiresTakeTheirPlaces(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1 }))
	n.Clock.Advance(2 * time.Second)
	_, effect := catchUp(t, n, job.ID)
	require.Equal(t, 1, effect.Ready)
	require.Equal(t, []string{"WAITING", "WAITING", "SKIPPED(QUEUE_FULL)"}, enginetest.States(n.Executions(t, job.ID)))
	live := n.InFlightFires(t, job.ID)
	require.Len(t, live, 2)
	require.EqualValues(t, 2, live[1].Seq)
	require.EqualValues(t, 2, n.Job(t, job.ID).FenceSeq)
}

// A FIXED_DELAY job has one scheduled time; after it, its run says when the next is.
func TestAFixedDelayIsPlannedByItsRuns(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("delay", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
	}))
	n.Fire(t)
	require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, job.ID)))
	after := n.Job(t, job.ID)
	require.Zero(t, after.NextFireTime)
	require.Equal(t, entity.JobEnabled, after.Status)
	n.FireAt(t, second(60))
	require.Len(t, n.Executions(t, job.ID), 1)
}
