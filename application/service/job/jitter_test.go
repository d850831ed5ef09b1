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

// A jitter moves no scheduled time, so that nobody asks for a time to come: neither of a job that is over, nor of one
// whose last time has passed and is not due yet.
func TestAJobWithoutATimeToComeMayGetAnotherJitter(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("once", waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Hour), JitterMs: 3_600_000}
	})))
	due := d.Job(job.ID).DueTime
	require.True(t, due.After(noon(time.Hour)), "its id has a jitter")
	d.Clock.Jump(time.Hour)
	edited := d.Replace(job.ID, func(j *entity.Job) { j.Schedule.JitterMs = 7_200_000 })
	require.Equal(t, entity.JobFinished, edited.Status)
	require.Len(t, d.Rows(job.ID), 1)
	require.Equal(t, due, d.Rows(job.ID)[0].DueTime, "as it was planned")
	d.Clock.Jump(3 * time.Hour)
	require.Equal(t, entity.JobFinished, d.Replace(job.ID, func(j *entity.Job) { j.Schedule.JitterMs = 0 }).Status)
	next := *d.Job(job.ID)
	next.Schedule.TimeZone = "Asia/Shanghai"
	_, err := d.Jobs.Replace(t.Context(), job.ID, &next, 0, 0)
	require.ErrorContains(t, err, "lies in the past")
	require.Len(t, d.Rows(job.ID), 1)
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

// A fixed delay is not counted anew where its end, its zone or what its kind does not use is edited.
func TestADelayIsCountedAnewOnlyWhereItIsAnother(t *testing.T) {
	daily := func(d *desk) *entity.Job {
		return d.Create(enginetest.Job("delay", waiting(func(j *entity.Job) {
			j.Schedule = schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 86_400_000}
		})))
	}
	end := func(j *entity.Job) { j.Schedule.EndTime = noon(72 * time.Hour) }
	for name, c := range map[string]struct {
		edit func(j *entity.Job)
		next time.Duration
	}{
		"an end":           {end, 24 * time.Hour},
		"a zone":           {func(j *entity.Job) { j.Schedule.TimeZone = "Asia/Shanghai" }, 24 * time.Hour},
		"an expression":    {func(j *entity.Job) { j.Schedule.CronExpression = "0 0 1 * * ?" }, 24 * time.Hour},
		"an end, a jitter": {func(j *entity.Job) { end(j); j.Schedule.JitterMs = 9 }, 24 * time.Hour},
		"another delay":    {func(j *entity.Job) { j.Schedule.IntervalMs = 7_200_000 }, 25 * time.Hour},
		"a first time":     {func(j *entity.Job) { j.Schedule.StartTime = noon(36 * time.Hour) }, 36 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := daily(d)
			d.Clock.Advance(23 * time.Hour)
			edited := d.Replace(job.ID, c.edit)
			require.Equal(t, noon(c.next), edited.NextFireTime)
			require.Equal(t, entity.JobEnabled, edited.Status)
		})
	}
	d := newDesk(t)
	job := daily(d)
	d.After(24 * time.Hour)
	require.Zero(t, d.Replace(job.ID, end).NextFireTime, "its run is not over")
	d.Clock.Advance(time.Hour)
	d.end(job.ID)
	require.Equal(t, noon(49*time.Hour), d.Job(job.ID).NextFireTime)
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
