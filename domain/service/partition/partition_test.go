package partition_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// testdata/owners.txt: nodes as id:weight, then the index of the owner of each
// partition as one digit. Nodes of different releases share the partitions by
// these tables: a change of one is a change of the protocol.
func TestOwnersAreFrozen(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/owners.txt")
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); lines++ {
		words := strings.Fields(scanner.Text())
		nodes := make([]rendezvous.Node, len(words)-1)
		for i, word := range words[:len(nodes)] {
			colon := strings.LastIndexByte(word, ':')
			weight, err := strconv.Atoi(word[colon+1:])
			require.NoError(t, err)
			nodes[i] = rendezvous.Node{ID: word[:colon], Weight: weight}
		}
		var got strings.Builder
		for _, owner := range partition.Table(nodes) {
			fmt.Fprint(&got, slices.IndexFunc(nodes, func(n rendezvous.Node) bool { return n.ID == owner }))
		}
		require.Equal(t, words[len(nodes)], got.String(), "%v", nodes)
	}
	require.Equal(t, 4, lines)
}

func TestNoNodesNoOwner(t *testing.T) {
	t.Parallel()
	require.Empty(t, partition.Owner(1, nil))
	require.Equal(t, [entity.Partitions]string{}, partition.Table(nil))
	require.Nil(t, partition.Owned("", nil))
	require.Nil(t, partition.Owned("stranger", named("a", "b")))
	require.Len(t, partition.Owned("a", named("a")), entity.Partitions)
}

func TestEveryPartitionHasOneOwnerWhateverTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawNodes(t, 1)
		table := partition.Table(nodes)
		require.Equal(t, table, partition.Table(rapid.Permutation(nodes).Draw(t, "shuffled")))
		var all []int
		for _, n := range nodes {
			owned := partition.Owned(n.ID, nodes)
			require.True(t, slices.IsSorted(owned))
			for _, p := range owned {
				require.Equal(t, n.ID, table[p])
				require.Equal(t, n.ID, partition.Owner(p, nodes))
			}
			all = append(all, owned...)
		}
		slices.Sort(all)
		require.Len(t, slices.Compact(all), entity.Partitions)
	})
}

// Read backwards it is the law of the joiner: only what it takes over moves.
func TestOnlyThePartitionsOfTheLeaverMove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawNodes(t, 2)
		gone := rapid.IntRange(0, len(nodes)-1).Draw(t, "gone")
		before := partition.Table(nodes)
		after := partition.Table(slices.Delete(slices.Clone(nodes), gone, gone+1))
		for p := range before {
			if before[p] == nodes[gone].ID {
				require.NotEqual(t, before[p], after[p])
			} else {
				require.Equal(t, before[p], after[p])
			}
		}
	})
}

// The number of partitions of one of three equal nodes is distributed like
// Binomial(256, 1/3): mean 85.3, standard deviation √(256·1/3·2/3) = 7.5. Six
// deviations are passed once in 500 million, so every share is in [41, 130].
func TestThreeEqualNodesShareEvenly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9.-]{1,40}`), 3, 3, rapid.ID).Draw(t, "ids")
		for _, id := range ids {
			mean, deviation := binomial(1.0 / 3)
			require.InDelta(t, mean, len(partition.Owned(id, named(ids...))), 6*deviation)
		}
	})
}

// Over a thousand clusters a node's share has the mean and the deviation of the
// binomial distribution: p is its part of all weights. The clusters are fixed.
func TestSharesAreBinomial(t *testing.T) {
	t.Parallel()
	const clusters = 1000
	for _, weights := range [][3]int{{1, 1, 1}, {1, 2, 5}, {1000, 10, 990}} {
		var sum, squares [3]float64
		for c := range clusters {
			nodes := make([]rendezvous.Node, 3)
			for i, w := range weights {
				nodes[i] = rendezvous.Node{ID: fmt.Sprintf("host-%d-%d-8080", c, i), Weight: w}
			}
			for i, n := range nodes {
				share := float64(len(partition.Owned(n.ID, nodes)))
				sum[i] += share
				squares[i] += share * share
			}
		}
		for i, w := range weights {
			mean, deviation := binomial(float64(w) / float64(weights[0]+weights[1]+weights[2]))
			got := sum[i] / clusters
			require.InDelta(t, mean, got, 4*deviation/math.Sqrt(clusters), "mean of weight %d in %v", w, weights)
			require.InEpsilon(t, deviation, math.Sqrt(squares[i]/clusters-got*got), 0.1, "deviation of weight %d in %v", w,
				weights)
		}
	}
}

func binomial(p float64) (mean, deviation float64) {
	return entity.Partitions * p, math.Sqrt(entity.Partitions * p * (1 - p))
}

func drawNodes(t *rapid.T, least int) []rendezvous.Node {
	ids := rapid.SliceOfNDistinct(rapid.String(), least, 12, rapid.ID).Draw(t, "ids")
	nodes := named(ids...)
	for i := range nodes {
		nodes[i].Weight = rapid.IntRange(1, rendezvous.MaxWeight).Draw(t, "weight")
	}
	return nodes
}

func named(ids ...string) []rendezvous.Node {
	nodes := make([]rendezvous.Node, len(ids))
	for i, id := range ids {
		nodes[i] = rendezvous.Node{ID: id, Weight: 1}
	}
	return nodes
}

// 256 partitions among 20 nodes must cost less than 100 µs.
func BenchmarkTable(b *testing.B) {
	nodes := make([]rendezvous.Node, 20)
	for i := range nodes {
		nodes[i] = rendezvous.Node{ID: fmt.Sprintf("host-%d-8080", i), Weight: 1 + i%5}
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = partition.Table(nodes)
	}
}

// The partitions of a late node are scanned by the nodes that would own them without that one,
// and by all that would when several are late.
func TestTheLateAreScannedFor(t *testing.T) {
	t.Parallel()
	var nodes []entity.Node
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		nodes = append(nodes, entity.Node{ID: id, Status: entity.NodeUp, Roles: []string{entity.RoleScheduler}})
	}
	count := func(late map[string]bool, alive ...string) map[int]int {
		scanned := map[int]int{}
		for _, id := range alive {
			last := -1
			for _, p := range partition.Scanned(id, nodes, late) {
				require.Greater(t, p, last, "in order, each once")
				last = p
				scanned[p]++
			}
		}
		return scanned
	}
	require.Len(t, count(nil, "a", "b", "c", "d", "e"), entity.Partitions)
	for _, n := range count(nil, "a", "b", "c", "d", "e") {
		require.Equal(t, 1, n)
	}
	require.Equal(t, partition.Owned("b", partition.Members(nodes)),
		partition.Scanned("b", nodes, map[string]bool{"b": true}), "who finds itself late scans on")
	one := map[string]bool{"b": true}
	require.Len(t, count(one, "a", "c", "d", "e"), entity.Partitions, "without the late one nothing is left out")
	two := map[string]bool{"b": true, "c": true}
	require.Len(t, count(two, "a", "d", "e"), entity.Partitions, "nor without both")
	require.Len(t, count(two, "a", "c", "d", "e"), entity.Partitions, "nor when one of them is there after all")
}
