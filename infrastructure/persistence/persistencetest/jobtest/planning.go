package jobtest

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Planning runs the suite over stores that open gives.
func Planning(t *testing.T, open storetest.Opener) {
	t.Run("due jobs in order, page by page", func(t *testing.T) { dueInOrder(t, open(t, nil)) })
	t.Run("due jobs of owned partitions", func(t *testing.T) { dueByPartition(t, open(t, nil)) })
	t.Run("due jobs without those that a group holds", func(t *testing.T) { dueWithoutHeld(t, open(t, nil)) })
	t.Run("editors of workflows", func(t *testing.T) { editorsOfWorkflows(t, open(t, nil)) })
	t.Run("owners where they are named", func(t *testing.T) { ownersWhereNamed(t, open(t, nil)) })
	t.Run("unarmed jobs", func(t *testing.T) { unarmed(t, open(t, nil)) })
	t.Run("jobs that should have a next time", func(t *testing.T) { unplanned(t, open(t, nil)) })
	t.Run("schedules of enabled jobs, page by page", func(t *testing.T) { enabledSchedules(t, open(t, nil)) })
}

func dueInOrder(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 20 {
		jobs = append(jobs, storetest.PlannedJob(n, storetest.Noon.Add(time.Duration(n%4)*time.Millisecond)))
	}
	jobs[4].Status = entity.JobPaused
	jobs[5].DueTime = time.Time{}
	jobs[6].DueTime = storetest.Noon.AddDate(-1, 0, 0) // far in the past is due too
	storetest.Add(t, s, jobs)
	q := repository.DueQuery{Until: storetest.Noon.Add(2 * time.Millisecond), Limit: 4}
	var got []string
	for {
		page, err := s.DueKeys(t.Context(), q)
		require.NoError(t, err)
		for _, j := range page {
			got = append(got, j.ID)
			q.AfterDue, q.AfterID = j.DueTime, j.ID
		}
		if len(page) < q.Limit {
			break
		}
	}
	var want []string
	for _, n := range []int{6, 0, 8, 12, 16, 1, 9, 13, 17, 2, 10, 14, 18} {
		want = append(want, storetest.JobID(n))
	}
	require.Equal(t, want, got)
}

func dueByPartition(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 30 {
		j := storetest.PlannedJob(n, storetest.Noon)
		j.Partition = n % 3
		jobs = append(jobs, j)
	}
	storetest.Add(t, s, jobs)
	count := func(partitions []int) int {
		got, err := s.DueKeys(t.Context(), repository.DueQuery{Until: storetest.Noon, Partitions: partitions, Limit: 100})
		require.NoError(t, err)
		return len(got)
	}
	require.Equal(t, 30, count(nil), "nil is all")
	require.Equal(t, 0, count([]int{}), "none is none")
	require.Equal(t, 20, count([]int{0, 2}))
	require.Equal(t, 0, count([]int{9}))
}

func dueWithoutHeld(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 6 {
		j := storetest.PlannedJob(n, storetest.Noon.Add(time.Duration(n)*time.Second))
		j.Group = []string{"a", "日本", "c"}[n%3]
		jobs = append(jobs, j)
	}
	storetest.Add(t, s, jobs)
	due := func(groups ...entity.Group) (got []int) {
		keys, err := s.DueKeys(t.Context(), repository.DueQuery{
			Until: storetest.Noon.Add(time.Minute), Without: groups,
			AfterDue: storetest.Noon.Add(-time.Hour), Limit: 100,
		})
		require.NoError(t, err)
		for _, k := range keys {
			got = append(got, slices.IndexFunc(jobs, func(j *entity.Job) bool { return j.ID == k.ID }))
		}
		return got
	}
	resumed := storetest.Noon.Add(2 * time.Second)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, due())
	require.Equal(t, []int{0, 2, 3, 5}, due(entity.Group{Name: "日本", Paused: true}))
	require.Equal(t, []int{3, 4}, due(entity.Group{Name: "a", ResumedAt: resumed},
		entity.Group{Name: "日本", ResumedAt: resumed}, entity.Group{Name: "c", Paused: true}))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5}, due(entity.Group{Name: "a", Converged: true, ResumedAt: resumed},
		entity.Group{Name: "c"}), "these hold nothing")
	require.Equal(t, []int{3, 4, 5}, due(entity.Group{Name: entity.AllJobs, ResumedAt: resumed}))
	require.Empty(t, due(entity.Group{Name: entity.AllJobs, Paused: true}))
}

func unarmed(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 6 {
		j := storetest.PlannedJob(n, time.Time{})
		j.Schedule = schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 1000}
		jobs = append(jobs, j)
	}
	jobs[1].Status = entity.JobPaused
	jobs[2].NextFireTime = storetest.Noon
	jobs[3].Schedule.Kind = schedule.FixedRate
	storetest.Add(t, s, jobs)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.InFlightFires.Insert(ctx,
			[]entity.InFlightFire{{
				JobID: storetest.JobID(4), FireKey: "f", Active: true, Remaining: 1,
				CreateTime: storetest.Noon,
			}})
	})
	got, err := s.Unarmed(t.Context(), "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{storetest.JobID(0), storetest.JobID(5)}, got)
	got, err = s.Unarmed(t.Context(), "", 1)
	require.NoError(t, err)
	require.Equal(t, []string{storetest.JobID(0)}, got)
	got, err = s.Unarmed(t.Context(), storetest.JobID(0), 1)
	require.NoError(t, err)
	require.Equal(t, []string{storetest.JobID(5)}, got)
}

// unplanned jobs are those that should have a next time and have none.
func unplanned(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n, kind := range []schedule.Kind{
		schedule.Cron, schedule.FixedRate, schedule.Once, schedule.FixedDelay, schedule.None, schedule.Cron, schedule.Cron,
		schedule.Cron,
	} {
		j := storetest.PlannedJob(n, time.Time{})
		j.Schedule.Kind = kind
		jobs = append(jobs, j)
	}
	jobs[5].Status = entity.JobPaused
	jobs[6].NextFireTime, jobs[6].DueTime = storetest.Noon, storetest.Noon
	storetest.Add(t, s, jobs)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, jobs[7], true) })
	page := func(after string, limit int, next string, want ...int) {
		t.Helper()
		var ids []string
		for _, n := range want {
			ids = append(ids, storetest.JobID(n))
		}
		got, on, err := s.Unplanned(t.Context(), after, limit)
		require.NoError(t, err)
		require.Equal(t, ids, got)
		require.Equal(t, next, on)
	}
	page("", 100, "", 0, 1, 2)
	page("", 2, storetest.JobID(1), 0, 1)
	page(storetest.JobID(1), 5, storetest.JobID(6), 2)
	page(storetest.JobID(6), 5, "")
	var all []string
	for n := range jobs {
		all = append(all, storetest.JobID(n))
	}
	still, err := s.StillUnplanned(t.Context(), append(all, "no id", "ä"))
	require.NoError(t, err)
	require.ElementsMatch(t, all[:3], still)
}

func enabledSchedules(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 9 {
		j := storetest.PlannedJob(n, storetest.Noon)
		j.Group = []string{"a", "b", "c"}[n%3]
		j.Schedule.IntervalMs = int64(1000 * (n + 1)) // tells it from the others
		jobs = append(jobs, j)
	}
	jobs[2].Schedule.Kind, jobs[3].Schedule.Kind = schedule.FixedDelay, schedule.None
	jobs[0].Schedule = schedule.Spec{
		Kind: schedule.Cron, CronExpression: "0 0 12 * * ?", Dialect: cronexpr.Quartz, TimeZone: "Asia/Shanghai",
		StartTime: storetest.Noon, EndTime: storetest.Noon.AddDate(1, 0, 0),
		JitterMs: 500, DstGap: cronexpr.Skip, DstOverlap: cronexpr.Both,
	}
	jobs[1].Schedule, jobs[1].NextFireTime, jobs[1].DueTime = schedule.Spec{Kind: schedule.Once, At: storetest.Noon},
		time.Time{}, time.Time{}
	jobs[4].Status = entity.JobPaused
	jobs[5].Status = entity.JobCreated
	storetest.Add(t, s, jobs)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		gone := *jobs[8]
		return tx.Jobs.Update(ctx, &gone, true)
	})
	list := func(q repository.ScheduleQuery) (got []int) {
		q.Limit = 100
		found, err := s.EnabledSchedules(t.Context(), q)
		require.NoError(t, err)
		for n, j := range jobs {
			want := repository.Planned{Schedule: &j.Schedule}
			if j.Schedule.Kind == schedule.FixedDelay {
				want.Next = j.NextFireTime
			}
			if j.Schedule.JitterMs > 0 || q.IDs {
				want.ID = j.ID
			}
			if slices.ContainsFunc(found, func(p repository.Planned) bool { return reflect.DeepEqual(p, want) }) {
				got = append(got, n)
			}
		}
		require.Len(t, got, len(found))
		return got
	}
	require.Equal(t, []int{0, 1, 2, 3, 6, 7}, list(repository.ScheduleQuery{}))
	require.Equal(t, []int{0, 3, 6}, list(repository.ScheduleQuery{Group: "a", IDs: true}))
	require.Equal(t, []int{1, 2, 7}, list(repository.ScheduleQuery{Groups: []string{"b", "c"}}))
	require.Equal(t, []int{2}, list(repository.ScheduleQuery{Group: "c", Groups: []string{"b", "c"}}))
	require.Empty(t, list(repository.ScheduleQuery{Group: "a", Groups: []string{"b"}}))
	require.Empty(t, list(repository.ScheduleQuery{Groups: []string{}}), "no groups are none")
	require.Empty(t, list(repository.ScheduleQuery{Group: "a "}))
	two, err := s.EnabledSchedules(t.Context(), repository.ScheduleQuery{Limit: 2})
	require.NoError(t, err)
	require.Len(t, two, 2)
}
