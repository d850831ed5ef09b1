package rendezvous_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

const keys = 100_000

func wins(nodes []rendezvous.Node) map[string]int {
	ring, won := rendezvous.New(nodes), map[string]int{}
	for key := range uint64(keys) {
		won[ring.Owner(key)]++
	}
	return won
}

// A node with the share p of all weights wins a Binomial(n, p) number of n
// keys; the keys are fixed, so the test cannot fail by chance.
func TestSharesFollowWeights(t *testing.T) {
	t.Parallel()
	for _, weights := range [][]int{
		{1, 1, 1},
		{1, 2, 5},
		{10, 10, 1},
		{1, 100},
		{1000, 999, 1000, 1},
		{7, 7, 7, 7, 7, 7, 7, 7, 7, 7},
	} {
		nodes, total := make([]rendezvous.Node, len(weights)), 0
		for i, w := range weights {
			nodes[i] = rendezvous.Node{ID: fmt.Sprintf("host-%d-8080", i), Weight: w}
			total += w
		}
		won := wins(nodes)
		for _, n := range nodes {
			p := float64(n.Weight) / float64(total)
			require.InDelta(t, keys*p, won[n.ID], 4*math.Sqrt(keys*p*(1-p)), "%s of %v", n.ID, weights)
		}
	}
}

func TestWeightsOutOfRangeCountAsTheBound(t *testing.T) {
	t.Parallel()
	bounded := []rendezvous.Node{{ID: "a", Weight: 1}, {ID: "b", Weight: rendezvous.MaxWeight}, {ID: "c", Weight: 1}}
	wild := []rendezvous.Node{{ID: "a"}, {ID: "b", Weight: math.MaxInt}, {ID: "c", Weight: -5}}
	require.Equal(t, wins(bounded), wins(wild))
}

func TestNobodyWinsAmongNobody(t *testing.T) {
	t.Parallel()
	require.Empty(t, rendezvous.New(nil).Owner(7))
	require.Empty(t, rendezvous.Ring{}.Owner(7))
}

func TestOnlyRatiosOfWeightsCount(t *testing.T) {
	t.Parallel()
	nodes := func(unit int) []rendezvous.Node {
		return []rendezvous.Node{{ID: "a", Weight: unit}, {ID: "b", Weight: 3 * unit}, {ID: "c", Weight: 2 * unit}}
	}
	require.Equal(t, wins(nodes(1)), wins(nodes(50)))
}

// A raised weight only takes keys; it moves none between the others.
func TestRaisingAWeightOnlyTakes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.String(), 2, 8, rapid.ID).Draw(t, "ids")
		nodes := make([]rendezvous.Node, len(ids))
		for i, id := range ids {
			nodes[i] = rendezvous.Node{ID: id, Weight: rapid.IntRange(1, 500).Draw(t, "weight")}
		}
		heavier := slices.Clone(nodes)
		raised := rapid.IntRange(0, len(nodes)-1).Draw(t, "raised")
		heavier[raised].Weight *= 2
		before, after := rendezvous.New(nodes), rendezvous.New(heavier)
		for key := range uint64(200) {
			if now := after.Owner(key); now != ids[raised] {
				require.Equal(t, before.Owner(key), now)
			}
		}
	})
}

func TestHashIsFrozen(t *testing.T) {
	t.Parallel()
	require.Equal(t, uint64(0xc3817c016ba4ff30), rendezvous.Hash(""))
	require.Equal(t, uint64(0xdece2d282bedb8bf), rendezvous.Hash("host-1-8080"))
}
