package rendezvous

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTableOfLogarithms(t *testing.T) {
	t.Parallel()
	for i, log := range logs {
		require.InDelta(t, math.Log2(1+float64(i)/64)*(1<<32), float64(log), 1, "%d", i)
	}
}

func TestCostIsTheLogarithm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "draw")
		require.InDelta(t, 64-math.Log2(float64(draw)), float64(cost(draw))/(1<<32), 5e-5)
	})
}

func TestCostNeverRisesWithTheDraw(t *testing.T) {
	t.Parallel()
	require.Positive(t, cost(math.MaxUint64))
	require.Equal(t, uint64(64)<<32, cost(0))
	for shift := 1; shift < 64; shift++ {
		edge := uint64(1) << shift
		require.GreaterOrEqual(t, cost(edge-1), cost(edge), "at 2^%d", shift)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.Uint64Range(0, math.MaxUint64-1).Draw(t, "draw")
		step := rapid.Uint64Range(0, math.MaxUint64-draw).Draw(t, "step")
		require.GreaterOrEqual(t, cost(draw), cost(draw+step))
	})
}

// The order of entries is total, so that the owner does not depend on the
// order in which they come.
func TestEntriesOfOneCost(t *testing.T) {
	t.Parallel()
	entry := func(id string, draw, weight uint64) entry {
		return entry{node: &node{id: id, weight: weight}, draw: draw, cost: cost(draw)}
	}
	low, high := entry("a", 1<<63+1, 4), entry("b", 1<<63+2, 4)
	require.Equal(t, low.cost, high.cost)
	require.True(t, high.beats(low), "the greater draw")
	require.False(t, low.beats(high))
	twin := entry("b", 1<<63+1, 4)
	require.True(t, low.beats(twin), "the smaller id")
	require.False(t, twin.beats(low))
	require.False(t, low.beats(low))
}
