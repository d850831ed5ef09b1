package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// minutely fires as each minute begins; what is missed by more than a second is skipped.
func minutely(j *entity.Job) {
	j.Schedule = schedule.Spec{
		Kind: schedule.Cron, CronExpression: "0 * * * * ?", Dialect: "QUARTZ", TimeZone: "UTC",
	}
	j.Misfire = entity.Misfire{Policy: entity.MisfireSkip, ThresholdSec: 1}
}

// passes lets a span pass in steps in which each fire is on time.
func (d *desk) passes(span time.Duration) {
	d.T.Helper()
	for range int(span / (30 * time.Second)) {
		d.After(30 * time.Second)
	}
}

func (d *desk) pauseAndResume(id string, between time.Duration) {
	d.T.Helper()
	_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{})
	require.NoError(d.T, err)
	d.Clock.Jump(between)
	_, err = d.Jobs.Resume(d.T.Context(), id)
	require.NoError(d.T, err)
}

// onceDecided requires that no time of a job has two outcomes, be it two fires, two ranges, or a fire within a range.
func (d *desk) onceDecided(id string) {
	d.T.Helper()
	var ends time.Time
	rows := d.Rows(id)
	for i, row := range rows {
		require.False(d.T, row.ScheduledTime.Before(ends), "%s lies within the range that ends at %s: %v",
			row.ScheduledTime, ends, enginetest.States(rows))
		if row.IsRange() {
			ends = row.SkipTo
		}
		if i > 0 {
			require.True(d.T, rows[i-1].ScheduledTime.Before(row.ScheduledTime), "%s is decided twice", row.ScheduledTime)
		}
	}
	require.Zero(d.T, d.Counts.Of(func(c *enginetest.Counts) int { return c.Duplicates }), "a fire was recorded before")
}

// Rule 3: no time is decided again, whatever is edited and however the clock moves. Each case decides the time up to
// 12:32, while the clock is half an hour ahead. Then the clock is right again and somebody edits the job.
func TestATimeIsDecidedOnce(t *testing.T) {
	const ahead = 30 * time.Minute
	skipped := func(d *desk, _ string) { d.Clock.Jump(ahead); d.Fire(d.T) }
	toCron := func(d *desk, id string) { d.Replace(id, minutely) }
	toNone := func(d *desk, id string) {
		d.Replace(id, func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.None} })
	}
	jitter := func(d *desk, id string) { d.Replace(id, func(j *entity.Job) { j.Schedule.JitterMs = 2000 }) }
	faster := func(d *desk, id string) {
		d.Replace(id, func(j *entity.Job) { j.Schedule.CronExpression = "0/30 * * * * ?" })
	}
	for name, c := range map[string]struct {
		job          func(j *entity.Job)
		decide, edit func(d *desk, id string)
	}{
		"a skipped range, then another jitter":     {minutely, skipped, jitter},
		"a skipped range, then another expression": {minutely, skipped, faster},
		"a skipped range, then another zone": {minutely, skipped, func(d *desk, id string) {
			d.Replace(id, func(j *entity.Job) { j.Schedule.TimeZone = "Asia/Shanghai" })
		}},
		"a skipped range, then none and a cron again": {minutely, skipped, func(d *desk, id string) {
			toNone(d, id)
			toCron(d, id)
		}},
		"a skipped range, then an edit while it is paused": {minutely, skipped, func(d *desk, id string) {
			_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{})
			require.NoError(d.T, err)
			faster(d, id)
			_, err = d.Jobs.Resume(d.T.Context(), id)
			require.NoError(d.T, err)
		}},
		"a skipped range, then a fixed rate": {minutely, skipped, func(d *desk, id string) {
			d.Replace(id, func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 60_000, StartTime: noon(0)}
			})
		}},
		"a skipped range, then a deletion that is taken back": {minutely, skipped, func(d *desk, id string) {
			require.NoError(d.T, d.Jobs.Delete(d.T.Context(), id, 0))
			_, err := d.Jobs.Undelete(d.T.Context(), id, "ann", func(*entity.Job) error { return nil })
			require.NoError(d.T, err)
			_, err = d.Jobs.Resume(d.T.Context(), id)
			require.NoError(d.T, err)
		}},
		"a paused range": {minutely, func(d *desk, id string) { d.pauseAndResume(id, ahead) }, faster},
		"a range of a paused group": {minutely, func(d *desk, _ string) {
			_, err := d.Groups.Pause(d.T.Context(), "default", entity.Pause{})
			require.NoError(d.T, err)
			d.Clock.Jump(ahead)
			_, err = d.Groups.Resume(d.T.Context(), "default")
			require.NoError(d.T, err)
		}, faster},
		"an edit that decides what is " +
			"due": {minutely, func(d *desk, id string) { d.Clock.Jump(ahead); faster(d, id) }, toCron},
		"fires of each": {func(j *entity.Job) {
			minutely(j)
			j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 86_400, MaxFires: 100}
		}, skipped, faster},
		"a range, and the fire behind it": {func(j *entity.Job) {
			minutely(j)
			j.Misfire = entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 1, WindowSec: 86_400}
		}, skipped, faster},
		"the one time of a job": {func(j *entity.Job) {
			minutely(j)
			j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(20 * time.Minute)}
		}, skipped, toCron},
		"the last times of a job": {func(j *entity.Job) {
			minutely(j)
			j.Schedule.EndTime = noon(20 * time.Minute)
		}, skipped, func(d *desk, id string) {
			d.Replace(id, func(j *entity.Job) { j.Schedule.EndTime = time.Time{} })
		}},
		"a coordinated job": {func(j *entity.Job) { minutely(j); j.Overlap = entity.OverlapSerial }, skipped, faster},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("minutely", waiting(c.job)))
			d.passes(2*time.Minute + 30*time.Second)
			c.decide(d, job.ID)
			decided := d.Job(job.ID).Decided()
			d.Clock.Jump(-ahead)
			c.edit(d, job.ID)
			next := d.Job(job.ID).NextFireTime
			require.True(t, next.After(decided), "the next time %s is not behind %s", next, decided)
			d.passes(ahead + 5*time.Minute)
			d.onceDecided(job.ID)
			rows := d.Rows(job.ID)
			require.Greater(t, rows[len(rows)-1].ScheduledTime, noon(36*time.Minute), "it goes on")
		})
	}
}

// A jitter moves no scheduled time, also not one to come.
func TestAnotherJitterKeepsTheCursor(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("minutely", waiting(minutely)))
	d.passes(2*time.Minute + 30*time.Second)
	d.Clock.Jump(-2 * time.Hour)
	edited := d.Replace(job.ID, func(j *entity.Job) { j.Schedule.JitterMs = 1 })
	require.Equal(t, noon(3*time.Minute), edited.NextFireTime)
}

// A fixed delay counts from the end of its run, and from the last decided time where the clock was set back meanwhile.
func TestAFixedDelayDecidesNothingTwice(t *testing.T) {
	for name, end := range map[string]func(d *desk, id string){
		"its run ends": func(d *desk, id string) { d.end(id) },
		"the sweep arms it": func(d *desk, id string) {
			d.Change(d.T, id, func(j *entity.Job) { j.Version++ }) // of a schedule that nobody knows
			d.end(id)
			_, err := d.Repairs.SweepSlots(d.T.Context())
			require.NoError(d.T, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("delay", waiting(func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 60_000}
			})))
			d.After(time.Minute)
			require.Len(t, d.Rows(job.ID), 1)
			d.Clock.Jump(-10 * time.Minute)
			end(d, job.ID)
			require.Equal(t, noon(2*time.Minute), d.Job(job.ID).NextFireTime)
		})
	}
}

// end ends the run of a job, and stores what follows.
func (d *desk) end(id string) {
	d.T.Helper()
	rows := d.Rows(id)
	require.NoError(d.T, d.Executions.Cancel(d.T.Context(), rows[len(rows)-1].ID))
}

// A schedule of which every time is decided, although the clock names it as to come, would never fire.
func TestAnEditIntoDecidedTimeIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spec  schedule.Spec
		field string
	}{
		"once": {schedule.Spec{Kind: schedule.Once, At: noon(20 * time.Minute)}, "schedule.at"},
		"a rate that ends": {schedule.Spec{
			Kind: schedule.FixedRate, IntervalMs: 60_000,
			EndTime: noon(20 * time.Minute),
		}, "schedule.endTime"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("minutely", waiting(minutely)))
			d.Clock.Jump(30 * time.Minute)
			d.Fire(t)
			d.Clock.Jump(-30 * time.Minute)
			next := *d.Job(job.ID)
			next.Schedule = c.spec
			_, err := d.Jobs.Replace(t.Context(), job.ID, &next, 0, 0)
			var invalid *apperror.Error
			require.ErrorAs(t, err, &invalid)
			require.True(t, slices.ContainsFunc(invalid.Fields, func(f apperror.Field) bool {
				return f.Field == c.field && f.Code == schedule.CodeInPast
			}), "%+v", invalid.Fields)
			require.Equal(t, 1, d.Job(job.ID).Version)
		})
	}
}

// A user who edits a schedule between the scheduled and the due time of a fire sees that fire as the last one.
func TestTheLastFireIsAlsoThatOfAnEdit(t *testing.T) {
	for name, edit := range map[string]func(j *entity.Job){
		"another expression": func(j *entity.Job) { j.Schedule.CronExpression = "0 0 14 * * ?" },
		"another jitter":     func(j *entity.Job) { j.Schedule.JitterMs++ },
		"none":               func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.None} },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.jittered()
			d.FireAt(t, noon(time.Hour+time.Minute))
			edited := d.Replace(job.ID, edit)
			require.Len(t, d.Rows(job.ID), 1)
			require.Equal(t, noon(time.Hour), edited.LastFireTime)
			require.Equal(t, noon(time.Hour), d.Job(job.ID).LastFireTime)

			// A clock that is set back shows the same time again.
			d.Clock.Jump(-time.Hour)
			d.Replace(job.ID, func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 13 * * ?", Dialect: "QUARTZ", TimeZone: "UTC"}
			})
			d.FireAt(t, noon(90*time.Minute))
			require.Len(t, d.Rows(job.ID), 1)
			d.onceDecided(job.ID)
		})
	}
}
