package sharding_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

func TestShardsAreNumberedFromZero(t *testing.T) {
	t.Parallel()
	require.Equal(t, []sharding.Shard{{0, 3}, {1, 3}, {2, 3}}, sharding.Shards(3))
	for _, total := range []int{1, 0, -5} {
		require.Equal(t, []sharding.Shard{{0, 1}}, sharding.Shards(total))
	}
}

func TestRangesKeepNeighboursTogether(t *testing.T) {
	t.Parallel()
	var ranges [][2]int
	for _, s := range sharding.Shards(3) {
		from, to := s.Range(7)
		ranges = append(ranges, [2]int{from, to})
	}
	require.Equal(t, [][2]int{{0, 3}, {3, 5}, {5, 7}}, ranges)
	from, to := sharding.Shard{Index: 1, Total: 2}.Range(1)
	require.Equal(t, from, to, "there is less to do than shards")
}

func TestRangeOfNonsenseIsEmpty(t *testing.T) {
	t.Parallel()
	for _, s := range []sharding.Shard{{}, {-1, 3}, {3, 3}, {0, -1}} {
		from, to := s.Range(10)
		require.Equal(t, from, to, "%v", s)
	}
	from, to := sharding.Shard{Index: 0, Total: 2}.Range(-4)
	require.Equal(t, from, to)
}

func FuzzShardRange(f *testing.F) {
	f.Add(0, 1)
	f.Add(7, 3)
	f.Add(1023, 1024)
	f.Add(100_000, 7)
	f.Add(math.MaxInt, 1024)
	f.Add(-1, -1)
	f.Fuzz(func(t *testing.T, count, total int) {
		total = min(total, 1024)
		next, least, most := 0, math.MaxInt, 0
		for _, s := range sharding.Shards(total) {
			from, to := s.Range(count)
			if from != to {
				require.Equal(t, next, from, "every item once, in order")
				next = to
			}
			least, most = min(least, to-from), max(most, to-from)
		}
		require.Equal(t, max(count, 0), next)
		require.LessOrEqual(t, most-least, 1)
	})
}
