package job_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// named is a definition that starts other jobs by their names.
func named(name string, next ...string) *entity.Job {
	return enginetest.Job(name, func(j *entity.Job) {
		for _, n := range next {
			j.Next = append(j.Next, entity.Next{Name: n, On: entity.NextOnSuccess})
		}
	})
}

// Names become ids, and are shown as they are now.
func TestJobsThatFollowAreKnownByTheirIDs(t *testing.T) {
	d := servicetest.New(t)
	last, err := d.Jobs.Create(t.Context(), named("last"), true)
	require.NoError(t, err)
	first, err := d.Jobs.Create(t.Context(), named("first", last.Name), true)
	require.NoError(t, err)
	require.Equal(t, last.ID, first.Next[0].Job)
	renamed := *last
	renamed.Name = "renamed"
	_, err = d.Jobs.Replace(t.Context(), last.ID, &renamed, 0, 0)
	require.NoError(t, err)
	shown, err := d.Jobs.Get(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, last.Group+"/renamed", shown.Next[0].Name)
	edges, err := d.Store.EdgesTo(t.Context(), []string{last.ID})
	require.NoError(t, err)
	require.Len(t, edges, 1)
	require.NoError(t, d.Jobs.Delete(t.Context(), last.ID, 0))
	shown, err = d.Jobs.Get(t.Context(), first.ID)
	require.NoError(t, err)
	require.Empty(t, shown.Next[0].Name, "it is gone")
	_, err = d.Jobs.Replace(t.Context(), first.ID, shown, 0, 0)
	require.ErrorContains(t, err, "deleted")
	require.NoError(t, d.Jobs.Delete(t.Context(), first.ID, 0))
	edges, err = d.Store.EdgesTo(t.Context(), []string{last.ID})
	require.NoError(t, err)
	require.Empty(t, edges, "a deleted job starts nothing")
}

// A job that cannot follow is refused, with the field and the remedy, and changes nothing.
func TestWhatCannotFollowIsRefused(t *testing.T) {
	servicetest.EachStore(t, func(d *servicetest.Desk) {
		t := d.T
		a, err := d.Jobs.Create(t.Context(), named("a"), true)
		require.NoError(t, err)
		b, err := d.Jobs.Create(t.Context(), named("b", "a"), true)
		require.NoError(t, err)
		c, err := d.Jobs.Create(t.Context(), named("c", b.Group+"/b"), true)
		require.NoError(t, err)
		for name, refused := range map[string]struct {
			job  *entity.Job
			next []string
			says string
		}{
			"itself":        {a, []string{"a"}, "a → a is a circle"},
			"a circle":      {a, []string{"c"}, "a → c → b → a is a circle"},
			"unknown":       {a, []string{"nobody"}, `there is no job "nobody"`},
			"another group": {a, []string{"elsewhere/c"}, `in the group elsewhere`},
			"twice":         {c, []string{"b", "b"}, "stands there already"},
		} {
			edit := named(refused.job.Name, refused.next...)
			_, err := d.Jobs.Replace(t.Context(), refused.job.ID, edit, 0, 0)
			require.ErrorContains(t, err, refused.says, name)
			require.True(t, apperror.Is(err, apperror.KindInvalid), name)
			kept, err := d.Jobs.Get(t.Context(), refused.job.ID)
			require.NoError(t, err)
			require.Equal(t, 1, kept.Version, name)
		}
	})
}

// A chain may be 16 steps long, whichever end grows.
func TestAChainHasABound(t *testing.T) {
	d := servicetest.New(t)
	last := "job 0"
	_, err := d.Jobs.Create(t.Context(), named(last), true)
	require.NoError(t, err)
	for i := range entity.MaxChainDepth {
		name := fmt.Sprintf("job %d", i+1)
		_, err := d.Jobs.Create(t.Context(), named(name, last), true)
		require.NoError(t, err, name)
		last = name
	}
	_, err = d.Jobs.Create(t.Context(), named("too deep", last), true)
	require.ErrorContains(t, err, "at most 16 times in a row")
	_, err = d.Jobs.Create(t.Context(), named("end"), true)
	require.NoError(t, err)
	jobs, err := d.Store.Jobs.JobsNamed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, jobs)
}
