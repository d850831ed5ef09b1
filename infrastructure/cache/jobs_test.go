package cache_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/cache"
)

// countingReader holds definitions and counts how many were read in full.
type countingReader struct {
	repository.JobReader
	jobs map[string]*entity.Job
	read int
}

func (r *countingReader) Versions(_ context.Context, ids []string) (map[string]int, error) {
	out := map[string]int{}
	for _, id := range ids {
		if j := r.jobs[id]; j != nil {
			out[id] = j.Version
		}
	}
	return out, nil
}

func (r *countingReader) ByIDs(_ context.Context, ids []string) ([]*entity.Job, error) {
	var out []*entity.Job
	for _, id := range ids {
		out = append(out, r.jobs[id])
		r.read++
	}
	return out, nil
}

func readerOf(n int) *countingReader {
	r := &countingReader{jobs: map[string]*entity.Job{}}
	for i := range n {
		id := fmt.Sprintf("job-%d", i)
		r.jobs[id] = &entity.Job{ID: id, Version: 1}
	}
	return r
}

func TestLoadReadsADefinitionOncePerVersion(t *testing.T) {
	r := readerOf(2)
	c := cache.NewJobCache(r, 10)
	for range 3 {
		got, err := c.Load(t.Context(), []string{"job-0", "job-1", "job-0", "unknown"})
		require.NoError(t, err)
		require.Len(t, got, 2)
	}
	require.Equal(t, 2, r.read)
	r.jobs["job-0"] = &entity.Job{ID: "job-0", Version: 2, Name: "edited"}
	got, err := c.Load(t.Context(), []string{"job-0"})
	require.NoError(t, err)
	require.Equal(t, "edited", got["job-0"].Name, "an edit is seen at once, without a hint")
}

func TestADeletedJobIsNotServedFromTheCache(t *testing.T) {
	r := readerOf(1)
	c := cache.NewJobCache(r, 10)
	_, err := c.Load(t.Context(), []string{"job-0"})
	require.NoError(t, err)
	delete(r.jobs, "job-0")
	got, err := c.Load(t.Context(), []string{"job-0"})
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestTheCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	c := cache.NewJobCache(readerOf(0), 3)
	for i := range 3 {
		c.Keep(&entity.Job{ID: fmt.Sprint(i), Version: 1})
	}
	require.NotNil(t, c.Cached("0", 1))
	c.Keep(&entity.Job{ID: "3", Version: 1})
	require.Equal(t, 3, c.Len())
	require.NotNil(t, c.Cached("0", 1), "used lately")
	require.Nil(t, c.Cached("1", 1), "used longest ago")
}

func TestAnOlderVersionNeverReplacesANewerOne(t *testing.T) {
	c := cache.NewJobCache(readerOf(0), 3)
	c.Keep(&entity.Job{ID: "0", Version: 2})
	c.Keep(&entity.Job{ID: "0", Version: 1})
	require.NotNil(t, c.Cached("0", 2))
	require.Nil(t, c.Cached("0", 1))
}
