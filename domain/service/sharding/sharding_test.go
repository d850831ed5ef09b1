package sharding_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
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

func nodeNames(n int) []string {
	nodes := make([]string, n)
	for i := range nodes {
		nodes[i] = fmt.Sprintf("node-%d:8080", i)
	}
	return nodes
}

func owners(nodes []string) []string {
	all := make([]string, entity.Partitions)
	for p := range all {
		all[p] = sharding.Rendezvous(p, nodes)
	}
	return all
}

// Nodes of different releases share the partitions by this hash.
func TestRendezvousIsFrozen(t *testing.T) {
	nodes := []string{"a:8080", "b:8080", "c:8080"}
	var got string
	for p := range 32 {
		got += sharding.Rendezvous(p, nodes)[:1]
	}
	require.Equal(t, "ccaabccaaccbbbacbcccaacbaaaacbcb", got)
}

func TestNoNodesNoOwner(t *testing.T) {
	require.Empty(t, sharding.Rendezvous(1, nil))
	require.Empty(t, sharding.Owned("", nil))
	require.Empty(t, sharding.Owned("stranger", nodeNames(3)))
	require.Len(t, sharding.Owned("a", []string{"a"}), entity.Partitions)
}

func TestPartitionsAreSharedEvenly(t *testing.T) {
	for _, n := range []int{2, 3, 5, 10} {
		fair := entity.Partitions / n
		for _, node := range nodeNames(n) {
			share := len(sharding.Owned(node, nodeNames(n)))
			require.Greater(t, share, fair/2, "%s of %d", node, n)
			require.Less(t, share, fair*2, "%s of %d", node, n)
		}
	}
}

func TestEveryPartitionHasOneOwnerWhateverTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfNDistinct(rapid.String(), 1, 12, rapid.ID).Draw(t, "nodes")
		shuffled := rapid.Permutation(nodes).Draw(t, "shuffled")
		require.Equal(t, owners(nodes), owners(shuffled))
		var all []int
		for _, node := range nodes {
			owned := sharding.Owned(node, nodes)
			require.True(t, slices.IsSorted(owned))
			all = append(all, owned...)
		}
		slices.Sort(all)
		require.Len(t, all, entity.Partitions)
		require.Len(t, slices.Compact(all), entity.Partitions)
	})
}

func TestOnlyThePartitionsOfTheLeaverMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfNDistinct(rapid.StringN(1, 20, 20), 2, 12, rapid.ID).Draw(t, "nodes")
		gone := rapid.IntRange(0, len(nodes)-1).Draw(t, "gone")
		before := owners(nodes)
		after := owners(slices.Delete(slices.Clone(nodes), gone, gone+1))
		for p := range before {
			if before[p] != nodes[gone] {
				require.Equal(t, before[p], after[p])
			}
		}
	})
}

func BenchmarkOwned(b *testing.B) {
	nodes := nodeNames(10)
	b.ReportAllocs()
	for b.Loop() {
		_ = sharding.Owned(nodes[3], nodes)
	}
}
