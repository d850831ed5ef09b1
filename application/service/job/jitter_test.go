package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Scheduled times stay what they are when a jitter is edited (docs/schedules.md): also those that count from when the
// schedule was made. Each job was made at noon.
func TestAJitterMovesNoScheduledTime(t *testing.T) {
	rate := func(ms int64) schedule.Spec { return schedule.Spec{Kind: schedule.FixedRate, IntervalMs: ms} }
	for name, c := range map[string]struct {
		spec schedule.Spec
		next time.Duration
	}{
		"a rate of an hour": {rate(3_600_000), time.Hour},
		"a daily rate":      {rate(86_400_000), 24 * time.Hour},
		"a rate with a time": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 3_600_000, StartTime: noon(30 * time.Minute)},
			30 * time.Minute,
		},
		"every hour":         {schedule.Spec{Kind: schedule.Cron, CronExpression: "@every 1h"}, time.Hour},
		"a delay of an hour": {schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 3_600_000}, time.Hour},
		"a cron": {
			schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", Dialect: "QUARTZ"}, time.Hour,
		},
		"once": {schedule.Spec{Kind: schedule.Once, At: noon(time.Hour)}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("job", waiting(func(j *entity.Job) { j.Schedule = c.spec })))
			require.Equal(t, noon(c.next), job.NextFireTime)
			for range 2 { // also the second time
				d.Clock.Advance(4 * time.Second)
				edited := d.Replace(job.ID, func(j *entity.Job) { j.Schedule.JitterMs += 60_000 })
				require.Equal(t, noon(c.next), edited.NextFireTime)
				sched, err := d.Schedules.Compile(edited.Schedule)
				require.NoError(t, err)
				require.Equal(t, noon(c.next).Add(sched.Jitter(job.ID)), edited.DueTime)
			}
			_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
			require.NoError(t, err)
			d.Clock.Advance(4 * time.Second)
			require.Equal(t, noon(c.next), d.Replace(job.ID, func(j *entity.Job) { j.Schedule.JitterMs = 1 }).NextFireTime)
			resumed, err := d.Jobs.Resume(t.Context(), job.ID)
			require.NoError(t, err)
			require.Equal(t, noon(c.next), resumed.NextFireTime)
		})
	}
}

// An edit of other fields leaves the rhythm as it is, and another interval counts from the edit.
func TestARateCountsFromWhenItGotItsInterval(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(j *entity.Job)
		next time.Duration
	}{
		"an end":           {func(j *entity.Job) { j.Schedule.EndTime = noon(48 * time.Hour) }, time.Hour},
		"a zone":           {func(j *entity.Job) { j.Schedule.TimeZone = "Asia/Shanghai" }, time.Hour},
		"another interval": {func(j *entity.Job) { j.Schedule.IntervalMs = 7_200_000 }, 2*time.Hour + 4*time.Second},
		"another kind": {
			func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "@every 1h"} },
			time.Hour + 4*time.Second,
		},
		"a first time": {func(j *entity.Job) { j.Schedule.StartTime = noon(90 * time.Minute) }, 90 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("job", waiting(func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 3_600_000}
			})))
			d.Clock.Advance(4 * time.Second)
			require.Equal(t, noon(c.next), d.Replace(job.ID, c.edit).NextFireTime)
		})
	}
}

// A fixed delay whose jitter is edited while it runs goes on when that run has ended (engine rule 7).
func TestAFixedDelayGoesOnAfterAnotherJitter(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("delay", waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 60_000}
	})))
	d.After(time.Minute)
	require.Zero(
		t,
		d.Replace(job.ID, func(j *entity.Job) { j.Schedule.JitterMs = 5000 }).NextFireTime,
		"its run is not over",
	)
	d.Clock.Advance(10 * time.Second)
	d.end(job.ID)
	require.Equal(t, noon(130*time.Second), d.Job(job.ID).NextFireTime)
}
