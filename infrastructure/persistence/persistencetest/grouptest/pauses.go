package grouptest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Pauses runs the suite over stores that open gives.
func Pauses(t *testing.T, open storetest.Opener) {
	t.Run("what is known of a group's", func(t *testing.T) { groupPauseNotes(t, open(t, nil)) })
	t.Run("what is known of a job's", func(t *testing.T) { jobPauseNotes(t, open(t, nil)) })
	t.Run("many jobs at once", func(t *testing.T) { manyStates(t, open(t, nil)) })
}

func groupPauseNotes(t *testing.T, s *persistence.Store) {
	storetest.Add(t, s, []*entity.Job{grouped(1, "a"), grouped(2, "b")})
	hold := func(paused bool, p entity.Pause, at time.Time) entity.Group {
		g, err := s.PauseGroup(t.Context(), "a", paused, p, at)
		require.NoError(t, err)
		read, err := s.Group(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, g, read)
		return g
	}
	over := func(at time.Time) (names []string) {
		groups, err := s.PausesOver(t.Context(), at)
		require.NoError(t, err)
		for _, g := range groups {
			names = append(names, g.Name)
		}
		return names
	}
	first := entity.Pause{Reason: "the target \"moves\" 搬家", User: "ann", Until: storetest.Noon.Add(time.Hour)}
	g := hold(true, first, storetest.Noon)
	require.Equal(t, []any{true, false, storetest.Noon, time.Time{}, first},
		[]any{g.Paused, g.Converged, g.PausedAt, g.ResumedAt, g.Pause})
	require.Empty(t, over(storetest.Noon.Add(time.Hour-time.Millisecond)))
	require.Equal(t, []string{"a"}, over(storetest.Noon.Add(time.Hour)))

	second := entity.Pause{Reason: "longer", User: "bob", Until: storetest.Noon.Add(2 * time.Hour)}
	g = hold(true, second, storetest.Noon.Add(time.Minute))
	require.Equal(t, []any{storetest.Noon, second}, []any{g.PausedAt, g.Pause},
		"the pause goes on, and says something else")
	require.Empty(t, over(storetest.Noon.Add(time.Hour)))

	g = hold(false, entity.Pause{}, storetest.Noon.Add(time.Hour))
	second.Until = time.Time{}
	require.Equal(t, []any{false, false, storetest.Noon, storetest.Noon.Add(time.Hour), second},
		[]any{g.Paused, g.Converged, g.PausedAt, g.ResumedAt, g.Pause})
	require.Empty(t, over(storetest.Noon.Add(24*time.Hour)))

	g = hold(true, entity.Pause{}, storetest.Noon.Add(2*time.Hour))
	require.Equal(t, storetest.Noon, g.PausedAt, "a job that was not told of its end is held since the first one began")
	g = hold(false, entity.Pause{}, storetest.Noon.Add(3*time.Hour))
	require.NoError(t, s.MarkConverged(t.Context(), "a", g.Version))
	g = hold(true, entity.Pause{}, storetest.Noon.Add(4*time.Hour))
	require.Equal(t, []any{storetest.Noon.Add(4 * time.Hour), time.Time{}, entity.Pause{}},
		[]any{g.PausedAt, g.ResumedAt, g.Pause})
}

func jobPauseNotes(t *testing.T, s *persistence.Store) {
	job, next := storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)
	storetest.Add(t, s, []*entity.Job{job, next, storetest.PlannedJob(3, storetest.Noon)})
	store := func(j *entity.Job) {
		j.Version++
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, j, false) })
		read, err := s.Jobs.Get(t.Context(), j.ID)
		require.NoError(t, err)
		require.Equal(t, []any{j.Status, j.PausedAt, j.PausedBy, j.Pause}, []any{
			read.Status, read.PausedAt, read.PausedBy,
			read.Pause,
		})
	}
	over := func(at time.Time, limit int) []string {
		ids, err := s.JobPausesOver(t.Context(), at, limit)
		require.NoError(t, err)
		return ids
	}
	for i, j := range []*entity.Job{next, job} {
		j.Status, j.PausedAt = entity.JobPaused, storetest.Noon
		j.Pause = entity.Pause{Reason: "why", User: "ann", Until: storetest.Noon.Add(time.Duration(i+1) * time.Hour)}
		store(j)
	}
	require.Empty(t, over(storetest.Noon.Add(time.Hour-time.Millisecond), 10))
	require.Equal(t, []string{next.ID}, over(storetest.Noon.Add(time.Hour), 10))
	require.Equal(t, []string{next.ID, job.ID}, over(storetest.Noon.Add(2*time.Hour), 10))
	require.Equal(t, []string{next.ID}, over(storetest.Noon.Add(2*time.Hour), 1), "the earliest first")

	next.Status, next.PausedAt, next.Pause = entity.JobEnabled, time.Time{}, entity.Pause{}
	store(next)
	job.Version++
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, job, true) })
	require.Empty(t, over(storetest.Noon.Add(2*time.Hour), 10), "one goes on, the other is deleted")
}

func manyStates(t *testing.T, s *persistence.Store) {
	jobs, ids := make([]*entity.Job, 3), []string{
		storetest.JobID(3), storetest.JobID(9), storetest.JobID(1), "nonsense",
		storetest.JobID(2),
	}
	for i := range jobs {
		jobs[i] = storetest.PlannedJob(i+1, storetest.Noon)
		jobs[i].Labels = map[string]string{"n": jobs[i].Name}
	}
	storetest.Add(t, s, jobs)
	var locked []*entity.Job
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		locked, err = tx.Jobs.LockMany(ctx, ids)
		if err != nil {
			return err
		}
		for i, job := range locked {
			full, err := s.Jobs.Get(t.Context(), job.ID)
			require.NoError(t, err)
			require.Equal(t, full, job)
			job.Name = "is not written"
			job.DecidedUntil = storetest.Noon.Add(time.Duration(i) * time.Minute)
			job.Version, job.UpdateTime = 2, storetest.Noon.Add(time.Minute)
			if i == 1 {
				job.NextFireTime, job.DueTime = storetest.Noon.Add(time.Hour), storetest.Noon.Add(time.Hour+5*time.Second)
				continue
			}
			job.Status, job.PausedBy, job.PausedAt, job.DueTime = entity.JobPaused, entity.PausedByGroup,
				storetest.Noon.Add(time.Duration(i)*time.Second), time.Time{}
			job.Pause = entity.Pause{Reason: "原因 '\\", User: "ann"}
		}
		return tx.Jobs.UpdateStates(ctx, locked)
	})
	require.Len(t, locked, 3)
	for i, want := range locked {
		got, err := s.Jobs.Get(t.Context(), storetest.JobID(i+1))
		require.NoError(t, err)
		want.Name = jobs[i].Name
		require.Equal(t, want, got)
		versions, _, err := s.Jobs.History(t.Context(), want.ID, repository.Page{})
		require.NoError(t, err)
		require.Len(t, versions, 2)
	}
	require.Error(t, s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Jobs.UpdateStates(ctx, []*entity.Job{storetest.PlannedJob(7, storetest.Noon)})
	}), "a job that is not there")
}
