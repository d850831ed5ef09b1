package job_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Each kind of schedule is planned from the moment of its creation.
func TestACreatedJobIsPlannedByItsSchedule(t *testing.T) {
	for name, c := range map[string]struct {
		spec schedule.Spec
		next time.Time
	}{
		"cron":        {schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0/5 * * * ?"}, noon(5 * time.Minute)},
		"fixed rate":  {schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 7000}, noon(7 * time.Second)},
		"fixed delay": {schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 7000}, noon(7 * time.Second)},
		"once":        {schedule.Spec{Kind: schedule.Once, At: noon(time.Hour)}, noon(time.Hour)},
		"none":        {schedule.Spec{Kind: schedule.None}, time.Time{}},
		"not yet": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 7000, StartTime: noon(time.Hour)},
			noon(time.Hour),
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			created := d.Create(enginetest.Job(name, func(j *entity.Job) { j.Schedule = c.spec }))
			stored := d.Job(created.ID)
			require.Equal(t, created, stored, "what is answered is what is stored")
			require.Equal(t, entity.JobEnabled, stored.Status)
			require.Equal(t, 1, stored.Version)
			require.Equal(t, entity.PartitionOf(stored.ID), stored.Partition)
			if name == "not yet" {
				require.False(t, stored.NextFireTime.Before(c.next), "%s", stored.NextFireTime)
			} else {
				require.Equal(t, c.next, stored.NextFireTime)
			}
			require.Equal(t, stored.NextFireTime, stored.DueTime)
			require.Len(t, d.Calls.Changed, 1, "the engine is told")
			events := d.Events(t)
			require.Len(t, events, 1)
			require.Equal(t, "job.created", events[0].Type)
		})
	}
}

func TestAJobThatIsCreatedDisabledHasNoPlanUntilItIsResumed(t *testing.T) {
	d := newDesk(t)
	created, err := d.Jobs.Create(t.Context(), enginetest.Job("later", enginetest.Every(time.Second)), false)
	require.NoError(t, err)
	require.Equal(t, entity.JobCreated, d.Job(created.ID).Status)
	d.After(time.Minute)
	require.Empty(t, d.Rows(created.ID))
	_, err = d.Jobs.Resume(t.Context(), created.ID)
	require.NoError(t, err)
	require.Equal(t, noon(61*time.Second), d.Job(created.ID).NextFireTime, "its interval counts from now")
	d.After(time.Second)
	require.Len(t, d.Rows(created.ID), 1)
}

// All mistakes are said at once, and nothing is stored.
func TestAWrongDefinitionNamesAllItsFieldsAndStoresNothing(t *testing.T) {
	d := newDesk(t)
	_, err := d.Jobs.Create(t.Context(), enginetest.Job("", func(j *entity.Job) {
		j.Class, j.Priority, j.Schedule = "unknown", 11, schedule.Spec{Kind: schedule.Cron, CronExpression: "61 * * * * ?"}
	}), true)
	var f *apperror.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, apperror.KindInvalid, f.Kind)
	named := map[string]bool{}
	for _, field := range f.Fields {
		named[field.Field] = true
		require.NotEmpty(t, field.Message)
	}
	for _, field := range []string{"name", "jobClass", "priority", "schedule.cronExpression"} {
		require.True(t, named[field], "%s in %v", field, named)
	}
	jobs, _, err := d.Jobs.List(t.Context(), repository.JobFilter{}, repository.Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, jobs)
	require.Empty(t, d.Calls.Changed)
	require.Empty(t, d.Events(t))
}

func TestANameIsTakenUntilItsJobIsDeleted(t *testing.T) {
	d := newDesk(t)
	first := d.Create(enginetest.Job("Nightly", nil))
	_, err := d.Jobs.Create(t.Context(), enginetest.Job("Nightly", nil), true)
	requireCode(t, err, apperror.KindConflict, "name_taken")
	d.Create(enginetest.Job("Nightly", func(j *entity.Job) { j.Group = "other" }))
	require.NoError(t, d.Jobs.Delete(t.Context(), first.ID, 0))
	d.Create(enginetest.Job("Nightly", nil))
}

// Rule 3: under an unchanged schedule the cursor goes on; a changed one is
// planned anew from now, never back into decided time.
func TestAnEditPlansAnewOnlyWhatItChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		next   time.Time
	}{
		"another name":     {func(j *entity.Job) { j.Name = "renamed" }, noon(20 * time.Second)},
		"another priority": {func(j *entity.Job) { j.Priority = 9 }, noon(20 * time.Second)},
		"another interval": {func(j *entity.Job) { j.Schedule.IntervalMs = 4000 }, noon(19 * time.Second)},
		"a shorter one":    {func(j *entity.Job) { j.Schedule.IntervalMs = 1000 }, noon(16 * time.Second)},
		"another kind": {func(j *entity.Job) {
			j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Hour)}
		}, noon(time.Hour)},
		"no schedule":          {func(j *entity.Job) { j.Schedule = schedule.Spec{Kind: schedule.None} }, time.Time{}},
		"jitter moves no plan": {func(j *entity.Job) { j.Misfire.ThresholdSec = 3 }, noon(20 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("edited", waiting(func(j *entity.Job) {
				j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000}
			})))
			d.Clock.Advance(15 * time.Second) // noon+10 s is due and undecided
			replaced := d.Replace(job.ID, c.change)
			stored := d.Job(job.ID)
			require.Equal(t, replaced, stored)
			require.Equal(t, 2, stored.Version)
			require.Equal(t, c.next, stored.NextFireTime)
			rows := d.Rows(job.ID)
			require.Len(t, rows, 1, "what was due is settled")
			require.Equal(t, noon(10*time.Second), rows[0].ScheduledTime)
			require.Equal(t, 1, rows[0].JobVersion, "under the definition that it had")
		})
	}
}

// An older release took labels of any size. A job that has such keeps them through edits, but gets no others.
func TestLabelsOfAnOlderReleaseStay(t *testing.T) {
	d := newDesk(t)
	fat := map[string]string{}
	for i := range 64 {
		fat[fmt.Sprint("l", i)] = strings.Repeat("<", 255)
	}
	job := d.Add(t, enginetest.Job("fat", func(j *entity.Job) { j.Labels = fat }))
	require.Equal(t, fat, d.Replace(job.ID, func(j *entity.Job) { j.Priority = 9 }).Labels)
	edited := *d.Job(job.ID)
	edited.Labels = maps.Clone(fat)
	edited.Labels["l0"] = strings.Repeat(">", 255)
	_, err := d.Jobs.Replace(t.Context(), job.ID, &edited, edited.Version, 0)
	require.ErrorContains(t, err, "labels")
	require.Equal(t, 2, d.Job(job.ID).Version)
}

func TestAnEditOfAPausedJobLeavesItPaused(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("paused", enginetest.Every(time.Second)))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Clock.Advance(10 * time.Second)
	d.Replace(job.ID, func(j *entity.Job) { j.Schedule.IntervalMs = 2000 })
	stored := d.Job(job.ID)
	require.Equal(t, entity.JobPaused, stored.Status)
	require.Zero(t, stored.DueTime)
	require.Equal(t, []string{"SKIPPED(PAUSED)"}, enginetest.States(d.Rows(job.ID)),
		"the span under the old schedule is one row")
	d.After(time.Minute)
	require.Len(t, d.Rows(job.ID), 1)
}

// The version that was edited guards against edits that were not seen.
func TestAStaleEditIsRefused(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("versions", nil))
	d.Replace(job.ID, func(j *entity.Job) { j.Priority = 6 })
	next := *d.Job(job.ID)
	_, err := d.Jobs.Replace(t.Context(), job.ID, &next, 1, 0)
	requireCode(t, err, apperror.KindConflict, "stale_version")
	_, err = d.Jobs.Replace(t.Context(), job.ID, &next, 0, 1)
	requireCode(t, err, apperror.KindPrecondition, "version_mismatch")
	_, err = d.Jobs.Replace(t.Context(), job.ID, &next, 2, 2)
	require.NoError(t, err)
	_, err = d.Jobs.Replace(t.Context(), "01930000-0000-7000-8000-000000000000", &next, 0, 0)
	requireCode(t, err, apperror.KindNotFound, "not_found")
	require.Equal(t, 3, d.Job(job.ID).Version)
}

// Of two edits of one version one wins, on every store.
func TestOfTwoEditsAtOnceOneWins(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("contended", enginetest.Every(time.Second)))
		var wg sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			next := *job
			next.Priority = 1 + i
			wg.Go(func() { _, results[i] = d.Jobs.Replace(d.T.Context(), job.ID, &next, 1, 0) })
		}
		wg.Wait()
		won := 0
		for i, err := range results {
			if err == nil {
				won++
				require.Equal(d.T, 1+i, d.Job(job.ID).Priority)
				continue
			}
			requireCode(d.T, err, apperror.KindConflict, "stale_version")
		}
		require.Equal(d.T, 1, won)
		require.Equal(d.T, 2, d.Job(job.ID).Version)
	})
}

// A job that has fired for the last time may still be renamed, and starts
// again with a new schedule.
func TestAFinishedJobMayBeEdited(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("once", waiting(func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Once, At: noon(time.Second)}
	})))
	d.After(time.Second)
	require.Equal(t, entity.JobFinished, d.Job(job.ID).Status)
	d.Clock.Advance(time.Hour)
	d.Replace(job.ID, func(j *entity.Job) { j.Name = "once upon a time" })
	require.Equal(t, entity.JobFinished, d.Job(job.ID).Status)
	d.Replace(job.ID, func(j *entity.Job) { j.Schedule.At = noon(2 * time.Hour) })
	require.Equal(t, entity.JobEnabled, d.Job(job.ID).Status)
	require.Equal(t, noon(2*time.Hour), d.Job(job.ID).NextFireTime)
}

// A clock that went back does not lead into time that was decided already.
func TestAnEditNeverPlansIntoDecidedTime(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("clock", waiting(enginetest.Every(time.Minute))))
	d.After(time.Minute)
	d.Clock.Jump(-30 * time.Minute)
	d.Replace(job.ID, func(j *entity.Job) { j.Schedule.IntervalMs = 30_000 })
	require.True(t, d.Job(job.ID).NextFireTime.After(noon(time.Minute)), "%s", d.Job(job.ID).NextFireTime)
}

// What the store does not take is not half done, and is said to be the
// store's trouble.
func TestAStoreThatIsAwayIsSaidToBe(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("stays", enginetest.Every(time.Second)))
	told := len(d.Calls.Changed)
	d.Faults.Away(true)
	next := *job
	_, err := d.Jobs.Replace(t.Context(), job.ID, &next, 0, 0)
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	_, err = d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.True(t, apperror.Is(d.Jobs.Delete(t.Context(), job.ID, 0), apperror.KindUnavailable))
	_, err = d.Jobs.Create(t.Context(), enginetest.Job("new", nil), true)
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	d.Faults.Away(false)
	require.Equal(t, job, d.Job(job.ID))
	require.Len(t, d.Calls.Changed, told, "nobody is told of what did not happen")
	d.Faults.Next("job.replaced", enginetest.LostReply)
	_, err = d.Jobs.Replace(t.Context(), job.ID, &next, 0, 0)
	require.True(t, errors.Is(err, repository.ErrCommitUnknown), "%v", err)
}
