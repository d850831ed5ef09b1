package sharding_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

func TestShardsAreNumberedFromZero(t *testing.T) {
	require.Equal(t, []sharding.Shard{{0, 3}, {1, 3}, {2, 3}}, sharding.Shards(3))
	for _, total := range []int{1, 0, -5} {
		require.Equal(t, []sharding.Shard{{0, 1}}, sharding.Shards(total))
	}
}

func TestAssignKeepsNeighboursTogether(t *testing.T) {
	require.Equal(t, [][]int{{1, 2, 3}, {4, 5}, {6, 7}}, sharding.Assign([]int{1, 2, 3, 4, 5, 6, 7}, 3))
	require.Equal(t, [][]int{{1}, {}}, sharding.Assign([]int{1}, 2))
	require.Equal(t, [][]int{{1, 2}}, sharding.Assign([]int{1, 2}, 0))
}

func TestAppendingToAShareLeavesTheNextAlone(t *testing.T) {
	shares := sharding.Assign([]int{1, 2, 3, 4}, 2)
	_ = append(shares[0], 99)
	require.Equal(t, []int{3, 4}, shares[1])
}

func TestRangeOfNonsenseIsEmpty(t *testing.T) {
	for _, s := range []sharding.Shard{{}, {-1, 3}, {3, 3}, {0, -1}} {
		from, to := s.Range(10)
		require.Equal(t, from, to, "%v", s)
	}
	from, to := sharding.Shard{Index: 0, Total: 2}.Range(-4)
	require.Equal(t, from, to)
}

func FuzzShardAssign(f *testing.F) {
	f.Add(0, 1)
	f.Add(7, 3)
	f.Add(1023, 1024)
	f.Add(100_000, 7)
	f.Add(-1, -1)
	f.Fuzz(func(t *testing.T, count, total int) {
		count, total = min(max(count, 0), 100_000), min(total, 1024)
		items := make([]int, count)
		for i := range items {
			items[i] = i
		}
		shares := sharding.Assign(items, total)
		require.Len(t, shares, max(total, 1))
		require.True(t, slices.Equal(items, slices.Concat(shares...)), "every item once, in order")
		for i, share := range shares {
			require.LessOrEqual(t, len(shares[0])-len(share), 1)
			require.GreaterOrEqual(t, len(shares[0]), len(share))
			from, to := sharding.Shard{Index: i, Total: len(shares)}.Range(count)
			require.Equal(t, len(share), to-from)
		}
	})
}
