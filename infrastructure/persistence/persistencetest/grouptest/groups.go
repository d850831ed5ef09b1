// Package grouptest is the contract of groups: limits, slots and pauses.
package grouptest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Groups runs the suite over stores that open gives.
func Groups(t *testing.T, open storetest.Opener) {
	t.Run("settings", func(t *testing.T) { groupSettings(t, open(t, nil)) })
	t.Run("a held group", func(t *testing.T) { heldGroup(t, open(t, nil)) })
	t.Run("a pause waits for changes of its jobs", func(t *testing.T) { pauseAfterChange(t, open(t, nil)) })
	t.Run("a drop waits for a first job", func(t *testing.T) { dropBesideFirstJob(t, open(t, nil)) })
	t.Run("what may be seen", func(t *testing.T) { visibleGroups(t, open(t, nil)) })
	t.Run("rights", func(t *testing.T) { rights(t, open(t, nil)) })
}

// grouped is a job of a group.
func grouped(n int, group string) *entity.Job {
	j := storetest.PlannedJob(n, storetest.Noon)
	j.Group = group
	return j
}

func groupNames(t *testing.T, s *persistence.Store, names []string) []string {
	t.Helper()
	var out []string
	p := repository.Page{Limit: 2}
	for {
		groups, next, err := s.ListGroups(t.Context(), names, p)
		require.NoError(t, err)
		for _, g := range groups {
			out = append(out, g.Name)
		}
		if p.Cursor = next; next == "" {
			return out
		}
	}
}

func groupSettings(t *testing.T, s *persistence.Store) {
	storetest.Add(t, s, []*entity.Job{grouped(1, "日本"), grouped(2, "alpha"), grouped(3, "alpha")})
	require.NoError(t, s.AddGroup(t.Context(), entity.Group{Name: "beta", MaxConcurrency: 3, CreateTime: storetest.Noon}))
	require.True(t, apperror.Is(s.AddGroup(t.Context(), entity.Group{Name: "beta", CreateTime: storetest.Noon}),
		apperror.KindConflict))
	require.Equal(t, []string{"alpha", "beta", "日本"}, groupNames(t, s, nil), "jobs bring their groups with them")
	require.Equal(t, []string{"日本"}, groupNames(t, s, []string{"日本", "gamma"}))
	require.Empty(t, groupNames(t, s, []string{}))

	g, err := s.LimitGroup(t.Context(), "beta", 7, 1, storetest.Noon.Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, entity.Group{
		Name: "beta", MaxConcurrency: 7, Converged: true, Version: 2, CreateTime: storetest.Noon,
		UpdateTime: storetest.Noon.Add(time.Second),
	}, g)
	_, err = s.LimitGroup(t.Context(), "beta", 9, 1, storetest.Noon)
	require.True(t, apperror.Is(err, apperror.KindConflict))
	got, err := s.Group(t.Context(), "beta")
	require.NoError(t, err)
	require.Equal(t, g, got, "a stale edit changes nothing")
	for _, name := range []string{"gamma", "beta ", "BETA"} {
		_, err = s.Group(t.Context(), name)
		require.True(t, apperror.Is(err, apperror.KindNotFound), name)
		_, err = s.LimitGroup(t.Context(), name, 1, 0, storetest.Noon)
		require.True(t, apperror.Is(err, apperror.KindNotFound), name)
		require.True(t, apperror.Is(s.DropGroup(t.Context(), name), apperror.KindNotFound), name)
	}

	require.True(t, apperror.Is(s.DropGroup(t.Context(), "alpha"), apperror.KindConflict), "it has jobs")
	require.NoError(t, s.DropGroup(t.Context(), "beta"))
	moved := grouped(3, "delta")
	moved.Version = 2
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Jobs.Update(ctx, grouped(2, "alpha"), true); err != nil {
			return err
		}
		return tx.Jobs.Update(ctx, moved, false)
	})
	require.NoError(t, s.DropGroup(t.Context(), "alpha"), "one job is deleted, the other has moved")
	require.Equal(t, []string{"delta", "日本"}, groupNames(t, s, nil))
}

// held asks as a change of a job does.
func held(t *testing.T, s *persistence.Store, group string) (held bool) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		terms, err := tx.Groups.Terms(ctx, group)
		held = terms.Paused()
		return err
	})
	return held
}

func heldGroup(t *testing.T, s *persistence.Store) {
	byGroup, byUser := grouped(4, "a"), grouped(5, "a")
	byGroup.Status, byGroup.PausedBy, byUser.Status = entity.JobPaused, entity.PausedByGroup, entity.JobPaused
	storetest.Add(t, s, []*entity.Job{grouped(1, "a"), grouped(2, "b"), grouped(3, "a"), byGroup, byUser})
	strays := func(group string, paused bool, after string) []string {
		ids, err := s.JobsOutOfSync(t.Context(), entity.Group{Name: group, Paused: paused}, after, 2)
		require.NoError(t, err)
		return ids
	}
	require.False(t, held(t, s, "a"))
	require.Equal(t, []string{storetest.JobID(1), storetest.JobID(3)}, strays("a", true, ""))
	require.Equal(t, []string{storetest.JobID(3)}, strays("a", true, storetest.JobID(1)))
	require.Equal(t, []string{storetest.JobID(1), storetest.JobID(2)}, strays(entity.AllJobs, true, ""))
	require.Equal(t, []string{storetest.JobID(4)}, strays("a", false, ""), "what a user paused stays paused")
	require.Equal(t, []string{storetest.JobID(4)}, strays(entity.AllJobs, false, ""))

	g, err := s.PauseGroup(t.Context(), "a", true, entity.Pause{}, storetest.Noon)
	require.NoError(t, err)
	require.True(t, g.Paused)
	require.False(t, g.Converged)
	require.True(t, held(t, s, "a"))
	require.False(t, held(t, s, "b"))
	require.Empty(t, strays(entity.AllJobs, false, ""), "its group is held")
	open, err := s.DivergedGroups(t.Context())
	require.NoError(t, err)
	require.Equal(t, []entity.Group{g}, open)
	require.NoError(t, s.MarkConverged(t.Context(), "a", g.Version-1))
	open, err = s.DivergedGroups(t.Context())
	require.NoError(t, err)
	require.Len(t, open, 1, "settled for what is not wanted any more")
	require.NoError(t, s.MarkConverged(t.Context(), "a", g.Version))
	again, err := s.PauseGroup(t.Context(), "a", true, entity.Pause{}, storetest.Noon.Add(time.Hour))
	require.NoError(t, err)
	require.True(t, again.Converged, "nothing changed")
	require.Equal(t, g.Version, again.Version)

	_, err = s.PauseGroup(t.Context(), entity.AllJobs, true, entity.Pause{}, storetest.Noon)
	require.NoError(t, err)
	require.True(t, held(t, s, "b"))
	require.True(t, held(t, s, "a group without a row"))
	_, err = s.PauseGroup(t.Context(), "a", false, entity.Pause{}, storetest.Noon)
	require.NoError(t, err)
	require.True(t, held(t, s, "a"), "all jobs are held")
	require.Empty(t, strays("a", false, ""))
	_, err = s.PauseGroup(t.Context(), entity.AllJobs, false, entity.Pause{}, storetest.Noon)
	require.NoError(t, err)
	require.Equal(t, []string{storetest.JobID(4)}, strays(entity.AllJobs, false, ""))
	_, err = s.PauseGroup(t.Context(), "unknown", true, entity.Pause{}, storetest.Noon)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// pauseAfterChange: a job that found its group open is there when the pause
// looks for jobs.
func pauseAfterChange(t *testing.T, s *persistence.Store) {
	storetest.Add(t, s, []*entity.Job{grouped(1, "a")})
	asked, paused := make(chan struct{}), make(chan error, 1)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Groups.Terms(ctx, "a"); err != nil {
			return err
		}
		go func() {
			close(asked)
			_, err := s.PauseGroup(context.WithoutCancel(ctx), "a", true, entity.Pause{}, storetest.Noon)
			paused <- err
		}()
		<-asked
		select {
		case <-paused:
			return fmt.Errorf("the group was paused under a change")
		case <-time.After(100 * time.Millisecond):
		}
		return tx.Jobs.Insert(ctx, grouped(2, "a"))
	})
	require.NoError(t, <-paused)
	ids, err := s.JobsOutOfSync(t.Context(), entity.Group{Name: "a", Paused: true}, "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{storetest.JobID(1), storetest.JobID(2)}, ids)
}

func visibleGroups(t *testing.T, s *persistence.Store) {
	mine, theirs := storetest.RunOf(storetest.JobID(1), storetest.Noon),
		storetest.RunOf(storetest.JobID(2), storetest.Noon)
	storetest.Add(t, s, []*entity.Job{grouped(1, "mine"), grouped(2, "theirs")}, mine, theirs)
	letters := []entity.DeadLetter{
		{ExecutionID: mine.ID, JobID: storetest.JobID(1), Reason: entity.ReasonError, CreateTime: storetest.Noon},
		{ExecutionID: theirs.ID, JobID: storetest.JobID(2), Reason: entity.ReasonTimeout, CreateTime: storetest.Noon},
		{
			ExecutionID: storetest.JobID(99), JobID: storetest.JobID(2), Reason: entity.ReasonTimeout,
			CreateTime: storetest.Noon.Add(time.Second), Message: "late",
		},
		{
			ExecutionID: storetest.JobID(98), JobID: storetest.JobID(2), Reason: entity.ReasonTimeout,
			CreateTime: storetest.Noon, ReplayedAs: storetest.JobID(97),
		},
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddDeadLetters(ctx, letters)
	})
	for _, c := range []struct {
		groups  []string
		jobs    []string
		letters int
		causes  []int
	}{
		{nil, []string{storetest.JobID(2), storetest.JobID(1)}, 4, []int{2, 1}},
		{[]string{}, nil, 0, nil},
		{[]string{"mine"}, []string{storetest.JobID(1)}, 1, []int{1}},
		{[]string{"mine", "theirs"}, []string{storetest.JobID(2), storetest.JobID(1)}, 4, []int{2, 1}},
		{[]string{"other"}, nil, 0, nil},
	} {
		jobs, _, err := s.Jobs.List(t.Context(), repository.JobFilter{Groups: c.groups}, repository.Page{})
		require.NoError(t, err)
		var seen []string
		for _, j := range jobs {
			seen = append(seen, j.ID)
		}
		require.Equal(t, c.jobs, seen, "%v", c.groups)
		runs, _, err := s.Executions.List(t.Context(), repository.ExecutionFilter{Groups: c.groups}, repository.Page{})
		require.NoError(t, err)
		require.Len(t, runs, len(c.jobs), "%v", c.groups)
		dead, _, err := s.DeadLetters(t.Context(), repository.DeadLetterFilter{Groups: c.groups}, repository.Page{})
		require.NoError(t, err)
		require.Len(t, dead, c.letters, "%v", c.groups)
		causes, err := s.DeadLetterCauses(t.Context(), repository.DeadLetterFilter{Groups: c.groups}, 10)
		require.NoError(t, err)
		var counts []int
		for _, cause := range causes {
			counts = append(counts, cause.Count)
		}
		require.Equal(t, c.causes, counts, "%v", c.groups)
	}
	causes, err := s.DeadLetterCauses(t.Context(), repository.DeadLetterFilter{Reason: entity.ReasonTimeout}, 10)
	require.NoError(t, err)
	require.Equal(t, []repository.DeadLetterCause{{
		JobID: storetest.JobID(2), Reason: entity.ReasonTimeout, Count: 2,
		First: storetest.Noon, Latest: causes[0].Latest,
	}}, causes)
	waiting, _, err := s.DeadLetters(t.Context(), repository.DeadLetterFilter{JobID: storetest.JobID(2), Waiting: true},
		repository.Page{})
	require.NoError(t, err)
	require.Len(t, waiting, 2, "one was replayed")
}

func rights(t *testing.T, s *persistence.Store) {
	bound := entity.User{
		ID: "u-1", Name: "ann", PasswordHash: "h", Role: entity.RoleOperator, CreateTime: storetest.Noon,
		UpdateTime: storetest.Noon,
	}
	bound.Groups, bound.Commands, bound.Secrets = map[string]entity.Role{"日本": entity.RoleViewer}, true, true
	require.NoError(t, s.AddUser(t.Context(), bound))
	got, err := s.UserByID(t.Context(), "u-1")
	require.NoError(t, err)
	require.Equal(t, bound, got)
	none := entity.Rights{Groups: map[string]entity.Role{}, Secrets: true}
	require.NoError(t, s.SetRole(t.Context(), "u-1", entity.RoleOperator, none, storetest.Noon))
	got, err = s.UserByName(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, none, got.Rights, "no group is not every group")
	require.NoError(t, s.SetRole(t.Context(), "u-1", entity.RoleOperator, entity.Rights{}, storetest.Noon))
	users, _, err := s.ListUsers(t.Context(), repository.Page{})
	require.NoError(t, err)
	require.Equal(t, entity.Rights{}, users[0].Rights)
}

// A group that a job is about to join is not dropped under it.
func dropBesideFirstJob(t *testing.T, s *persistence.Store) {
	require.NoError(t, s.AddGroup(t.Context(), entity.Group{Name: "alpha", CreateTime: storetest.Noon}))
	job := storetest.PlannedJob(1, storetest.Noon)
	job.Group = "alpha"
	dropped := make(chan error, 1)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Groups.Terms(ctx, "alpha"); err != nil {
			return err
		}
		go func() { dropped <- s.DropGroup(t.Context(), "alpha") }()
		select {
		case err := <-dropped:
			require.Fail(t, "it does not wait", "%v", err)
		case <-time.After(300 * time.Millisecond):
		}
		return tx.Jobs.Insert(ctx, job)
	})
	err := <-dropped
	require.True(t, apperror.Is(err, apperror.KindConflict), "%v", err)
	_, err = s.Group(t.Context(), "alpha")
	require.NoError(t, err)
}
