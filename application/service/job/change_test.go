package job_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// jittered is a daily job at 13:00 that is due more than five minutes later.
func (d *desk) jittered() *entity.Job {
	d.T.Helper()
	for i := range 50 {
		job := d.Create(enginetest.Job(fmt.Sprint("jittered ", i), func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.CronExpression, j.Schedule.Dialect, j.Schedule.JitterMs = schedule.Cron, "0 0 13 * * ?",
				"QUARTZ", 600_000
		}))
		if job.DueTime.Sub(job.NextFireTime) > 5*time.Minute {
			return job
		}
	}
	require.Fail(d.T, "no job has so much jitter")
	return nil
}

// Rule 3: a scheduled time that has passed and is not due yet, for its jitter, is
// decided by what changes its schedule.
func TestWhatTheJitterHoldsBackIsDecidedByAnEdit(t *testing.T) {
	d := newDesk(t)
	at := noon(time.Hour)
	for name, c := range map[string]struct {
		change func(job *entity.Job)
		then   []string
		later  []string
	}{
		"another time runs as it was planned": {
			func(job *entity.Job) {
				d.Replace(job.ID, func(j *entity.Job) { j.Schedule.CronExpression = "0 0 14 * * ?" })
			},
			[]string{"WAITING"},
			[]string{"SUCCESS"},
		},
		"no schedule any more, too": {
			func(job *entity.Job) {
				d.Replace(job.ID, func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.None} })
			},
			[]string{"WAITING"},
			[]string{"SUCCESS"},
		},
		"under the same schedule it stays planned": {
			func(job *entity.Job) { d.Replace(job.ID, func(j *entity.Job) { j.Description = "deployed" }) },
			nil,
			[]string{"SUCCESS"},
		},
		"a delete cancels it": {
			func(job *entity.Job) { require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0)) },
			[]string{"CANCELLED(DELETED)"},
			[]string{"CANCELLED(DELETED)"},
		},
		"a pause takes it into its span": {
			func(job *entity.Job) {
				_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
				require.NoError(t, err)
				d.Clock.Advance(time.Second)
				_, err = d.Jobs.Resume(t.Context(), job.ID)
				require.NoError(t, err)
			},
			[]string{"SKIPPED(PAUSED)"},
			[]string{"SKIPPED(PAUSED)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d = newDesk(t)
				d.Start(t)
				job := d.jittered()
				d.FireAt(t, at.Add(time.Minute))
				require.Empty(t, d.Rows(job.ID))
				c.change(job)
				require.Equal(t, c.then, append([]string(nil), enginetest.States(d.Rows(job.ID))...))
				d.FireAt(t, job.DueTime)
				enginetest.Await(t, func() bool {
					_, err := d.Repairs.PromoteScheduled(t.Context())
					require.NoError(t, err)
					rows := d.Rows(job.ID)
					return len(rows) == 1 && enginetest.States(rows)[0] == c.later[0]
				}, "it becomes %s", c.later[0])
				row := d.Rows(job.ID)[0]
				require.Equal(t, at, row.ScheduledTime)
				if row.Status == entity.StatusSuccess {
					require.Equal(t, job.DueTime, row.DueTime)
					require.False(t, row.StartTime.Before(job.DueTime), "never early")
				}
			})
		})
	}
}

// An edit before which many fires of many shards are due records them in
// transactions of about 2,000 runs and loses none of them; one that is cut short
// is repeated.
func TestAnEditBeforeWhichMuchIsDue(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("busy", waiting(func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		j.ShardCount = 500
		j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 60, WindowSec: 60, MaxFires: 100}
	})))
	d.Clock.Advance(12 * time.Second)
	var wrote []string
	d.Faults.Before(func(name string) { wrote = append(wrote, name) })
	d.Faults.Next("job.settle", enginetest.Deadlock)
	next := *d.Job(job.ID)
	next.ShardCount = 1
	cut, cancel := context.WithCancel(t.Context())
	d.Faults.After(func(name string) {
		if name == "job.settle" {
			cancel()
		}
	})
	_, err := d.Jobs.Replace(cut, job.ID, &next, 0, 0)
	require.Error(t, err)
	d.Faults.After(nil)
	edited, err := d.Jobs.Replace(t.Context(), job.ID, &next, 0, 0)
	require.NoError(t, err)
	require.Equal(t, 2, edited.Version)
	require.Equal(t, []string{"job.replaced", "job.settle", "job.replaced", "job.replaced", "job.settle", "job.replaced"},
		wrote)
	for s := 1; s <= 12; s++ {
		runs, err := d.Store.FiresAt(t.Context(), job.ID, []time.Time{noon(time.Duration(s) * time.Second)})
		require.NoError(t, err)
		require.Len(t, runs, 500, "second %d", s)
	}
	require.Equal(t, noon(13*time.Second), edited.NextFireTime)
}

// A pause does not record for long what is due: what one transaction does not
// take is part of the paused span.
func TestAPauseBeforeWhichMuchIsDue(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("busy", waiting(func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		j.ShardCount = 1000
	})))
	d.Clock.Advance(5 * time.Second)
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Clock.Advance(5 * time.Second)
	_, err = d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	entries := d.Fires(job.ID)
	require.Len(t, entries, 3)
	require.Equal(t, []string{"SKIPPED", "8 fires", "9.001", "WAITING"}, []string{
		entries[0].Outcome, fmt.Sprint(entries[0].Count, " fires"),
		fmt.Sprint(entries[0].RangeEnd.Sub(noon(time.Second)).Seconds()), entries[1].Outcome,
	})
}

// A range holds no time that is decided after it: by another schedule, which names
// times between those of the former one, each would have two outcomes.
func TestNoFireOfANewScheduleLiesWithinARangeOfTheFormerOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		skips func(d *desk, id string)
	}{
		{"paused", func(d *desk, id string) {
			_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{})
			require.NoError(d.T, err)
			d.Clock.Advance(25 * time.Second)
			_, err = d.Jobs.Resume(d.T.Context(), id)
			require.NoError(d.T, err)
		}},
		{"missed", func(d *desk, _ string) { d.Clock.Advance(25 * time.Second) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(everyTenSeconds(func(j *entity.Job) {
				j.Misfire = entity.Misfire{Policy: entity.MisfireSkip, ThresholdSec: 1}
			}))
			c.skips(d, job.ID)
			next := *d.Job(job.ID)
			enginetest.Every(time.Second)(&next)
			_, err := d.Jobs.Replace(t.Context(), job.ID, &next, 0, 0)
			require.NoError(t, err)
			d.Clock.Advance(time.Second)
			_, err = d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
			require.NoError(t, err)
			entries := d.Fires(job.ID)
			require.Len(t, entries, 2)
			require.Equal(t, []any{noon(26 * time.Second), "WAITING"}, []any{entries[0].ScheduledTime, entries[0].Outcome})
			require.Equal(t, []any{noon(10 * time.Second), 2, "SKIPPED"}, []any{
				entries[1].ScheduledTime, entries[1].Count,
				entries[1].Outcome,
			})
			require.False(t, entries[1].RangeEnd.After(entries[0].ScheduledTime), "the range ends at %s", entries[1].RangeEnd)
		})
	}
}

// A delete records what one transaction takes, to cancel it, and the rest as one
// range.
func TestADeleteBeforeWhichMuchIsDue(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("busy", waiting(func(j *entity.Job) {
		enginetest.Every(time.Second)(j)
		j.ShardCount = 1000
	})))
	d.Clock.Advance(5 * time.Second)
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	rows, _, err := d.Store.Executions.List(t.Context(), repository.ExecutionFilter{JobID: job.ID},
		repository.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []string{"SKIPPED(DELETED)"}, enginetest.States(rows))
	require.Equal(t, 3, rows[0].SkipCount)
}

// break lets a job's zone leave the zone data, as a scan finds out.
func (d *desk) breakZone(id string) {
	d.T.Helper()
	d.Change(d.T, id, func(j *entity.Job) { j.Schedule.TimeZone = "Mars/Olympus" })
}

// A job whose schedule cannot be read keeps its cursor; who mends it finds the
// span since then as one range (engine rule 3).
func TestABrokenJobGetsARangeWhenItIsMended(t *testing.T) {
	hourly := func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.CronExpression, j.Schedule.Dialect = schedule.Cron, "0 0 * * * ?", "QUARTZ"
	}
	for name, c := range map[string]struct {
		mend    func(d *desk, id string)
		count   int
		atLeast bool
		from    time.Duration
	}{
		"its zone is there again, and it is resumed": {func(d *desk, id string) {
			d.Change(d.T, id, func(j *entity.Job) { j.Schedule.TimeZone = "UTC" })
			_, err := d.Jobs.Resume(d.T.Context(), id)
			require.NoError(d.T, err)
		}, 3, false, 2 * time.Hour},
		"an edit gives it another zone": {func(d *desk, id string) {
			d.Replace(id, func(j *entity.Job) { j.Schedule.TimeZone = "Europe/Berlin" })
			_, err := d.Jobs.Resume(d.T.Context(), id)
			require.NoError(d.T, err)
		}, 0, true, time.Hour + time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("breaks", waiting(hourly)))
			d.breakZone(job.ID)
			d.After(time.Hour)
			require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(d.Rows(job.ID)))
			broken := d.Job(job.ID)
			require.Equal(t, entity.JobPaused, broken.Status)
			require.Contains(t, broken.Pause.Reason, "timeZone")
			require.Equal(t, noon(time.Hour+time.Millisecond), broken.NextFireTime, "what comes after is not decided")
			_, err := d.Jobs.Resume(t.Context(), job.ID)
			requireCode(t, err, apperror.KindInvalid, "invalid")
			d.After(3*time.Hour + time.Minute)
			require.Len(t, d.Rows(job.ID), 1)
			c.mend(d, job.ID)
			rows := d.Rows(job.ID)
			require.Equal(t, []string{"FAILED(INVALID)", "SKIPPED(PAUSED)"}, enginetest.States(rows))
			require.Equal(t, []any{c.count, c.atLeast, noon(c.from)},
				[]any{rows[1].SkipCount, rows[1].SkipAtLeast, rows[1].SkipFrom})
			require.Contains(t, rows[1].ErrorMessage, "the job cannot be planned")
			require.Equal(t, noon(5*time.Hour), d.Job(job.ID).NextFireTime)
			entries := d.Fires(job.ID)
			require.Equal(t, c.atLeast, entries[0].CountAtLeast)
			require.False(t, entries[0].RangeEnd.IsZero())
		})
	}
}

// An edit mends a broken job also before the planner has found it out, and
// whatever is due then is recorded as the planner would.
func TestABrokenJobIsMendedBeforeItIsPaused(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("breaks", waiting(enginetest.Every(time.Minute))))
	d.breakZone(job.ID)
	d.Replace(job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "UTC" })
	require.Empty(t, d.Rows(job.ID), "nothing was due")
	d.breakZone(job.ID)
	d.Clock.Advance(90 * time.Second)
	mended := d.Replace(job.ID, func(j *entity.Job) { j.Schedule.TimeZone = "UTC" })
	require.Equal(t, []string{"FAILED(INVALID)", "SKIPPED(MISFIRE)"}, enginetest.States(d.Rows(job.ID)))
	require.Equal(t, entity.JobEnabled, mended.Status)
	require.True(t, mended.NextFireTime.After(noon(90*time.Second)))
	once := d.Create(enginetest.Job("once", waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(100 * time.Second)}
	})))
	d.breakZone(once.ID)
	d.After(time.Minute)
	d.Change(t, once.ID, func(j *entity.Job) { j.Schedule.TimeZone = "UTC" })
	resumed, err := d.Jobs.Resume(t.Context(), once.ID)
	require.NoError(t, err)
	require.Equal(t, entity.JobFinished, resumed.Status)
	require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(d.Rows(once.ID)), "its one time is decided")
}

// fires is the past of a job's ledger, newest first. Rule 17: every waiting run of a
// deleted job is cancelled, also one that waits for a far moment or for its next
// attempt, of every kind of job.
func TestADeleteCancelsWhatWaitsForAMoment(t *testing.T) {
	for name, overlap := range map[string]entity.OverlapPolicy{
		"plain":       entity.OverlapParallel,
		"coordinated": entity.OverlapSerial,
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				t := d.T
				d.Start(t)
				d.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonExitCode, "no")))
				job := d.Create(enginetest.Job("job", func(j *entity.Job) {
					j.Overlap = overlap
					j.Retry = entity.RetryPolicy{MaxRetries: 3, Backoff: entity.BackoffFixed, IntervalMs: 3_600_000}
				}))
				other := d.Create(enginetest.Job("other", nil))
				failing := d.Trigger(job.ID)[0]
				enginetest.Await(t, func() bool {
					return d.Execution(t, failing).Attempt == 1 && d.Execution(t, failing).Status == entity.StatusWaiting
				}, "it waits for its next attempt")
				month := jobs.Trigger{Source: entity.TriggerManual, DelaySec: 30 * 24 * 3600}
				delayed, err := d.Jobs.Trigger(t.Context(), job.ID, month)
				require.NoError(t, err)
				kept, err := d.Jobs.Trigger(t.Context(), other.ID, month)
				require.NoError(t, err)
				require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
				for _, id := range append(delayed, failing) {
					require.Equal(t, []string{"CANCELLED(DELETED)"}, enginetest.States([]*entity.Execution{d.Execution(t, id)}))
				}
				require.Equal(t, entity.StatusWaiting, d.Execution(t, kept[0]).Status)
			})
		})
	}
}
