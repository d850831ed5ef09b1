package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// tenSeconds is a job of a group that fires every ten seconds.
func (d *desk) tenSeconds(name, group string) *entity.Job {
	d.t.Helper()
	return d.create(enginetest.Job(name, waiting(func(j *entity.Job) {
		j.Group = group
		j.Schedule = schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 10_000}
	})))
}

func (d *desk) hold(group string, paused bool) entity.Group {
	d.t.Helper()
	hold := func() (entity.Group, error) { return d.Groups.Resume(d.t.Context(), group) }
	if paused {
		hold = func() (entity.Group, error) { return d.Groups.Pause(d.t.Context(), group, entity.Pause{}) }
	}
	g, err := hold()
	require.NoError(d.t, err)
	require.Equal(d.t, paused, g.Paused)
	return g
}

func (d *desk) status(job *entity.Job) entity.JobStatus { d.t.Helper(); return d.job(job.ID).Status }

func TestAGroupHoldsItsJobsAndLetsThemGo(t *testing.T) {
	eachStore(t, func(d *desk) {
		a, b, other := d.tenSeconds("a", "g"), d.tenSeconds("b", "g"), d.tenSeconds("c", "h")
		byHand, err := d.Jobs.Pause(d.t.Context(), b.ID, entity.Pause{})
		require.NoError(d.t, err)
		require.True(d.t, d.hold("g", true).Converged)
		require.Equal(d.t, entity.JobPaused, d.status(a))
		require.Equal(d.t, entity.JobEnabled, d.status(other))
		d.after(35 * time.Second)
		require.Empty(d.t, d.rows(a.ID))

		_, err = d.Jobs.Resume(d.t.Context(), a.ID)
		requireCode(d.t, err, apperror.KindConflict, "group_paused")
		late := d.tenSeconds("late", "g")
		require.Equal(d.t, entity.JobPaused, late.Status, "it joins a held group")
		require.True(d.t, late.DueTime.IsZero())
		moved := d.replace(other.ID, func(j *entity.Job) { j.Group = "g" })
		require.Equal(d.t, []any{entity.JobPaused, entity.PausedByGroup}, []any{moved.Status, moved.PausedBy})

		require.True(d.t, d.hold("g", false).Converged)
		for _, j := range []*entity.Job{a, late, other} {
			require.Equal(d.t, entity.JobEnabled, d.status(j), j.Name)
		}
		require.Equal(d.t, byHand.Version, d.job(b.ID).Version, "what a user paused is not touched")
		require.Equal(d.t, []string{"SKIPPED(PAUSED)"}, enginetest.States(d.rows(a.ID)), "the span is in the ledger")
		require.Equal(d.t, 3, d.rows(a.ID)[0].SkipCount)
	})
}

func TestAJobThatLeavesAHeldGroupIsPlannedAgain(t *testing.T) {
	d := newDesk(t)
	job := d.tenSeconds("a", "g")
	d.hold("g", true)
	moved := d.replace(job.ID, func(j *entity.Job) { j.Group = "open" })
	require.Equal(t, []any{entity.JobEnabled, entity.PausedByUser}, []any{moved.Status, moved.PausedBy})
	require.False(t, moved.DueTime.IsZero())
}

func TestAPauseByHandOutlastsThatOfTheGroup(t *testing.T) {
	d := newDesk(t)
	job := d.tenSeconds("a", "g")
	d.hold("g", true)
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.hold("g", false)
	require.Equal(t, entity.JobPaused, d.status(job))
	resumed, err := d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	require.Equal(t, entity.JobEnabled, resumed.Status)
}

func TestEveryJobIsHeldAtOnce(t *testing.T) {
	d := newDesk(t)
	a, b := d.tenSeconds("a", "g"), d.tenSeconds("b", "h")
	d.hold("g", true)
	d.hold(entity.AllJobs, true)
	require.Equal(t, []entity.JobStatus{entity.JobPaused, entity.JobPaused}, []entity.JobStatus{d.status(a), d.status(b)})
	d.hold(entity.AllJobs, false)
	require.Equal(t, []entity.JobStatus{entity.JobPaused, entity.JobEnabled}, []entity.JobStatus{d.status(a), d.status(b)}, "its group still holds a")
	d.hold(entity.AllJobs, true)
	d.hold("g", false)
	require.Equal(t, entity.JobPaused, d.status(a), "all jobs are held")
	d.hold(entity.AllJobs, false)
	require.Equal(t, entity.JobEnabled, d.status(a))
	_, err := d.Groups.Get(t.Context(), entity.AllJobs)
	requireKind(t, apperror.KindNotFound, err)
}

// stubborn follows a few times, one by one, then the store is away.
type stubborn struct {
	service.JobHolder
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
		jobs = append(jobs, d.tenSeconds(fmt.Sprint(i), "g"))
	}
	cut := service.NewGroupService(d.Store, &stubborn{d.Jobs, 2}, d.Planner, d.Time, slog.New(slog.DiscardHandler))
	_, err := cut.Pause(t.Context(), "g", entity.Pause{})
	requireKind(t, apperror.KindUnavailable, err)
	require.Equal(t, entity.JobEnabled, d.status(jobs[4]))
	require.NoError(t, d.Groups.Sweep(t.Context()))
	for _, j := range jobs {
		require.Equal(t, entity.JobPaused, d.status(j))
	}
	g, err := d.Groups.Get(t.Context(), "g")
	require.NoError(t, err)
	require.True(t, g.Converged)
	require.NoError(t, d.Groups.Sweep(t.Context()), "nothing is left to do")
}

func TestAJobThatCannotBePlannedAgainStaysPaused(t *testing.T) {
	d := newDesk(t)
	job := d.tenSeconds("a", "g")
	d.hold("g", true)
	d.Change(t, job.ID, func(j *entity.Job) {
		j.Schedule = schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", TimeZone: "Mars/Olympus"}
		j.NextFireTime = time.Time{}
	})
	require.True(t, d.hold("g", false).Converged)
	require.Equal(t, []any{entity.JobPaused, entity.PausedByUser}, []any{d.status(job), d.job(job.ID).PausedBy})
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
