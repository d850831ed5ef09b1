package jobtest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

func jobsByName(t *testing.T, s *persistence.Store) {
	sorted := []repository.JobName{
		{Group: "a", Name: "Z"},
		{Group: "a", Name: "a"},
		{Group: "a", Name: "a "},
		{Group: "a", Name: "é"},
		{Group: "a-b", Name: "1"},
		{Group: "a1", Name: "x"},
		{Group: "b", Name: "x"},
		{Group: "组", Name: "任务 😀"},
	}
	jobs := make([]*entity.Job, len(sorted))
	for i, n := range sorted {
		at := (i*5 + 3) % len(sorted) // ids do not follow names
		jobs[at] = fullJob(at)
		jobs[at].Group, jobs[at].Name = n.Group, n.Name
	}
	storetest.Add(t, s, jobs)
	gone := fullJob(100)
	gone.Group, gone.Name = "a", "gone"
	storetest.Add(t, s, []*entity.Job{gone})
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, gone, true) })
	titles, err := s.Jobs.Titles(t.Context(), []string{jobs[0].ID, gone.ID, "nobody", "组", jobs[0].ID})
	require.NoError(t, err)
	require.Equal(t, map[string]repository.JobName{
		jobs[0].ID: {Group: jobs[0].Group, Name: jobs[0].Name}, gone.ID: {Group: "a", Name: "gone"},
	}, titles, "a deleted job keeps its title")

	walk := func(group string, limit int) (got []repository.JobName) {
		page := repository.Page{Limit: limit}
		for {
			found, next, err := s.Jobs.JobsByName(t.Context(), group, page)
			require.NoError(t, err)
			require.LessOrEqual(t, len(found), limit)
			for _, j := range found {
				require.Equal(t, "echo", j.Class, "all of the job is read")
				got = append(got, repository.JobName{Group: j.Group, Name: j.Name})
			}
			if next == "" {
				return got
			}
			page.Cursor = next
		}
	}
	for _, limit := range []int{1, 3, 100} {
		require.Equal(t, sorted, walk("", limit))
		require.Equal(t, sorted[:4], walk("a", limit))
		require.Equal(t, sorted[7:], walk("组", limit))
		require.Empty(t, walk("none", limit))
	}
	_, _, err = s.Jobs.JobsByName(t.Context(), "", repository.Page{Cursor: "%"})
	require.ErrorContains(t, err, "cursor")

	asked := append(sorted[:len(sorted):len(sorted)], []repository.JobName{
		{Group: "a", Name: "gone"},
		{Group: "A", Name: "a"},
		{Group: "b", Name: "X"},
	}...)
	named, err := s.Jobs.JobsNamed(t.Context(), asked)
	require.NoError(t, err)
	require.Len(t, named, len(sorted))
	for _, name := range asked {
		one, err := s.Jobs.JobsNamed(t.Context(), []repository.JobName{name})
		require.NoError(t, err)
		require.Len(t, one, map[bool]int{true: 1}[named[name] != nil], "%v", name)
	}
	for name, j := range named {
		require.Equal(t, name, repository.JobName{Group: j.Group, Name: j.Name})
	}
	named, err = s.Jobs.JobsNamed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, named)
}
