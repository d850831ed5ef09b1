package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Rule 3: what was due when it was paused is decided; the paused span is one
// row, written when it ends; the rhythm goes on.
func TestAPauseLeavesOneRowForItsSpan(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("pauses", waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000}
	})))
	d.Clock.Advance(15 * time.Second)
	paused, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	require.Equal(t, entity.JobPaused, paused.Status)
	require.Equal(t, noon(15*time.Second), paused.PausedAt)
	require.Equal(t, []string{"WAITING"}, enginetest.States(d.Rows(job.ID)))
	d.After(40 * time.Second)
	require.Len(t, d.Rows(job.ID), 1, "nothing is planned meanwhile")
	again, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	require.Equal(t, paused.Version, again.Version, "a second pause changes nothing")
	resumed, err := d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	rows := d.Rows(job.ID)
	require.Equal(t, []string{"WAITING", "SKIPPED(PAUSED)"}, enginetest.States(rows))
	require.Equal(t, noon(20*time.Second), rows[1].SkipFrom)
	require.Equal(t, 4, rows[1].SkipCount)
	require.Equal(t, noon(60*time.Second), resumed.NextFireTime)
	d.After(5 * time.Second)
	require.Len(t, d.Rows(job.ID), 3)
}

func TestAShortPauseSkipsNothing(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("short", func(j *entity.Job) {
		enginetest.Every(time.Minute)(j)
		j.Schedule.JitterMs = 5000
	}))
	due := d.Job(job.ID).DueTime
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	require.Zero(t, d.Job(job.ID).DueTime)
	d.Clock.Advance(time.Second)
	resumed, err := d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	require.Equal(t, due, resumed.DueTime, "with the jitter that it had")
	require.Empty(t, d.Rows(job.ID))
}

func TestWhatCannotBePausedOrResumedSaysWhy(t *testing.T) {
	d := newDesk(t)
	once := d.Create(enginetest.Job("once", waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Second)}
	})))
	d.After(time.Second)
	_, err := d.Jobs.Pause(t.Context(), once.ID, entity.Pause{})
	requireCode(t, err, apperror.KindConflict, "not_enabled")
	_, err = d.Jobs.Resume(t.Context(), once.ID)
	requireCode(t, err, apperror.KindConflict, "finished")
	for _, call := range []func() error{
		func() error { _, err := d.Jobs.Pause(t.Context(), "nobody", entity.Pause{}); return err },
		func() error { _, err := d.Jobs.Resume(t.Context(), "nobody"); return err },
		func() error { return d.Jobs.Delete(t.Context(), "nobody", 0) },
		func() error {
			_, err := d.Jobs.Trigger(t.Context(), "nobody", jobs.Trigger{Source: entity.TriggerAPI})
			return err
		},
		func() error {
			_, _, err := d.Jobs.NextFireTimes(t.Context(), "nobody", 3, schedule.English)
			return err
		},
	} {
		requireCode(t, call(), apperror.KindNotFound, "not_found")
	}
}

// A ONCE job whose moment passed while it was paused is over when it resumes.
func TestAMomentThatPassedInAPauseIsSkipped(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("once", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Minute)}
	}))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Clock.Advance(time.Hour)
	resumed, err := d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	require.Equal(t, entity.JobFinished, resumed.Status)
	require.Equal(t, []string{"SKIPPED(PAUSED)"}, enginetest.States(d.Rows(job.ID)))
}

// Rule 7: a FIXED_DELAY job that resumes is armed once: by its live run, or at
// once where none is.
func TestAFixedDelayResumesOnce(t *testing.T) {
	for name, live := range map[string]bool{"while a run is live": true, "while none is": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("delay", waiting(func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 5000}
			})))
			if live {
				d.After(5 * time.Second)
				require.Len(t, d.Rows(job.ID), 1)
			}
			_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
			require.NoError(t, err)
			d.Clock.Advance(time.Minute)
			_, err = d.Jobs.Resume(t.Context(), job.ID)
			require.NoError(t, err)
			require.Equal(t, live, d.Job(job.ID).NextFireTime.IsZero())
			require.Equal(t, entity.JobEnabled, d.Job(job.ID).Status)
		})
	}
}

// Rules 3 and 17: deleting settles what is due, and cancels what waits.
func TestADeletedJobLeavesNothingUndecided(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("gone", func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		j.Overlap = entity.OverlapSerial
	}))
	d.Clock.Advance(2500 * time.Millisecond)
	requireCode(t, d.Jobs.Delete(t.Context(), job.ID, 7), apperror.KindPrecondition, "version_mismatch")
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 1))
	require.Equal(t, []string{"CANCELLED(DELETED)", "CANCELLED(DELETED)"}, enginetest.States(d.Rows(job.ID))[:2])
	for _, row := range d.Rows(job.ID) {
		require.True(t, row.Status.Final())
		require.Empty(t, row.Claim)
	}
	_, err := d.Jobs.Get(t.Context(), job.ID)
	requireCode(t, err, apperror.KindNotFound, "not_found")
	rows := len(d.Rows(job.ID))
	d.After(time.Minute)
	require.Len(t, d.Rows(job.ID), rows)
	names, err := d.Executions.Names(t.Context(), []string{job.ID})
	require.NoError(t, err)
	require.Equal(t, "gone", names[job.ID], "its history still knows its name")
}

// Pausing stops planning only; by hand a job runs in every state.
func TestATriggerRunsAJobInEveryState(t *testing.T) {
	for name, prepare := range map[string]func(d *desk, id string) error{
		"enabled": func(*desk, string) error { return nil },
		"paused":  func(d *desk, id string) error { _, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("by hand", enginetest.Every(time.Hour)))
			require.NoError(t, prepare(d, job.ID))
			ids := d.Trigger(job.ID)
			require.Len(t, ids, 1)
			row := d.Execution(t, ids[0])
			require.Equal(t, entity.TriggerManual, row.Trigger)
			require.Equal(t, enginetest.Noon, row.ScheduledTime)
			require.Equal(t, entity.StatusWaiting, row.Status)
			require.Equal(t, 1, d.Calls.PostCommits.Ready)
			require.NotEqual(t, ids, d.Trigger(job.ID), "each call is a fire of its own")
		})
	}
}

func TestATriggerMaySayWhenAndWithWhat(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("sharded", func(j *entity.Job) { j.ShardCount = 3 }))
	ids, err := d.Jobs.Trigger(t.Context(), job.ID, jobs.Trigger{
		Source: entity.TriggerAPI, Params: `{"day":1}`, DelaySec: 60, ScheduledTime: noon(-24 * time.Hour),
	})
	require.NoError(t, err)
	require.Len(t, ids, 3)
	for _, id := range ids {
		row := d.Execution(t, id)
		require.Equal(t, `{"day":1}`, row.Params)
		require.Equal(t, noon(-24*time.Hour), row.ScheduledTime)
		require.Equal(t, noon(time.Minute), row.DueTime)
		until, parked := row.Claim.ScheduledUntil()
		require.True(t, parked)
		require.Equal(t, noon(time.Minute), until)
	}
	for _, delay := range []int{-1, jobs.MaxDelaySec + 1} {
		_, err := d.Jobs.Trigger(t.Context(), job.ID, jobs.Trigger{Source: entity.TriggerAPI, DelaySec: delay})
		requireCode(t, err, apperror.KindInvalid, "invalid")
	}
}

// Rule 16 holds for fires by hand too: the answer names the row that says why
// there is no run.
func TestATriggerThatFindsNoPlaceIsRecorded(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("busy", func(j *entity.Job) { j.Overlap = entity.OverlapDiscard }))
	first, second := d.Trigger(job.ID), d.Trigger(job.ID)
	require.Equal(t, entity.StatusWaiting, d.Execution(t, first[0]).Status)
	require.Equal(t, entity.StatusSkipped, d.Execution(t, second[0]).Status)
	require.Equal(t, entity.ReasonOverlap, d.Execution(t, second[0]).Reason)
}

func TestTheNextFiresArePreviewedFromTheCursor(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("preview", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000}
	}))
	times, text, err := d.Jobs.NextFireTimes(t.Context(), job.ID, 3, schedule.English)
	require.NoError(t, err)
	require.Equal(t, []time.Time{noon(10 * time.Second), noon(20 * time.Second), noon(30 * time.Second)}, times)
	require.Equal(t, "every 10 seconds", text)
	_, err = d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	times, text, err = d.Jobs.NextFireTimes(t.Context(), job.ID, 3, schedule.Chinese)
	require.NoError(t, err)
	require.Empty(t, times)
	require.Equal(t, "每 10 秒", text)
	d.Change(t, job.ID, func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", TimeZone: "Mars/Olympus"}
	})
	times, text, err = d.Jobs.NextFireTimes(t.Context(), job.ID, 3, schedule.English)
	require.NoError(t, err)
	require.Empty(t, times)
	require.Contains(t, text, "time zone")
	delay := d.Create(enginetest.Job("delay", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 10_000}
	}))
	times, _, err = d.Jobs.NextFireTimes(t.Context(), delay.ID, 3, schedule.English)
	require.NoError(t, err)
	require.Len(t, times, 1, "what comes after depends on when the run ends")
}

func TestAScheduleIsPreviewedWithoutAJob(t *testing.T) {
	d := newDesk(t)
	times, text, err := d.Jobs.Preview(t.Context(),
		schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 9 ? * MON-FRI"}, time.Time{}, 2, schedule.English)
	require.NoError(t, err)
	require.Equal(t, []time.Time{
		time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC),
		time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC),
	}, times)
	require.NotEmpty(t, text)
	_, _, err = d.Jobs.Preview(t.Context(), schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 0 30 2 ?"},
		time.Time{}, 2, schedule.English)
	require.True(t, apperror.Is(err, apperror.KindInvalid), "an expression that never fires")
}
