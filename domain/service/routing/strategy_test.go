package routing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

func TestAnyLeavesTheRunToWhoeverIsFree(t *testing.T) {
	t.Parallel()
	require.Empty(t, chosen(entity.RouteAny, job(1), fleet(3), routing.State{}))
	require.Empty(t, chosen("FROM_A_LATER_RELEASE", job(1), fleet(3), routing.State{}),
		"no run is lost to an unknown strategy")
}

// Runs that follow one another meet all nodes before any is met again, whoever
// chooses: the turn is computed from the run's number, not remembered.
func TestRoundRobinIsEven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := fleet(rapid.IntRange(1, 9).Draw(t, "nodes"))
		shards := rapid.IntRange(0, 5).Draw(t, "shards")
		first := rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "first")
		other := rapid.Permutation(nodes).Draw(t, "another scheduler's view")
		var rounds []string
		for fire := first; len(rounds) < 3*len(nodes); fire++ {
			view := nodes
			if fire%2 == 0 {
				view = other
			}
			for shard := range max(shards, 1) {
				rounds = append(rounds,
					chosen(entity.RouteRoundRobin, job(1), view, routing.State{Fire: fire, Shard: shard, Shards: shards}))
			}
		}
		for at := 0; at+len(nodes) <= len(rounds); at++ {
			window := slices.Sorted(slices.Values(rounds[at : at+len(nodes)]))
			require.Len(t, slices.Compact(window), len(nodes), "from run %d on", at)
		}
	})
}

func TestFirstTurnsOfManyJobsAreSpread(t *testing.T) {
	t.Parallel()
	counts := tally(1000, func(i int) string { return chosen(entity.RouteRoundRobin, job(i), fleet(4), routing.State{}) })
	requireShares(t, counts, 1000, map[string]float64{"node-00": 0.25, "node-01": 0.25, "node-02": 0.25, "node-03": 0.25})
}

func TestRandomIsUniform(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	want := map[string]float64{"node-00": 0.2, "node-01": 0.2, "node-02": 0.2, "node-03": 0.2, "node-04": 0.2}
	requireShares(t, tally(10_000, func(int) string {
		return chosen(entity.RouteRandom, job(1), fleet(5), routing.State{Draw: random.Uint64()})
	}), 10_000, want)
	requireShares(t, tally(10_000, func(i int) string {
		return chosen(entity.RouteRandom, job(1), fleet(5), routing.State{Draw: routing.Draw(job(i), 1)})
	}), 10_000, want)
	require.NotEqual(t, routing.Draw(job(1), 1), routing.Draw(job(1), 2), "each attempt draws anew")
	require.Equal(t, "node-00", chosen(entity.RouteRandom, job(1), fleet(5), routing.State{Draw: 0}))
	require.Equal(t, "node-04", chosen(entity.RouteRandom, job(1), fleet(5), routing.State{Draw: math.MaxUint64}))
}

func TestWeightedFollowsWeights(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	nodes := []routing.Candidate{
		node("c", weight(5)), node("a", weight(1)), node("b", weight(2)), node("d", weight(-7)),
		node("e", weight(0)),
	}
	requireShares(t, tally(10_000, func(int) string {
		return chosen(entity.RouteWeighted, job(1), nodes, routing.State{Draw: random.Uint64()})
	}), 10_000, map[string]float64{"a": 0.1, "b": 0.2, "c": 0.5, "d": 0.1, "e": 0.1})
	huge := []routing.Candidate{node("a", weight(math.MaxInt)), node("b", weight(math.MaxInt))}
	require.Equal(t, "a", chosen(entity.RouteWeighted, job(1), huge, routing.State{Draw: math.MaxUint64/2 - 1}))
	require.Equal(t, "b", chosen(entity.RouteWeighted, job(1), huge, routing.State{Draw: math.MaxUint64}))
}

func TestLeastLoadedTakesTheLowestShareOfSlots(t *testing.T) {
	t.Parallel()
	nodes := []routing.Candidate{node("a", load(1, 2)), node("b", load(9, 20)), node("c", load(3, 6))}
	require.Equal(t, "b", chosen(entity.RouteLeastLoaded, job(1), nodes, routing.State{}))
}

func TestTiesAreSpreadOverTheEqual(t *testing.T) {
	t.Parallel()
	nodes := append(fleet(4), node("busy", load(5, 10)))
	state := routing.State{Usage: map[string]routing.Usage{"busy": {Runs: 9, Last: start}}}
	for _, strategy := range []entity.RoutingStrategy{entity.RouteLeastLoaded, entity.RouteLFU, entity.RouteLRU} {
		want := map[string]float64{"node-00": 0.25, "node-01": 0.25, "node-02": 0.25, "node-03": 0.25}
		requireShares(t, tally(1000, func(i int) string { return chosen(strategy, job(i), nodes, state) }), 1000, want)
		requireShares(t, tally(1000, func(i int) string {
			return chosen(strategy, job(1), nodes, routing.State{Shard: i, Usage: state.Usage})
		}), 1000, want)
		require.Equal(t, chosen(strategy, job(1), nodes, state), chosen(strategy, job(1), nodes, state))
	}
}

// With each choice counted, none of these sends a burst to one node: after k
// rounds every node has k runs.
func TestCountedChoicesAreEven(t *testing.T) {
	t.Parallel()
	for _, strategy := range []entity.RoutingStrategy{
		entity.RouteLeastLoaded, entity.RouteLFU, entity.RouteLRU,
		entity.RouteBusyOver,
	} {
		nodes, state := fleet(4), routing.State{}
		for i := range 20 {
			id := chosen(strategy, job(1), nodes, state)
			routing.Assign(nodes, &state, id, start.Add(time.Duration(i)*time.Second))
		}
		for _, n := range nodes {
			require.Equal(t, 5, n.Running, "%s under %s", n.ID, strategy)
			require.Equal(t, 5, state.Usage[n.ID].Runs)
			require.Equal(t, 5, state.Usage[n.ID].Live)
		}
	}
}

func TestAssignKeepsTheLatestStart(t *testing.T) {
	t.Parallel()
	var state routing.State
	routing.Assign(nil, &state, "a", start)
	routing.Assign(nil, &state, "a", start.Add(-time.Hour))
	require.Equal(t, routing.Usage{Runs: 2, Last: start, Live: 2}, state.Usage["a"])
}

func TestUsageDecides(t *testing.T) {
	t.Parallel()
	state := routing.State{Usage: map[string]routing.Usage{
		"node-00": {Runs: 5, Last: start, Live: 1},
		"node-01": {Runs: 7, Last: start.Add(-time.Minute), Live: 2},
		"node-02": {Runs: 4, Last: start.Add(time.Minute)},
		"node-03": {Runs: 9, Last: start.Add(time.Second)},
	}}
	for strategy, want := range map[entity.RoutingStrategy]string{
		entity.RouteLFU: "node-02", entity.RouteLRU: "node-01", entity.RouteBusyOver: "node-02",
	} {
		require.Equal(t, want, chosen(strategy, job(1), fleet(4), state), strategy)
		require.Equal(t, "node-04", chosen(strategy, job(1), append(fleet(4), node("node-04")),
			routing.State{Usage: map[string]routing.Usage{
				"node-00": {1, start, 1}, "node-01": {1, start, 1}, "node-02": {1, start, 1}, "node-03": {1, start, 1},
			}}), "%s: a node that never ran the job", strategy)
	}
}

func TestBusyOverWithoutAnIdleNode(t *testing.T) {
	t.Parallel()
	state := routing.State{Usage: map[string]routing.Usage{
		"node-00": {Live: 2}, "node-01": {Live: 1},
		"node-02": {Live: 1},
	}}
	require.Equal(t, "node-01", chosen(entity.RouteBusyOver, job(1), fleet(3), state),
		"the fewest runs of the job, then the order")
}

// A node that leaves takes only its own shards along, and they spread over the rest.
func TestConsistentHashMovesLittle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := fleet(rapid.IntRange(2, 12).Draw(t, "nodes"))
		gone := rapid.IntRange(0, len(nodes)-1).Draw(t, "gone")
		fewer := slices.Delete(slices.Clone(nodes), gone, gone+1)
		for i := range 300 {
			state := routing.State{Shard: i % 3}
			before := chosen(entity.RouteConsistentHash, job(i/3), nodes, state)
			after := chosen(entity.RouteConsistentHash, job(i/3), fewer, state)
			if before != nodes[gone].ID {
				require.Equal(t, before, after)
			}
		}
	})
}

func TestConsistentHashIsEvenAndFrozen(t *testing.T) {
	t.Parallel()
	counts := tally(3000, func(i int) string {
		return chosen(entity.RouteConsistentHash, job(i/3), fleet(3), routing.State{Shard: i % 3})
	})
	requireShares(t, counts, 3000, map[string]float64{"node-00": 1. / 3, "node-01": 1. / 3, "node-02": 1. / 3})
	var got string
	for i := range 24 {
		id := chosen(entity.RouteConsistentHash, job(i/2), fleet(10), routing.State{Shard: i % 2})
		got += id[len(id)-1:]
	}
	require.Equal(t, "109360675674544724137630", got)
}

func TestFirstAndLast(t *testing.T) {
	t.Parallel()
	nodes := []routing.Candidate{node("b"), node("c"), node("a")}
	require.Equal(t, "a", chosen(entity.RouteFirst, job(1), nodes, routing.State{}))
	require.Equal(t, "a", chosen(entity.RouteFailover, job(1), nodes, routing.State{}))
	require.Equal(t, "c", chosen(entity.RouteLast, job(1), nodes, routing.State{}))
}

// requireShares compares counts with a binomial distribution, at four
// deviations; the draws are fixed, so the test cannot fail by chance.
func requireShares(t *testing.T, counts map[string]int, n int, want map[string]float64) {
	t.Helper()
	require.Len(t, counts, len(want), fmt.Sprint(counts))
	for id, p := range want {
		require.InDelta(t, float64(n)*p, counts[id], 4*math.Sqrt(float64(n)*p*(1-p)), "%s: %v", id, counts)
	}
}
