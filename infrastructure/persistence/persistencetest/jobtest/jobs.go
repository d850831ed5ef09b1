// Package jobtest is the contract of jobs: definitions, versions, names and planning.
package jobtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Jobs runs the suite over stores that open gives.
func Jobs(t *testing.T, open storetest.Opener) {
	t.Run("schedules of versions", func(t *testing.T) { scheduleOfVersions(t, open(t, nil)) })
	t.Run("every field comes back", func(t *testing.T) { everyJobField(t, open(t, nil)) })
	t.Run("names are unique among live jobs of a group", func(t *testing.T) { uniqueNames(t, open(t, nil)) })
	t.Run("update, and the end of a job", func(t *testing.T) { updateJob(t, open(t, nil)) })
	t.Run("lock, check and advance", func(t *testing.T) { advanceJobs(t, open(t, nil)) })
	t.Run("check and advance at once", func(t *testing.T) { moveJobs(t, open(t, nil)) })
	t.Run("advance behind a range", func(t *testing.T) { moveBehindRanges(t, open(t, nil)) })
	t.Run("filters take names literally", func(t *testing.T) { filterJobs(t, open(t, nil)) })
	t.Run("pages follow one another", func(t *testing.T) { pageJobs(t, open(t, nil)) })
	t.Run("by group and name", func(t *testing.T) { jobsByName(t, open(t, nil)) })
	t.Run("lookups by id", func(t *testing.T) { lookUpJobs(t, open(t, nil)) })
}

// fullJob uses every column.
func fullJob(n int) *entity.Job {
	j := storetest.PlannedJob(n, storetest.Noon.Add(time.Second))
	j.Name, j.Description, j.Group = "订单 😀 %_\\ 'x' ", "line\nline", "billing"
	j.Labels, j.Owner, j.Class, j.Data = map[string]string{"team": "ä 😀", "a.b": "c"}, "ops", "echo", `{"text":"\\ \" 😀"}`
	j.Schedule = schedule.Spec{
		Kind: schedule.Cron, CronExpression: "0 0/5 * * * ?", Dialect: cronexpr.Quartz, IntervalMs: 5000,
		At:       storetest.Noon.Add(time.Hour),
		TimeZone: "Asia/Shanghai", StartTime: storetest.Noon.Add(-time.Hour), EndTime: storetest.Noon.Add(24 * time.Hour),
		JitterMs: 250,
		DstGap:   "SKIP", DstOverlap: "BOTH", Anchor: storetest.Noon.Add(-time.Minute),
	}
	j.Misfire = entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 1, WindowSec: 2, MaxFires: 3}
	j.Priority, j.TimeoutSec, j.StartDeadlineSec = 9, 30, 40
	j.Retry = entity.RetryPolicy{
		MaxRetries: 5, Backoff: entity.BackoffExponential, IntervalMs: 1, MaxIntervalMs: 2, Jitter: 0.25,
		NoRetryOn: []entity.Reason{entity.ReasonExitCode},
	}
	j.Overlap, j.MaxConcurrency, j.MaxQueued, j.ShardCount, j.Broadcast = entity.OverlapSerial, 3, 7, 4, true
	j.Routing = entity.Routing{Strategy: entity.RouteLRU, Labels: map[string]string{"zone": "b"}}
	j.OnNodeLoss = entity.NodeLossFail
	j.PausedBy = entity.PausedByGroup
	j.LastFireTime, j.PausedAt, j.FenceSeq, j.Version = storetest.Noon.Add(-2*time.Second),
		storetest.Noon.Add(-time.Second), 1<<33, 12
	j.DecidedUntil = storetest.Noon.Add(-time.Minute)
	return j
}

func everyJobField(t *testing.T, s *persistence.Store) {
	j := fullJob(1)
	storetest.Add(t, s, []*entity.Job{j})
	got, err := s.Jobs.Get(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, j, got)
	due, err := s.ForPlanning(t.Context(), []string{j.ID, "unknown"})
	require.NoError(t, err)
	planned := *j
	planned.Description, planned.Labels, planned.Owner, planned.DecidedUntil = "", nil, "", time.Time{}
	require.Equal(t, []*entity.Job{&planned}, due)
}

func conflictCode(t *testing.T, err error) string {
	t.Helper()
	var f *apperror.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, apperror.KindConflict, f.Kind)
	return f.Code
}

func uniqueNames(t *testing.T, s *persistence.Store) {
	named := func(n int, group, name string) *entity.Job {
		j := storetest.PlannedJob(n, storetest.Noon)
		j.Group, j.Name = group, name
		return j
	}
	insert := func(j *entity.Job) error {
		return s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			return tx.Jobs.Insert(ctx, j)
		})
	}
	first := named(1, "g", "Report")
	for _, j := range []*entity.Job{
		first, named(2, "g", "report"), named(3, "g", "Report "), named(4, "h", "Report"),
		named(5, "g", "Repört"),
	} {
		require.NoError(t, insert(j), "%q in %q is another name", j.Name, j.Group)
	}
	require.Equal(t, "name_taken", conflictCode(t, insert(named(6, "g", "Report"))))
	require.Equal(t, "id_taken", conflictCode(t, insert(named(1, "g", "other"))))
	renamed := named(4, "g", "Report")
	err := s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Jobs.Update(ctx, renamed, false)
	})
	require.Equal(t, "name_taken", conflictCode(t, err))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, first, true) })
	require.NoError(t, insert(named(7, "g", "Report")), "the name of a deleted job is free")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Jobs.Update(ctx, named(7, "g", "Report"), true)
	})
	require.NoError(t, insert(named(8, "g", "Report")), "and again")
}

func updateJob(t *testing.T, s *persistence.Store) {
	j := storetest.PlannedJob(1, storetest.Noon)
	storetest.Add(t, s, []*entity.Job{j})
	changed := fullJob(1)
	changed.Version = 2
	changed.CreateTime = j.CreateTime
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		locked, err := tx.Jobs.LockFull(ctx, j.ID)
		require.Equal(t, j, locked)
		if err != nil {
			return err
		}
		return tx.Jobs.Update(ctx, changed, false)
	})
	got, err := s.Jobs.Get(t.Context(), j.ID)
	require.NoError(t, err)
	require.Equal(t, changed, got)

	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, changed, true) })
	_, err = s.Jobs.Get(t.Context(), j.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	due, err := s.DueKeys(t.Context(), repository.DueQuery{Until: storetest.Noon.Add(time.Hour), Limit: 10})
	require.NoError(t, err)
	require.Empty(t, due, "a deleted job is not planned")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		heads, err := tx.Jobs.Lock(ctx, []string{j.ID})
		require.Empty(t, heads)
		require.NoError(t, err)
		_, err = tx.Jobs.LockFull(ctx, j.ID)
		require.True(t, apperror.Is(err, apperror.KindNotFound))
		return nil
	})
	names, err := s.Jobs.Names(t.Context(), []string{j.ID, storetest.JobID(9)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{j.ID: changed.Name}, names, "runs of deleted jobs keep a name")
}

// scheduleOfVersions: what a version of a job had for a schedule can be read as
// long as that version is kept.
func scheduleOfVersions(t *testing.T, s *persistence.Store) {
	first := fullJob(1)
	first.Version = 1
	second := *first
	second.Version, second.Schedule.IntervalMs = 2, first.Schedule.IntervalMs+1
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Jobs.Insert(ctx, first); err != nil {
			return err
		}
		return tx.Jobs.Update(ctx, &second, false)
	})
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		for _, want := range []*entity.Job{first, &second} {
			got, ok, err := tx.Jobs.ScheduleOf(ctx, first.ID, want.Version)
			require.NoError(t, err)
			require.True(t, ok)
			require.True(t, got.Same(want.Schedule), "%+v", got)
		}
		_, ok, err := tx.Jobs.ScheduleOf(ctx, first.ID, 3)
		require.False(t, ok)
		return err
	})
}

func advanceJobs(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 5 {
		jobs = append(jobs, storetest.PlannedJob(n, storetest.Noon.Add(time.Duration(n)*time.Second)))
	}
	storetest.Add(t, s, jobs)
	next := storetest.Noon.Add(time.Minute)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		heads, err := tx.Jobs.Lock(ctx, []string{
			storetest.JobID(3), storetest.JobID(1), storetest.JobID(1),
			storetest.JobID(7), storetest.JobID(2),
		})
		if err != nil {
			return err
		}
		require.Equal(t, []repository.JobHead{
			{
				ID: storetest.JobID(1), NextFireTime: jobs[1].NextFireTime, DueTime: jobs[1].DueTime, Version: 1,
				Status: entity.JobEnabled,
			},
			{
				ID: storetest.JobID(2), NextFireTime: jobs[2].NextFireTime, DueTime: jobs[2].DueTime, Version: 1,
				Status: entity.JobEnabled,
			},
			{
				ID: storetest.JobID(3), NextFireTime: jobs[3].NextFireTime, DueTime: jobs[3].DueTime, Version: 1,
				Status: entity.JobEnabled,
			},
		}, heads)
		return tx.Jobs.Advance(ctx, []repository.JobAdvance{
			{ID: storetest.JobID(3), Status: entity.JobFinished, LastFireTime: storetest.Noon, FenceSeq: 4},
			{
				ID: storetest.JobID(1), NextFireTime: next, DueTime: next.Add(time.Second), LastFireTime: storetest.Noon,
				Status: entity.JobEnabled, FenceSeq: 9,
			},
			{ID: storetest.JobID(2), NextFireTime: next, DueTime: next, Status: entity.JobPaused},
		})
	})
	want := *jobs[1]
	want.NextFireTime, want.DueTime, want.LastFireTime, want.FenceSeq = next, next.Add(time.Second), storetest.Noon, 9
	got, err := s.Jobs.Get(t.Context(), storetest.JobID(1))
	require.NoError(t, err)
	require.Equal(t, &want, got, "an advance changes the cursor and nothing else")
	finished, err := s.Jobs.Get(t.Context(), storetest.JobID(3))
	require.NoError(t, err)
	require.Zero(t, finished.NextFireTime)
	require.Equal(t, entity.JobFinished, finished.Status)
	paused, err := s.Jobs.Get(t.Context(), storetest.JobID(2))
	require.NoError(t, err)
	require.Zero(t, paused.DueTime, "only an enabled job has a due time")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Jobs.Advance(ctx,
			[]repository.JobAdvance{{ID: storetest.JobID(1), NextFireTime: next, DueTime: next, Status: entity.JobEnabled}})
	})
	got, err = s.Jobs.Get(t.Context(), storetest.JobID(1))
	require.NoError(t, err)
	require.Equal(t, storetest.Noon, got.LastFireTime, "a zero last fire time keeps the former")
	decidedUntil(t, s, func(ctx context.Context, tx repository.Tx, to ...repository.JobAdvance) error {
		return tx.Jobs.Advance(ctx, to)
	})
}

func moveJobs(t *testing.T, s *persistence.Store) {
	due := storetest.Noon.Add(time.Second)
	jobs := make([]*entity.Job, 7)
	for n := range jobs {
		jobs[n] = storetest.PlannedJob(n+1, due)
		jobs[n].FenceSeq = 8
	}
	jobs[1].Version, jobs[3].Status = 2, entity.JobPaused
	jobs[2].NextFireTime = due.Add(time.Millisecond)
	storetest.Add(t, s, jobs)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		gone := *jobs[4]
		return tx.Jobs.Update(ctx, &gone, true)
	})
	before := make([]*entity.Job, len(jobs))
	for n := range jobs {
		before[n], _ = s.Jobs.Get(t.Context(), storetest.JobID(n+1))
	}
	next := storetest.Noon.Add(time.Minute)
	move := func(n int, to repository.JobAdvance) repository.JobMove {
		to.ID, to.LastFireTime = storetest.JobID(n), storetest.Noon
		return repository.JobMove{JobAdvance: to, From: due, Version: 1}
	}
	onward := repository.JobAdvance{NextFireTime: next, DueTime: next.Add(time.Second), Status: entity.JobEnabled}
	var moved map[string]bool
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		moved, _, err = tx.Jobs.Move(ctx, []repository.JobMove{
			move(7, onward), move(1, onward), move(2, onward), move(3, onward), move(4, onward), move(5, onward),
			move(99, onward),
			move(6, repository.JobAdvance{Status: entity.JobFinished}),
		})
		return err
	})
	require.Equal(t, map[string]bool{storetest.JobID(1): true, storetest.JobID(6): true, storetest.JobID(7): true}, moved,
		"another version, another cursor, paused, deleted and unknown ones stay")
	for n := range jobs {
		got, err := s.Jobs.Get(t.Context(), storetest.JobID(n+1))
		if n == 4 {
			require.True(t, apperror.Is(err, apperror.KindNotFound))
			continue
		}
		require.NoError(t, err)
		want := *before[n]
		if moved[storetest.JobID(n+1)] {
			want.NextFireTime, want.DueTime, want.LastFireTime = next, next.Add(time.Second), storetest.Noon
		}
		if n == 5 {
			want.NextFireTime, want.DueTime, want.Status = time.Time{}, time.Time{}, entity.JobFinished
		}
		require.Equal(t, &want, got, "job %d", n+1)
	}
	err := s.Write(t.Context(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
		_, _, err := tx.Jobs.Move(ctx,
			[]repository.JobMove{move(1, repository.JobAdvance{
				NextFireTime: storetest.Noon.AddDate(9000, 0, 0),
				Status:       entity.JobEnabled,
			})})
		return err
	})
	var poison *repository.PoisonError
	require.ErrorAs(t, err, &poison, "a time that the column cannot hold")
}

func filterJobs(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n, name := range []string{"100% of orders", "100 of orders", "A_B", "AxB", `back\slash`, "ÄRGER im Büro", "日报 😀"} {
		j := storetest.PlannedJob(n, storetest.Noon)
		j.Name = name
		jobs = append(jobs, j)
	}
	jobs[0].Group, jobs[1].Status, jobs[2].Type = "special", entity.JobPaused, entity.JobHTTP
	storetest.Add(t, s, jobs)
	for _, c := range []struct {
		filter repository.JobFilter
		want   []int
	}{
		{repository.JobFilter{NameContains: "100%"}, []int{0}},
		{repository.JobFilter{NameContains: "a_b"}, []int{2}},
		{repository.JobFilter{NameContains: `K\S`}, []int{4}},
		{repository.JobFilter{NameContains: "ärger"}, []int{5}},
		{repository.JobFilter{NameContains: "arger"}, nil},
		{repository.JobFilter{NameContains: "报 😀"}, []int{6}},
		{repository.JobFilter{NameContains: "ORDERS"}, []int{1, 0}},
		{repository.JobFilter{Group: "special"}, []int{0}},
		{repository.JobFilter{Status: entity.JobPaused}, []int{1}},
		{repository.JobFilter{Type: entity.JobHTTP}, []int{2}},
		{repository.JobFilter{NameContains: "orders", Status: entity.JobEnabled}, []int{0}},
	} {
		got, next, err := s.Jobs.List(t.Context(), c.filter, repository.Page{})
		require.NoError(t, err)
		require.Empty(t, next)
		var found []string
		for _, j := range got {
			found = append(found, j.ID)
		}
		var want []string
		for _, n := range c.want {
			want = append(want, storetest.JobID(n))
		}
		require.Equal(t, want, found, "%+v", c.filter)
	}
}

func pageJobs(t *testing.T, s *persistence.Store) {
	var jobs []*entity.Job
	for n := range 7 {
		jobs = append(jobs, storetest.PlannedJob(n, storetest.Noon))
	}
	storetest.Add(t, s, jobs)
	var seen []string
	page := repository.Page{Limit: 3}
	for range 3 {
		got, next, err := s.Jobs.List(t.Context(), repository.JobFilter{}, page)
		require.NoError(t, err)
		for _, j := range got {
			seen = append(seen, j.ID)
		}
		page.Cursor = next
	}
	require.Empty(t, page.Cursor, "the last page has no next")
	require.Equal(t, []string{
		storetest.JobID(6), storetest.JobID(5), storetest.JobID(4), storetest.JobID(3),
		storetest.JobID(2), storetest.JobID(1), storetest.JobID(0),
	}, seen)
	for _, cursor := range []string{"%%%", "5pel", strings.Repeat("QUFB", 50)} {
		_, _, err := s.Jobs.List(t.Context(), repository.JobFilter{}, repository.Page{Cursor: cursor})
		require.True(t, apperror.Is(err, apperror.KindInvalid), cursor)
	}
}

func lookUpJobs(t *testing.T, s *persistence.Store) {
	a, b := storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)
	b.Version = 5
	storetest.Add(t, s, []*entity.Job{a, b})
	versions, err := s.Jobs.Versions(t.Context(), []string{a.ID, b.ID, storetest.JobID(3), "任务"})
	require.NoError(t, err)
	require.Equal(t, map[string]int{a.ID: 1, b.ID: 5}, versions)
	got, err := s.Jobs.ByIDs(t.Context(), []string{b.ID, a.ID, storetest.JobID(3)})
	require.NoError(t, err)
	require.ElementsMatch(t, []*entity.Job{a, b}, got)
	for _, id := range []string{"", "missing", "任务", strings.Repeat("x", 99)} {
		_, err := s.Jobs.Get(t.Context(), id)
		require.True(t, apperror.Is(err, apperror.KindNotFound), id)
	}
}
