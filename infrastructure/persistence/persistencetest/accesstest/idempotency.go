package accesstest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Idempotency runs the suite over stores that open gives.
func Idempotency(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	c := entity.IdempotentCall{Scope: "user POST /jobs", Key: "k", BodyHash: "h", CreateTime: storetest.Noon}
	const callers = 8
	var wg sync.WaitGroup
	var first, second, failed atomic.Int64
	for range callers {
		wg.Go(func() {
			existing, ok, err := s.Begin(t.Context(), c, time.Hour)
			switch {
			case err != nil:
				failed.Add(1)
			case ok:
				first.Add(1)
			case existing == c:
				second.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, []int64{1, callers - 1, 0}, []int64{first.Load(), second.Load(), failed.Load()})

	answered := c
	answered.Status, answered.Body = 201, `{"id":"😀"}`
	require.NoError(t, s.Complete(t.Context(), answered))
	require.NoError(t, s.Abandon(t.Context(), c), "an answer is not forgotten")
	existing, ok, err := s.Begin(t.Context(), c, time.Hour)
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, answered, existing)
	for _, other := range []entity.IdempotentCall{
		{Scope: c.Scope, Key: "K", CreateTime: storetest.Noon},
		{Scope: "other", Key: "k", CreateTime: storetest.Noon},
	} {
		_, ok, err = s.Begin(t.Context(), other, time.Hour)
		require.NoError(t, err)
		require.True(t, ok, "another scope or key is another call")
	}
	later := c
	later.CreateTime = storetest.Noon.Add(time.Hour + time.Millisecond)
	_, ok, err = s.Begin(t.Context(), later, time.Hour)
	require.NoError(t, err)
	require.True(t, ok, "the old answer is forgotten")
	require.NoError(t, s.Abandon(t.Context(), c))
	require.NoError(t, s.Complete(t.Context(), answered))
	existing, ok, err = s.Begin(t.Context(), later, time.Hour)
	require.NoError(t, err)
	require.False(t, ok, "what is told late of a former call under the key does not touch this one")
	require.Equal(t, later, existing)
	require.NoError(t, s.Abandon(t.Context(), later))
	_, ok, err = s.Begin(t.Context(), later, time.Hour)
	require.NoError(t, err)
	require.True(t, ok, "an abandoned call may be made again")
}
