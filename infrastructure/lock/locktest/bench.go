package locktest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Bench measures what a node pays: for taking and giving back one lock, for
// taking and giving back all partitions, and for each beat in which it keeps
// what it has.
func Bench(b *testing.B, l repository.Locker) {
	all, ctx := partitions("bench/"), b.Context()
	b.Run("lock and unlock", func(b *testing.B) {
		for b.Loop() {
			lease, ok, err := l.TryLock(ctx, "bench", "a", long)
			require.True(b, ok && err == nil, err)
			_, err = l.Unlock(ctx, lease)
			require.NoError(b, err)
		}
	})
	b.Run("take and release 256", func(b *testing.B) {
		for b.Loop() {
			granted, err := l.ClaimMany(ctx, all, "a", long)
			require.True(b, len(granted) == len(all) && err == nil, err)
			require.NoError(b, l.ReleaseMany(ctx, all, "a"))
		}
	})
	b.Run("keep 256", func(b *testing.B) {
		for b.Loop() {
			granted, err := l.ClaimMany(ctx, all, "a", long)
			require.True(b, len(granted) == len(all) && err == nil, err)
		}
	})
	require.NoError(b, l.ReleaseMany(ctx, all, "a"))
}
