package firing_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// outcome is what an execution says of the scheduled times it stands for.
type outcome struct {
	at      int // the scheduled second, or the first of a range
	status  string
	trigger entity.Trigger
	count   int
}

func outcomes(execs []*entity.Execution) []outcome {
	out := make([]outcome, len(execs))
	for i, exec := range execs {
		out[i] = outcome{scheduledTimes(execs)[i], enginetest.States(execs)[i], exec.Trigger, exec.SkipCount}
	}
	return out
}

// Rules 5 and 13: what becomes of the scheduled times of ten seconds in which
// nobody was there, and of those after a clock that was set ahead.
func TestMissedFiresFollowTheMisfirePolicy(t *testing.T) {
	const skipped, runs = "SKIPPED(MISFIRE)", "RUNNING"
	for name, c := range map[string]struct {
		misfire entity.Misfire
		want    []outcome
	}{
		"within the threshold they are late fires": {
			entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 60, WindowSec: 60, MaxFires: 100},
			ordinary(0, 10),
		},
		"FIRE_ONCE runs the latest missed one": {
			entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 1, WindowSec: 60, MaxFires: 100},
			append([]outcome{{0, skipped, entity.TriggerSchedule, 8}, {8, runs, entity.TriggerMisfire, 0}}, ordinary(9, 10)...),
		},
		"FIRE_ONCE runs one that is as old as its window": {
			entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 1, WindowSec: 2, MaxFires: 100},
			append([]outcome{{0, skipped, entity.TriggerSchedule, 8}, {8, runs, entity.TriggerMisfire, 0}}, ordinary(9, 10)...),
		},
		"FIRE_ONCE runs none that is older": {
			entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 1, WindowSec: 1, MaxFires: 100},
			append([]outcome{{0, skipped, entity.TriggerSchedule, 9}}, ordinary(9, 10)...),
		},
		"SKIP runs none of them": {
			entity.Misfire{Policy: entity.MisfireSkip, ThresholdSec: 1, WindowSec: 60, MaxFires: 100},
			append([]outcome{{0, skipped, entity.TriggerSchedule, 9}}, ordinary(9, 10)...),
		},
		"FIRE_ALL runs all within its window": {
			entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 4, MaxFires: 100},
			append([]outcome{
				{0, skipped, entity.TriggerSchedule, 6},
				{6, runs, entity.TriggerMisfire, 0},
				{7, runs, entity.TriggerMisfire, 0},
				{8, runs, entity.TriggerMisfire, 0},
			}, ordinary(9, 10)...),
		},
		"FIRE_ALL runs no more than its number": {
			entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 60, MaxFires: 2},
			append([]outcome{
				{0, skipped, entity.TriggerSchedule, 7}, {7, runs, entity.TriggerMisfire, 0}, {8, runs, entity.TriggerMisfire, 0},
			}, ordinary(9, 10)...),
		},
	} {
		for cause, pass := range map[string]func(n *enginetest.Node){
			"after downtime":       func(n *enginetest.Node) { n.Clock.Advance(10 * time.Second) },
			"after a jump forward": func(n *enginetest.Node) { n.Clock.Jump(10 * time.Second); n.Planner.Wake() },
		} {
			t.Run(name+" "+cause, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := enginetest.New(t, enginetest.Options{})
					job := n.Add(t, everySecond(func(j *entity.Job) { j.Misfire = c.misfire }))
					n.Script.Hold()
					pass(n)
					n.Fire(t)
					require.Equal(t, c.want, outcomes(n.Executions(t, job.ID)))
					require.Equal(t, second(11), n.Job(t, job.ID).NextFireTime)
					n.Fire(t)
					require.Len(t, n.Executions(t, job.ID), len(c.want), "nothing is decided twice")
					n.Start(t)
				})
			})
		}
	}
}

func ordinary(from, to int) []outcome {
	var out []outcome
	for s := from; s <= to; s++ {
		out = append(out, outcome{s, "RUNNING", entity.TriggerSchedule, 0})
	}
	return out
}

// Rule 13: a clock that is set back makes the cursor wait; nothing fires twice,
// and nothing early.
func TestAClockThatIsSetBackMakesTheCursorWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		n.Start(t)
		job := n.Add(t, everySecond(nil))
		n.Fire(t)
		_, err := n.Planner.Scan(t.Context())
		require.NoError(t, err)
		n.Clock.Jump(-time.Hour)
		n.Planner.Wake()
		n.Fire(t)
		n.FireAt(t, second(-1))
		require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, job.ID)))
		n.FireAt(t, second(0))
		require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, job.ID)),
			"its moment comes a second time, its fire does not")
		n.FireAt(t, second(1))
		require.Equal(t, []int{0, 1}, scheduledTimes(n.Executions(t, job.ID)))
	})
}

// A due job that was due when it was taken and is not when it is planned, because
// the clock went back in between, stays a due job.
func TestWhatIsNotDueAfterAllStaysInTheBook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, everySecond(nil))
		_, err := n.Planner.Scan(t.Context())
		require.NoError(t, err)
		n.Clock.Jump(-time.Second)
		jobs, err := n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		require.Zero(t, jobs)
		require.Equal(t, 1, n.Planner.Held())
		n.FireAt(t, second(0))
		require.Len(t, n.Executions(t, job.ID), 1)
		n.Start(t)
	})
}

// The same for due jobs that wait in the queue behind a batch.
func TestWhatWaitsBehindABatchMayNotBeDueAfterAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{BatchSize: 1})
		addMany(t, n, 2, nil)
		require.NoError(t, fireOnce(t, n))
		n.Clock.Jump(-time.Second)
		jobs, err := n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, jobs, "it is taken up")
		require.Len(t, n.Executions(t, ""), 1, "and not fired early")
		require.Equal(t, 2, n.Planner.Held())
		n.Clock.Advance(time.Second)
		_, err = n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int{0, 0}, scheduledTimes(n.Executions(t, "")), "no scan was needed")
		n.Start(t)
	})
}

// A job with more to make up for than one transaction takes goes on in the
// next ones, in order and without a gap.
func TestAPlanTooLongForOneTransactionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{PlanLimit: 7, Slots: 100})
		job := n.Add(t, everySecond(func(j *entity.Job) {
			j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 100, MaxFires: 100}
		}))
		n.Clock.Advance(30 * time.Second)
		require.NoError(t, fireOnce(t, n))
		require.Len(t, n.Executions(t, job.ID), 7)
		n.Fire(t)
		want := make([]int, 31)
		for i := range want {
			want[i] = i
		}
		require.Equal(t, want, scheduledTimes(n.Executions(t, job.ID)))
		n.Start(t)
	})
}

// Rule 5: a backlog has a lane of its own; what is on time goes first, also
// where the backlog fills the memory that there is for due jobs.
func TestABacklogDoesNotHoldUpWhatIsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{MaxHeld: 20, BatchSize: 8, Slots: 500})
		late := addMany(t, n, 60, func(_ int, j *entity.Job) {
			j.Schedule.IntervalMs, j.Schedule.Anchor = 3_600_000, enginetest.Noon.Add(-time.Hour)
		})
		n.Clock.Advance(time.Minute)
		fresh := n.Add(t, enginetest.Job("on time", func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.IntervalMs, j.Schedule.Anchor = "FIXED_RATE", 3_600_000, second(60).Add(-time.Hour)
		}))
		require.NoError(t, fireOnce(t, n))
		require.Len(t, n.Executions(t, fresh.ID), 1, "the first batch takes it along")
		require.LessOrEqual(t, n.Planner.Held(), 25, "the memory for hints is bounded")
		for range 20 {
			n.Fire(t)
		}
		for _, job := range late {
			require.Len(t, n.Executions(t, job.ID), 1)
		}
		n.Start(t)
	})
}
