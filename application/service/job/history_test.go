package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

func TestEveryVersionOfAJobIsKept(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("kept", func(j *entity.Job) {
			j.Labels, j.Description = map[string]string{"a": "ä"}, "why"
			j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0/5 * * * ?", TimeZone: "Asia/Shanghai"}
			j.Retry.MaxRetries = 3
		}))
		d.Replace(job.ID, func(j *entity.Job) { j.Priority = 9 })
		d.Replace(job.ID, func(j *entity.Job) { j.Description = "why not" })
		var versions []*entity.Job
		page := repository.Page{Limit: 2}
		for {
			part, next, err := d.Jobs.History(d.T.Context(), job.ID, page)
			require.NoError(d.T, err)
			versions = append(versions, part...)
			if page.Cursor = next; next == "" {
				break
			}
		}
		require.Len(d.T, versions, 3)
		require.Equal(d.T, []any{3, 2, 1}, []any{versions[0].Version, versions[1].Version, versions[2].Version})
		first := *versions[2]
		require.Equal(d.T, []any{"why", 5, 3, "Asia/Shanghai", map[string]string{"a": "ä"}},
			[]any{first.Description, first.Priority, first.Retry.MaxRetries, first.Schedule.TimeZone, first.Labels})
		require.Equal(d.T, job.CreateTime, first.CreateTime, "every version shares the time at which the job was made")

		restored, err := d.restore(job.ID, 1, 3)
		require.NoError(d.T, err)
		require.Equal(d.T, []any{4, "why", 5}, []any{restored.Version, restored.Description, restored.Priority})
		require.False(d.T, restored.NextFireTime.IsZero())
		_, err = d.restore(job.ID, 1, 3)
		require.True(d.T, apperror.Is(err, apperror.KindConflict))
		_, err = d.Jobs.Pause(repository.WithActor(d.T.Context(), "ann"), job.ID, entity.Pause{})
		require.NoError(d.T, err)
		latest, _, err := d.Jobs.History(d.T.Context(), job.ID, page)
		require.NoError(d.T, err)
		require.Equal(d.T, []string{"ann", ""}, []string{latest[0].ChangedBy, latest[1].ChangedBy}, "a version has an author")
		_, err = d.restore(job.ID, 7, 4)
		require.True(d.T, apperror.Is(err, apperror.KindNotFound))
		_, _, err = d.Jobs.History(d.T.Context(), "none", repository.Page{})
		require.True(d.T, apperror.Is(err, apperror.KindNotFound))
		_, _, err = d.Jobs.History(d.T.Context(), job.ID, repository.Page{Cursor: "eA"})
		require.True(d.T, apperror.Is(err, apperror.KindInvalid))
	})
}

func TestACopyWaitsToBeEnabled(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("daily", func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 7000}
		j.Overlap, j.Priority = entity.OverlapSerial, 8
	}))
	d.After(time.Minute)
	copied, err := d.Jobs.Copy(t.Context(), job.ID, "", "")
	require.NoError(t, err)
	require.NotEqual(t, job.ID, copied.ID)
	require.Equal(t, []any{"daily (copy)", entity.JobCreated, 1, entity.OverlapSerial, 8},
		[]any{copied.Name, copied.Status, copied.Version, copied.Overlap, copied.Priority})
	require.Equal(t, d.Job(copied.ID), copied)
	require.True(t, copied.NextFireTime.IsZero() && copied.DueTime.IsZero() && copied.LastFireTime.IsZero())
	_, err = d.Jobs.Copy(t.Context(), job.ID, "", "")
	require.True(t, apperror.Is(err, apperror.KindConflict), "the name is taken")
	other, err := d.Jobs.Copy(t.Context(), job.ID, "weekly", "reports")
	require.NoError(t, err)
	require.Equal(t, []any{"weekly", "reports"}, []any{other.Name, other.Group})

	long := d.Create(enginetest.Job(strings.Repeat("é", 100), nil))
	copied, err = d.Jobs.Copy(t.Context(), long.ID, "", "")
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("é", 93)+" (copy)", copied.Name)
	_, err = d.Jobs.Copy(t.Context(), "none", "", "")
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// restore puts a former definition in the place of the present one.
func (d *desk) restore(id string, former, version int) (*entity.Job, error) {
	old, err := d.Jobs.Version(d.T.Context(), id, former)
	if err != nil {
		return nil, err
	}
	return d.Jobs.Replace(d.T.Context(), id, old, version, 0)
}
