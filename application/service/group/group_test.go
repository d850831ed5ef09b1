package group_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// tenSeconds is a job of a group that fires every ten seconds.
func TestAGroupHoldsItsJobsAndLetsThemGo(t *testing.T) {
	eachStore(t, func(d *desk) {
		a, b, other := d.TenSeconds("a", "g"), d.TenSeconds("b", "g"), d.TenSeconds("c", "h")
		byHand, err := d.Jobs.Pause(d.T.Context(), b.ID, entity.Pause{})
		require.NoError(d.T, err)
		require.True(d.T, d.Hold("g", true).Converged)
		require.Equal(d.T, entity.JobPaused, d.Status(a))
		require.Equal(d.T, entity.JobEnabled, d.Status(other))
		d.After(35 * time.Second)
		require.Empty(d.T, d.Rows(a.ID))

		_, err = d.Jobs.Resume(d.T.Context(), a.ID)
		requireCode(d.T, err, apperror.KindConflict, "group_paused")
		late := d.TenSeconds("late", "g")
		require.Equal(d.T, entity.JobPaused, late.Status, "it joins a held group")
		require.True(d.T, late.DueTime.IsZero())
		moved := d.Replace(other.ID, func(j *entity.Job) { j.Group = "g" })
		require.Equal(d.T, []any{entity.JobPaused, entity.PausedByGroup}, []any{moved.Status, moved.PausedBy})

		require.True(d.T, d.Hold("g", false).Converged)
		for _, j := range []*entity.Job{a, late, other} {
			require.Equal(d.T, entity.JobEnabled, d.Status(j), j.Name)
		}
		require.Equal(d.T, byHand.Version, d.Job(b.ID).Version, "what a user paused is not touched")
		require.Equal(d.T, []string{"SKIPPED(PAUSED)"}, enginetest.States(d.Rows(a.ID)), "the span is in the ledger")
		require.Equal(d.T, 3, d.Rows(a.ID)[0].SkipCount)
	})
}

func TestAJobThatLeavesAHeldGroupIsPlannedAgain(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	d.Hold("g", true)
	moved := d.Replace(job.ID, func(j *entity.Job) { j.Group = "open" })
	require.Equal(t, []any{entity.JobEnabled, entity.PausedByUser}, []any{moved.Status, moved.PausedBy})
	require.False(t, moved.DueTime.IsZero())
}

func TestAPauseByHandOutlastsThatOfTheGroup(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	d.Hold("g", true)
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Hold("g", false)
	require.Equal(t, entity.JobPaused, d.Status(job))
	resumed, err := d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	require.Equal(t, entity.JobEnabled, resumed.Status)
}

func TestEveryJobIsHeldAtOnce(t *testing.T) {
	d := newDesk(t)
	a, b := d.TenSeconds("a", "g"), d.TenSeconds("b", "h")
	d.Hold("g", true)
	d.Hold(entity.AllJobs, true)
	require.Equal(t, []entity.JobStatus{entity.JobPaused, entity.JobPaused}, []entity.JobStatus{d.Status(a), d.Status(b)})
	d.Hold(entity.AllJobs, false)
	require.Equal(t, []entity.JobStatus{entity.JobPaused, entity.JobEnabled}, []entity.JobStatus{d.Status(a), d.Status(b)},
		"its group still holds a")
	d.Hold(entity.AllJobs, true)
	d.Hold("g", false)
	require.Equal(t, entity.JobPaused, d.Status(a), "all jobs are held")
	d.Hold(entity.AllJobs, false)
	require.Equal(t, entity.JobEnabled, d.Status(a))
	_, err := d.Groups.Get(t.Context(), entity.AllJobs)
	requireKind(t, apperror.KindNotFound, err)
}

// stubborn follows a few times, one by one, then the store is away.
type stubborn struct {
	group.JobHolder
	left int
}

func (s *stubborn) FollowGroups(_ context.Context, ids []string) ([]string, error) { return ids, nil }

func (s *stubborn) FollowGroup(ctx context.Context, id string) error {
	if s.left--; s.left < 0 {
		return apperror.Unavailable(errors.New("away"))
	}
	return s.JobHolder.FollowGroup(ctx, id)
}

func TestAPauseThatWasCutShortGoesOn(t *testing.T) {
	d := newDesk(t)
	var jobs []*entity.Job
	for i := range 5 {
		jobs = append(jobs, d.TenSeconds(fmt.Sprint(i), "g"))
	}
	cut := group.NewGroupService(d.Store, &stubborn{d.Jobs, 2}, d.Planner, d.Time, slog.New(slog.DiscardHandler))
	_, err := cut.Pause(t.Context(), "g", entity.Pause{})
	requireKind(t, apperror.KindUnavailable, err)
	require.Equal(t, entity.JobEnabled, d.Status(jobs[4]))
	require.NoError(t, d.Groups.Sweep(t.Context()))
	for _, j := range jobs {
		require.Equal(t, entity.JobPaused, d.Status(j))
	}
	g, err := d.Groups.Get(t.Context(), "g")
	require.NoError(t, err)
	require.True(t, g.Converged)
	require.NoError(t, d.Groups.Sweep(t.Context()), "nothing is left to do")
}

func TestAJobThatCannotBePlannedAgainStaysPaused(t *testing.T) {
	d := newDesk(t)
	job := d.TenSeconds("a", "g")
	d.Hold("g", true)
	d.Change(t, job.ID, func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", TimeZone: "Mars/Olympus"}
		j.NextFireTime = time.Time{}
	})
	require.True(t, d.Hold("g", false).Converged)
	require.Equal(t, []any{entity.JobPaused, entity.PausedByUser}, []any{d.Status(job), d.Job(job.ID).PausedBy})
}

func TestSettingsOfGroups(t *testing.T) {
	d := newDesk(t)
	for name, field := range map[string]string{"": "name", "a b": "name", " ": "name", "-a": "name"} {
		_, err := d.Groups.Create(t.Context(), name, 0)
		requireField(t, err, field)
	}
	_, err := d.Groups.Create(t.Context(), "g", -1)
	requireField(t, err, "maxConcurrency")
	made, err := d.Groups.Create(t.Context(), "g", 4)
	require.NoError(t, err)
	_, err = d.Groups.Limit(t.Context(), "g", 10_001, 0)
	requireField(t, err, "maxConcurrency")
	changed, err := d.Groups.Limit(t.Context(), "g", 5, made.Version)
	require.NoError(t, err)
	require.Equal(t, []int{5, 2}, []int{changed.MaxConcurrency, changed.Version})
	_, err = d.Groups.Limit(t.Context(), "g", 6, made.Version)
	requireCode(t, err, apperror.KindConflict, "stale_version")
	require.NoError(t, d.Groups.Delete(t.Context(), "g"))
	for _, name := range []string{"g", entity.AllJobs} {
		requireKind(t, apperror.KindNotFound, d.Groups.Delete(t.Context(), name))
	}
}

// requireField wants one wrong field.
func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var f *apperror.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Fields, 1, "%v", err)
	require.Equal(t, field, f.Fields[0].Field)
}
