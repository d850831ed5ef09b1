package firing_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Rule 5: the range of what was missed and the fire that follows are one
// transaction; there is never one without the other.
func TestARangeAndTheFireAfterItAreRecordedTogether(t *testing.T) {
	for kind, overlap := range overlaps {
		for name, c := range map[string]struct {
			fault enginetest.Fault
			first int
		}{"committed": {enginetest.LostReply, 2}, "not committed": {enginetest.LostCommit, 0}} {
			t.Run(kind+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := enginetest.New(t, enginetest.Options{})
					job := n.Add(t, everyMinute(func(j *entity.Job) { j.Overlap = overlap }))
					n.Clock.Advance(time.Hour - time.Second)
					n.Faults.Next("fire", c.fault)
					require.NoError(t, fireOnce(t, n))
					require.Len(t, n.Executions(t, job.ID), c.first)
					n.Fire(t)
					require.Equal(t, []int{0, 59 * 60}, scheduledTimes(n.Executions(t, job.ID)))
					require.Equal(t, second(3600), n.Job(t, job.ID).NextFireTime)
					require.Len(t, n.Events(t), 1, "rule 24: the range is told, once")
					n.Start(t)
				})
			})
		}
	}
}

// Rule 10: where the fire after a range is refused, the range stays what it is.
func TestARangeStaysBesideThePoisonedFireAfterIt(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everyMinute(nil))
	n.Clock.Advance(time.Hour)
	latest := identity.ExecutionID(second(3540), job.ID, identity.FireKey(second(3540)), 0)
	n.Faults.Poison(func(id string) bool { return id == latest })
	n.Fire(t)
	require.Equal(t, []outcome{
		{0, "SKIPPED(MISFIRE)", entity.TriggerSchedule, 59},
		{3540, "FAILED(INVALID)", entity.TriggerMisfire, 0},
		{3600, "FAILED(INVALID)", entity.TriggerSchedule, 0},
	}, outcomes(n.Executions(t, job.ID)))
	require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Poisoned }))
}

// everyMinute is a job that is due at Noon and each minute after, and runs the
// latest of what it has missed by more than ten seconds.
func everyMinute(change func(j *entity.Job)) *entity.Job {
	return enginetest.Job("each minute", func(j *entity.Job) {
		enginetest.Every(time.Minute)(j)
		j.Misfire = entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 10, WindowSec: 3600, MaxFires: 10}
		if change != nil {
			change(j)
		}
	})
}

// Rule 13: a wall clock that jumps an hour ahead and back again makes the
// misfire policy decide once; no fire comes early or twice.
func TestAnHourAheadAndBackDecidesEachFireOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		n.Start(t)
		job := n.Add(t, everyMinute(nil))
		n.Fire(t)
		n.Clock.Jump(time.Hour + 30*time.Second)
		n.Planner.Wake()
		n.Fire(t)
		ahead := []outcome{
			{0, "", entity.TriggerSchedule, 0},
			{60, "", entity.TriggerSchedule, 59},
			{3600, "", entity.TriggerMisfire, 0},
		}
		require.Equal(t, ahead, withoutStatus(n.Executions(t, job.ID)))
		n.Clock.Jump(-time.Hour)
		n.Planner.Wake()
		n.Fire(t)
		for minute := 1; minute <= 60; minute++ {
			n.FireAt(t, second(60*minute))
		}
		require.Equal(t, ahead, withoutStatus(n.Executions(t, job.ID)),
			"the cursor waits until the time it has decided is over")
		n.FireAt(t, second(3660))
		require.Equal(t, append(ahead, outcome{3660, "", entity.TriggerSchedule, 0}), withoutStatus(n.Executions(t, job.ID)))
		require.Zero(t, duplicates(n))
	})
}

// withoutStatus are outcomes of executions that may run meanwhile.
func withoutStatus(execs []*entity.Execution) []outcome {
	out := outcomes(execs)
	for i := range out {
		out[i].status = ""
	}
	return out
}

// Rules 5 and 7: the one scheduled time of a FIXED_DELAY job may be missed too.
// Afterwards the job has no next time until its run ends, or the sweep looks.
func TestAMissedFixedDelayFollowsThePolicy(t *testing.T) {
	for name, c := range map[string]struct {
		policy  entity.MisfirePolicy
		elapsed time.Duration
		want    outcome
	}{
		"late":      {entity.MisfireSkip, 5 * time.Second, outcome{0, "WAITING", entity.TriggerSchedule, 0}},
		"fire once": {entity.MisfireFireOnce, time.Minute, outcome{0, "WAITING", entity.TriggerMisfire, 0}},
		"fire all":  {entity.MisfireFireAll, time.Minute, outcome{0, "WAITING", entity.TriggerMisfire, 0}},
		"skip":      {entity.MisfireSkip, time.Minute, outcome{0, "SKIPPED(MISFIRE)", entity.TriggerSchedule, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("delay", func(j *entity.Job) {
				j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
				j.Misfire = entity.Misfire{Policy: c.policy, ThresholdSec: 10, WindowSec: 3600, MaxFires: 10}
			}))
			n.Clock.Advance(c.elapsed)
			n.Fire(t)
			require.Equal(t, []outcome{c.want}, outcomes(n.Executions(t, job.ID)))
			after := n.Job(t, job.ID)
			require.Zero(t, after.NextFireTime)
			require.Equal(t, entity.JobEnabled, after.Status)
		})
	}
}

// Rule 3: the same for an edit and for a pause of a FIXED_DELAY job.
func TestSettlingAFixedDelayLeavesNoTimeUndecided(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		want   outcome
	}{
		"due when it is edited": {nil, outcome{0, "WAITING", entity.TriggerSchedule, 0}},
		"due while paused": {
			func(j *entity.Job) { j.Status, j.DueTime = entity.JobPaused, time.Time{} },
			outcome{0, "SKIPPED(PAUSED)", entity.TriggerSchedule, 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, enginetest.Job("delay", func(j *entity.Job) {
				j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
			}))
			if c.change != nil {
				n.Change(t, job.ID, c.change)
			}
			n.Clock.Advance(5 * time.Second)
			edited, _ := catchUp(t, n, job.ID)
			require.Equal(t, []outcome{c.want}, outcomes(n.Executions(t, job.ID)))
			require.Zero(t, edited.NextFireTime)
			again, _ := catchUp(t, n, job.ID)
			require.Zero(t, again.NextFireTime)
			require.Len(t, n.Executions(t, job.ID), 1)
		})
	}
}
