package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func may(*entity.Job) error { return nil }

// A deleted job comes back as it was, but paused; once resumed, each planned fire since has an outcome.
func TestADeletedJobComesBack(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(everyTenSeconds(nil))
		d.After(10 * time.Second)
		before := d.Job(job.ID)
		runs := len(d.Rows(job.ID))
		require.Positive(t, runs)
		require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
		d.After(30 * time.Second)
		require.Len(t, d.Rows(job.ID), runs, "nothing fires")

		back, err := d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
		require.NoError(t, err)
		require.Equal(t, back, d.Job(job.ID))
		require.Equal(t, entity.JobPaused, back.Status)
		require.Equal(t, "ann", back.Pause.User)
		require.Equal(t, before.Version+2, back.Version)
		back.Version, back.UpdateTime = before.Version, before.UpdateTime
		require.Equal(t, before.Name, back.Name)
		require.Equal(t, before.Schedule, back.Schedule)
		require.Equal(t, before.Routing, back.Routing)
		d.After(30 * time.Second)
		require.Len(t, d.Rows(job.ID), runs, "it is paused")

		_, err = d.Jobs.Resume(t.Context(), job.ID)
		require.NoError(t, err)
		d.After(10 * time.Second)
		rows := d.Rows(job.ID)
		var skipped *entity.Execution
		for _, row := range rows {
			if row.IsRange() {
				skipped = row
			}
		}
		require.NotNil(t, skipped, "the fires since the deletion are a skipped range")
		require.Equal(t, entity.ReasonPaused, skipped.Reason)
		require.Equal(t, 6, skipped.SkipCount)
		versions, _, err := d.Jobs.History(t.Context(), job.ID, repository.Page{Limit: 10})
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(versions), 3)
	})
}

func TestAJobThatIsThereOrWhoseNameIsTakenDoesNotComeBack(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("once", nil))
	_, err := d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
	requireCode(t, err, apperror.KindNotFound, "not_found")
	_, err = d.Jobs.Undelete(t.Context(), "nobody", "ann", may)
	requireCode(t, err, apperror.KindNotFound, "not_found")
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	refused := errors.New("not yours")
	_, err = d.Jobs.Undelete(t.Context(), job.ID, "ann", func(*entity.Job) error { return refused })
	require.ErrorIs(t, err, refused)
	other := d.Create(enginetest.Job("once", nil))
	_, err = d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
	requireCode(t, err, apperror.KindConflict, "name_taken")
	require.NoError(t, d.Jobs.Delete(t.Context(), other.ID, 0))
	_, err = d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
	require.NoError(t, err)
}

// outcomes are how many runs and skipped fires a job has between two moments.
func (d *desk) outcomes(id string, from, to time.Time) (n int) {
	d.T.Helper()
	for _, row := range d.Rows(id) {
		switch {
		case row.IsRange() && !row.SkipFrom.Before(from) && row.SkipFrom.Before(to):
			n += row.SkipCount
		case !row.IsRange() && !row.ScheduledTime.Before(from) && row.ScheduledTime.Before(to):
			n++
		}
	}
	return n
}

// However the job was paused before it was deleted, it is paused by its deletion afterwards: nothing fires before a
// user resumes it, and each planned fire has one outcome then.
func TestAPausedJobThatWasDeletedComesBackPaused(t *testing.T) {
	for name, pause := range map[string]func(d *desk, id string){
		"by a user": func(d *desk, id string) {
			_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{User: "ann"})
			require.NoError(d.T, err)
		},
		"until a moment that passes": func(d *desk, id string) {
			_, err := d.Jobs.Pause(d.T.Context(), id, entity.Pause{User: "ann", Until: d.Time.Now().Add(15 * time.Second)})
			require.NoError(d.T, err)
		},
		"with its group": func(d *desk, id string) {
			group := d.Job(id).Group
			_, err := d.Groups.Pause(d.T.Context(), group, entity.Pause{User: "ann"})
			require.NoError(d.T, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(everyTenSeconds(nil))
			from := d.Time.Now()
			d.After(20 * time.Second)
			pause(d, job.ID)
			require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
			if name == "with its group" {
				_, err := d.Groups.Resume(t.Context(), job.Group)
				require.NoError(t, err)
			}
			d.Clock.Advance(30 * time.Second)
			_, err := d.Jobs.Undelete(t.Context(), job.ID, "bob", may)
			require.NoError(t, err)
			require.NoError(t, d.Jobs.ResumeDue(t.Context()))
			back := d.Job(job.ID)
			require.Equal(t, []any{entity.JobPaused, entity.PausedByUser, "bob"},
				[]any{back.Status, back.PausedBy, back.Pause.User})
			require.Zero(t, back.Pause.Until)
			_, err = d.Jobs.Resume(t.Context(), job.ID)
			require.NoError(t, err)
			d.After(10 * time.Second)
			to := from.Add(55 * time.Second)
			require.Equal(t, 5, d.outcomes(job.ID, from.Add(time.Millisecond), to))
		})
	}
}

// The limit of the group that came meanwhile holds for the job, too.
func TestADeletedJobComesBackUnderTheLimitOfItsGroup(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("a", waiting(nil)))
	d.Create(enginetest.Job("b", waiting(nil)))
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	group, err := d.Groups.Get(t.Context(), job.Group)
	require.NoError(t, err)
	_, err = d.Groups.Limit(t.Context(), job.Group, 1, group.Version)
	require.NoError(t, err)
	back, err := d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
	require.NoError(t, err)
	require.True(t, back.Limited)
	require.True(t, d.Job(job.ID).Limited)
}

// A job whose waiting runs are still being cancelled does not come back: its runs would start.
func TestAJobWhoseQueueIsStillCancelledDoesNotComeBack(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("queue", waiting(nil)))
	id := d.Trigger(job.ID)[0]
	d.Write(t, func(ctx context.Context, tx repository.Tx) error { // as a deletion that has not come to its queue
		row, err := tx.Jobs.LockFull(ctx, job.ID)
		if err != nil {
			return err
		}
		row.Version++
		return tx.Jobs.Update(ctx, row, true)
	})
	_, err := d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
	requireCode(t, err, apperror.KindConflict, "still_ending")
	d.Finish(id, entity.StatusCancelled, entity.ReasonDeleted)
	_, err = d.Jobs.Undelete(t.Context(), job.ID, "ann", may)
	require.NoError(t, err)
}
