package retentiontest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// JobRetention runs the suite over stores that open gives.
func JobRetention(t *testing.T, open storetest.Opener) {
	t.Run("former versions", func(t *testing.T) { purgeVersions(t, open(t, nil)) })
	t.Run("former versions of a busy job", func(t *testing.T) { purgeVersionsOfBusy(t, open(t, nil)) })
	t.Run("many jobs", func(t *testing.T) { purgeBehindManyJobs(t, open(t, nil)) })
	t.Run("deleted jobs", func(t *testing.T) { purgeJobs(t, open(t, nil)) })
}

// editTo gives a job new versions, one each minute, up to the last.
func editTo(t *testing.T, s *persistence.Store, job *entity.Job, last int) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		for job.Version < last {
			job.Version++
			job.UpdateTime = job.UpdateTime.Add(time.Minute)
			if err := tx.Jobs.Update(ctx, job, false); err != nil {
				return err
			}
		}
		return nil
	})
}

// versionsOf are those that are kept of a job, the oldest first.
func versionsOf(t *testing.T, s *persistence.Store, id string) (kept []int) {
	t.Helper()
	page := repository.Page{Limit: 200}
	for {
		versions, next, err := s.Jobs.History(t.Context(), id, page)
		require.NoError(t, err)
		for _, v := range versions {
			kept = append(kept, v.Version)
		}
		if page.Cursor = next; next == "" {
			slices.Reverse(kept)
			return kept
		}
	}
}

// walk calls a step until it is done.
func walk(t *testing.T, limit int, step func() (repository.Purged, error)) (deleted int) {
	t.Helper()
	for n := 0; ; n++ {
		require.Less(t, n, 1000, "it never ends")
		p, err := step()
		require.NoError(t, err)
		require.LessOrEqual(t, p.Deleted, limit)
		if deleted += p.Deleted; !p.More {
			return deleted
		}
	}
}

func purgeVersions(t *testing.T, s *persistence.Store) {
	edited, named, few := storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon),
		storetest.PlannedJob(3, storetest.Noon)
	storetest.Add(t, s, []*entity.Job{edited, named, few})
	editTo(t, s, edited, 50)
	editTo(t, s, named, 30)
	editTo(t, s, few, 5)
	var runs []*entity.Execution
	for n, version := range []int{3, 3, 17, 29} {
		run := storetest.RunOf(named.ID, storetest.Noon.Add(time.Duration(n)*time.Second))
		run.JobVersion = version
		runs = append(runs, run)
	}
	storetest.Add(t, s, nil, runs...)
	step := func(before time.Time) func() (repository.Purged, error) {
		return func() (repository.Purged, error) { return s.PurgeVersions(t.Context(), before, 5, 7) }
	}
	require.Equal(t, 45+25-2, walk(t, 7, step(storetest.Noon)))
	require.Equal(t, []int{46, 47, 48, 49, 50}, versionsOf(t, s, edited.ID))
	require.Equal(t, []int{3, 17, 26, 27, 28, 29, 30}, versionsOf(t, s, named.ID))
	require.Equal(t, []int{1, 2, 3, 4, 5}, versionsOf(t, s, few.ID))

	editTo(t, s, edited, 51)
	require.Zero(t, walk(t, 7, step(storetest.Noon.Add(time.Minute))), "it rests for an hour")
	require.Equal(t, 1, walk(t, 7, step(storetest.Noon.Add(time.Hour))))
}

// Of a job with very many runs not all are read: what was replaced lately stays.
func purgeVersionsOfBusy(t *testing.T, s *persistence.Store) {
	job := storetest.PlannedJob(1, storetest.Noon)
	storetest.Add(t, s, []*entity.Job{job})
	editTo(t, s, job, 40)
	old := storetest.RunOf(job.ID, storetest.Noon.AddDate(0, 0, -50))
	old.JobVersion = 4
	storetest.Add(t, s, nil, old)
	for n := range 20 {
		runs := make([]*entity.Execution, 1000)
		for i := range runs {
			runs[i] = storetest.RunOf(job.ID, storetest.Noon.Add(time.Duration(1000*n+i)*time.Second))
			runs[i].JobVersion = 40
		}
		storetest.Add(t, s, nil, runs...)
	}
	before := job.UpdateTime.Add(-29 * time.Minute) // when version 11 came
	require.Equal(t, 8, walk(t, 200, func() (repository.Purged, error) {
		return s.PurgeVersions(t.Context(), before, 5, 200)
	}))
	kept := versionsOf(t, s, job.ID)
	require.Equal(t, []int{4, 10, 11}, kept[:3], "the one that an old run names, and those that were the job's since")
	require.Len(t, kept, 32)
}

// Jobs that keep all they have do not hide those behind them.
func purgeBehindManyJobs(t *testing.T, s *persistence.Store) {
	jobs := make([]*entity.Job, 2100) // more than a step looks at
	for i := range jobs {
		jobs[i] = storetest.PlannedJob(i+1, storetest.Noon)
		jobs[i].UpdateTime = storetest.Noon.AddDate(0, 0, -40)
	}
	storetest.Add(t, s, jobs)
	edited, removed := jobs[len(jobs)-2], jobs[len(jobs)-1]
	editTo(t, s, edited, 7)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		removed.Version++
		removed.NextFireTime, removed.DueTime = time.Time{}, time.Time{}
		return tx.Jobs.Update(ctx, removed, true)
	})
	require.Equal(t, 2, walk(t, 7, func() (repository.Purged, error) {
		return s.PurgeVersions(t.Context(), storetest.Noon, 5, 7)
	}))
	require.Equal(t, []int{3, 4, 5, 6, 7}, versionsOf(t, s, edited.ID))
	require.Equal(t, 3, walk(t, 7, func() (repository.Purged, error) {
		return s.PurgeJobs(t.Context(), storetest.Noon, 7)
	}))
}

func purgeJobs(t *testing.T, s *persistence.Store) {
	old := storetest.Noon.AddDate(0, 0, -40)
	jobs := make([]*entity.Job, 6)
	for i := range jobs {
		jobs[i] = storetest.PlannedJob(i+1, storetest.Noon)
		jobs[i].UpdateTime = old
	}
	gone, young, alive, withRun, withBackfill, many := jobs[0], jobs[1], jobs[2], jobs[3], jobs[4], jobs[5]
	storetest.Add(t, s, jobs, storetest.Ended(storetest.RunOf(withRun.ID, old), old))
	storetest.AddBackfills(t, s, func() entity.Backfill {
		b := storetest.BackfillOf(1, 1)
		b.JobID = withBackfill.ID
		return b
	}())
	editTo(t, s, many, 30)
	remove := func(job *entity.Job, at time.Time) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			job.Version, job.UpdateTime = job.Version+1, at
			job.NextFireTime, job.DueTime = time.Time{}, time.Time{}
			return tx.Jobs.Update(ctx, job, true)
		})
	}
	for _, job := range jobs {
		switch job {
		case alive:
		case young:
			remove(job, storetest.Noon)
		default:
			remove(job, old)
		}
	}
	step := &entity.Job{ID: workflow.StepID(gone.ID, "load")}
	steps := []workflow.StepRow{
		{ID: step.ID, WorkflowID: gone.ID, Name: "load"},
		{ID: workflow.StepID(gone.ID, "tell"), WorkflowID: gone.ID, Name: "tell"},
		{ID: workflow.StepID(alive.ID, "load"), WorkflowID: alive.ID, Name: "load"},
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.WorkflowRuns.AddSteps(ctx, steps)
	})
	figures := addFigures(t, s, gone, young, alive, step)
	purge := func(before time.Time) int {
		return walk(t, 12, func() (repository.Purged, error) { return s.PurgeJobs(t.Context(), before, 10) })
	}
	before := storetest.Noon.AddDate(0, 0, -30)
	require.Equal(t, 1+2+1+31+3+2+3, purge(before),
		"two jobs with their versions, and the statistics of one with its steps")
	require.Equal(t, map[string]int{gone.ID: 0, young.ID: 3, alive.ID: 3, step.ID: 0}, figures())
	left, err := s.WorkflowSteps(t.Context(), []string{steps[0].ID, steps[1].ID, steps[2].ID})
	require.NoError(t, err)
	require.Equal(t, steps[2:], left)
	for _, job := range []*entity.Job{gone, many} {
		require.Empty(t, versionsOf(t, s, job.ID))
	}
	for _, job := range []*entity.Job{young, alive, withRun, withBackfill} {
		require.NotEmpty(t, versionsOf(t, s, job.ID))
	}
	_, err = s.Jobs.Get(t.Context(), alive.ID)
	require.NoError(t, err)
	_, err = s.Jobs.Get(t.Context(), gone.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))

	require.Equal(t, 1, walk(t, 10, func() (repository.Purged, error) {
		return s.PurgeExecutions(t.Context(), before, 10)
	}))
	require.Zero(t, purge(before.Add(time.Minute)), "it rests for an hour")
	require.Equal(t, 3, purge(before.Add(time.Hour)), "the job whose last run is gone")
}

// addFigures gives each of the jobs a row of sums, a baseline and a fire with shards. It returns what counts their
// rows.
func addFigures(t *testing.T, s *persistence.Store, jobs ...*entity.Job) (count func() map[string]int) {
	t.Helper()
	sum := func(job repository.BinaryID) repository.SumKey {
		return repository.SumKey{Period: statistics.Day, Start: storetest.Noon.UnixMilli(), Job: job}
	}
	type forOne func(ctx context.Context, w repository.StatisticsWriter, job *entity.Job, id repository.BinaryID) error
	each := func(fn forOne) {
		t.Helper()
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			for _, job := range jobs {
				id, _ := identity.Bytes(job.ID)
				if err := fn(ctx, tx.Statistics, job, id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	each(func(ctx context.Context, w repository.StatisticsWriter, _ *entity.Job, id repository.BinaryID) error {
		return errors.Join(
			w.PutSums(ctx, []repository.SumKey{sum(id)}, map[repository.SumKey]*statistics.StoredRow{sum(id): {}}),
			w.PutBaselines(ctx, []repository.StoredBaseline{{Job: id, Data: []byte{1}}}),
			w.PutOpenFires(ctx, []repository.OpenFire{{
				FireKey: repository.FireKey{Job: id, Fire: 7}, Opened: storetest.Noon, Data: []byte{1},
			}}))
	})
	return func() map[string]int {
		found := map[string]int{}
		each(func(ctx context.Context, w repository.StatisticsWriter, job *entity.Job, id repository.BinaryID) error {
			sums, _, err := w.Sums(ctx, []repository.SumKey{sum(id)})
			baselines, err2 := w.Baselines(ctx, []repository.BinaryID{id})
			fires, err3 := w.OpenFires(ctx, []repository.FireKey{{Job: id, Fire: 7}})
			found[job.ID] = len(sums) + len(baselines) + len(fires)
			return errors.Join(err, err2, err3)
		})
		return found
	}
}
