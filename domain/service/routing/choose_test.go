package routing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		required, labels map[string]string
		want             bool
	}{
		{nil, nil, true},
		{map[string]string{}, map[string]string{"zone": "a"}, true},
		{map[string]string{"zone": "a"}, map[string]string{"zone": "a", "gpu": "yes"}, true},
		{map[string]string{"zone": "a"}, map[string]string{"zone": "b"}, false},
		{map[string]string{"zone": "a", "gpu": "yes"}, map[string]string{"zone": "a"}, false},
		{map[string]string{"zone": "a"}, nil, false},
		{map[string]string{"gpu": ""}, nil, false},
		{map[string]string{"gpu": ""}, map[string]string{"gpu": ""}, true},
	} {
		require.Equal(t, c.want, routing.Match(c.required, c.labels), "%v in %v", c.required, c.labels)
	}
}

func TestWhoMayBeChosen(t *testing.T) {
	t.Parallel()
	up, roomless := node("up"), node("full", load(10, 10))
	for name, c := range map[string]struct {
		nodes []routing.Candidate
		want  string // of every strategy that chooses; "nobody"
	}{
		"nobody there":             {nil, "nobody"},
		"one":                      {[]routing.Candidate{up}, "up"},
		"one that is full":         {[]routing.Candidate{roomless}, "full"},
		"over its slots":           {[]routing.Candidate{node("x", load(12, 10))}, "x"},
		"room before full":         {[]routing.Candidate{roomless, up}, "up"},
		"not a draining one":       {[]routing.Candidate{node("x", status(entity.NodeDraining)), up}, "up"},
		"not a suspect":            {[]routing.Candidate{node("x", status(entity.NodeSuspect)), up}, "up"},
		"not one that is down":     {[]routing.Candidate{node("x", status(entity.NodeDown)), up}, "up"},
		"full before suspect":      {[]routing.Candidate{node("x", status(entity.NodeSuspect)), roomless}, "full"},
		"only draining":            {[]routing.Candidate{node("x", status(entity.NodeDraining))}, "nobody"},
		"only down":                {[]routing.Candidate{node("x", status(entity.NodeDown))}, "nobody"},
		"state unknown":            {[]routing.Candidate{node("x", status(""))}, "nobody"},
		"without an executor":      {[]routing.Candidate{node("x", load(0, 0))}, "nobody"},
		"suspect without executor": {[]routing.Candidate{node("x", load(0, 0), status(entity.NodeSuspect))}, "nobody"},
		"up, full and all the rest": {[]routing.Candidate{
			node("a", status(entity.NodeDown)),
			node("b", status(entity.NodeSuspect)), node("d", status(entity.NodeDraining)), roomless, up,
		}, "up"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strategy := range strategies {
				want := c.want
				if strategy == entity.RouteAny && want != "nobody" {
					want = ""
				}
				require.Equal(t, want, chosen(strategy, job(1), c.nodes, routing.State{}), strategy)
			}
		})
	}
}

func TestASuspectIsTheLastResortButOfFailover(t *testing.T) {
	t.Parallel()
	nodes := []routing.Candidate{node("b", status(entity.NodeSuspect)), node("a", status(entity.NodeDraining))}
	for _, strategy := range strategies {
		want := map[entity.RoutingStrategy]string{entity.RouteAny: "", entity.RouteFailover: "nobody"}
		if _, special := want[strategy]; !special {
			want[strategy] = "b"
		}
		require.Equal(t, want[strategy], chosen(strategy, job(1), nodes, routing.State{}), strategy)
	}
}

func TestBroadcast(t *testing.T) {
	t.Parallel()
	zone := func(id, zone string, s entity.NodeStatus, slots int) entity.Node {
		return entity.Node{ID: id, Status: s, Slots: slots, Running: slots, Labels: map[string]string{"zone": zone}}
	}
	nodes := []entity.Node{
		zone("d", "a", entity.NodeUp, 10), zone("b", "a", entity.NodeSuspect, 10), zone("a", "b", entity.NodeUp, 10),
		zone("c", "a", entity.NodeDown, 10), zone("e", "a", entity.NodeDraining, 10), zone("f", "a", entity.NodeUp, 0),
	}
	require.Equal(t, []string{"b", "d"},
		routing.Broadcast(nodes, entity.NodeClass{Labels: map[string]string{"zone": "a"}}))
	require.Equal(t, []string{"a", "b", "d"}, routing.Broadcast(nodes, entity.NodeClass{}))
	require.Empty(t, routing.Broadcast(nodes, entity.NodeClass{Labels: map[string]string{"zone": "c"}}))
	slices.Reverse(nodes)
	require.Equal(t, []string{"a", "b", "d"}, routing.Broadcast(nodes, entity.NodeClass{}))
}

// Whatever comes in, the node is a candidate of the best rank, and neither the
// order of the candidates nor a second call changes the choice.
func TestChoiceIsALiveCandidate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := drawCandidates(t)
		state := routing.State{
			Fire: rapid.Int64().Draw(t, "fire"), Shard: rapid.Int().Draw(t, "shard"), Shards: rapid.Int().Draw(t, "shards"),
			Draw: rapid.Uint64().Draw(t, "draw"), Usage: map[string]routing.Usage{},
		}
		for _, n := range nodes {
			if rapid.Bool().Draw(t, "used") {
				at := start.Add(rapid.SampledFrom([]time.Duration{0, 1, 2}).Draw(t, "last"))
				state.Usage[n.ID] = routing.Usage{
					Runs: rapid.IntRange(0, 3).Draw(t, "runs"), Last: at,
					Live: rapid.IntRange(0, 2).Draw(t, "live"),
				}
			}
		}
		jobID := rapid.String().Draw(t, "job")
		for _, strategy := range append(slices.Clone(strategies), "UNKNOWN") {
			id, ok := routing.Choose(strategy, jobID, nodes, state)
			requireFit(t, strategy, nodes, id, ok)
			again, okAgain := routing.Choose(strategy, jobID, rapid.Permutation(nodes).Draw(t, "shuffled"), state)
			require.Equal(t, id, again, strategy)
			require.Equal(t, ok, okAgain, strategy)
		}
	})
}

func FuzzChoose(f *testing.F) {
	f.Add(uint8(1), "job", []byte{0x00, 0x13, 0x21, 0x32}, int64(3), 1, 4, uint64(1<<63))
	f.Add(uint8(3), "", []byte{}, int64(-1), -1, -1, uint64(0))
	f.Fuzz(func(t *testing.T, strategy uint8, jobID string, shape []byte, fire int64, shard, shards int, draw uint64) {
		nodes := make([]routing.Candidate, len(shape))
		for i, b := range shape {
			states := []entity.NodeStatus{entity.NodeUp, entity.NodeSuspect, entity.NodeDown, entity.NodeDraining}
			nodes[i] = node(string(rune('a'+i)), status(states[b&3]), load(int(b>>2&3), int(b>>4&3)), weight(int(b>>6)))
		}
		chosenBy := strategies[int(strategy)%len(strategies)]
		id, ok := routing.Choose(chosenBy, jobID, nodes, routing.State{Fire: fire, Shard: shard, Shards: shards, Draw: draw})
		requireFit(t, chosenBy, nodes, id, ok)
	})
}

// requireFit says the rule once more, without ranks.
func requireFit(t require.TestingT, strategy entity.RoutingStrategy, nodes []routing.Candidate, id string, ok bool) {
	count := func(fits func(routing.Candidate) bool) (all int, chosen bool) {
		for _, n := range nodes {
			if n.Slots > 0 && fits(n) {
				all++
				chosen = chosen || n.ID == id
			}
		}
		return all, chosen
	}
	room, hasRoom := count(func(n routing.Candidate) bool { return n.Status == entity.NodeUp && n.Running < n.Slots })
	up, isUp := count(func(n routing.Candidate) bool { return n.Status == entity.NodeUp })
	suspects, isSuspect := count(func(n routing.Candidate) bool { return n.Status == entity.NodeSuspect })
	if strategy == entity.RouteFailover {
		suspects = 0
	}
	require.Equal(t, up+suspects > 0, ok, strategy)
	if !ok || strategy == entity.RouteAny || strategy == "UNKNOWN" {
		require.Empty(t, id, strategy)
		return
	}
	switch {
	case room > 0:
		require.True(t, hasRoom, strategy)
	case up > 0:
		require.True(t, isUp, strategy)
	default:
		require.True(t, isSuspect, strategy)
	}
}

func drawCandidates(t *rapid.T) []routing.Candidate {
	ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z0-9._-]{1,10}`), 0, 8, rapid.ID).Draw(t, "ids")
	nodes := make([]routing.Candidate, len(ids))
	for i, id := range ids {
		s := rapid.SampledFrom([]entity.NodeStatus{
			entity.NodeUp, entity.NodeUp, entity.NodeSuspect, entity.NodeDown,
			entity.NodeDraining,
		}).Draw(t, "status")
		slots := rapid.IntRange(0, 3).Draw(t, "slots")
		nodes[i] = node(id, status(s), load(rapid.IntRange(0, 4).Draw(t, "running"), slots),
			weight(rapid.Int().Draw(t, "weight")))
	}
	return nodes
}

func BenchmarkChoose(b *testing.B) {
	nodes := fleet(20)
	for _, strategy := range strategies {
		b.Run(string(strategy), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = routing.Choose(strategy, job(1), nodes, routing.State{})
			}
		})
	}
}
