package liveness_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

var (
	noon  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	terms = liveness.Timing{Beat: 500 * time.Millisecond, Lease: 3 * time.Second}
)

// node is one whose last beat was at a moment.
func node(id string, status entity.NodeStatus, beat time.Time) entity.Node {
	return entity.Node{
		ID: id, Status: status, Epoch: 1, LastHeartbeat: beat, Roles: []string{entity.RoleScheduler, entity.RoleExecutor},
		Life: entity.NodeLife{Lease: terms.Lease},
	}
}

// look returns the new states by node.
func look(w *liveness.FailureDetector, now time.Time, nodes ...entity.Node) map[string]entity.NodeStatus {
	out := map[string]entity.NodeStatus{}
	for _, v := range w.Evaluate(now, now.Sub(noon), nodes, "self").Transitions {
		out[v.Node.ID] = v.Status
	}
	return out
}

// first looks each beat until the node is in a state, and says after what age of
// its beat; a node that is SUSPECT says so in its row.
func first(w *liveness.FailureDetector, n entity.Node, status entity.NodeStatus, every time.Duration) time.Duration {
	for at := noon; at.Before(noon.Add(time.Minute)); at = at.Add(every) {
		got := look(w, at, n)[n.ID]
		if got == status {
			return at.Sub(n.LastHeartbeat)
		}
		if got == entity.NodeSuspect {
			n.Status = got
		}
	}
	return 0
}

func TestABeatGrowsOld(t *testing.T) {
	t.Parallel()
	for _, phase := range []time.Duration{0, 100, 200, 300, 400, 499} {
		beat := noon.Add(-phase * time.Millisecond)
		suspect := first(liveness.NewFailureDetector(terms), node("n", entity.NodeUp, beat), entity.NodeSuspect, terms.Beat)
		require.Greater(t, suspect, 1250*time.Millisecond)
		require.LessOrEqual(t, suspect, 1750*time.Millisecond)
		for _, status := range []entity.NodeStatus{entity.NodeUp, entity.NodeSuspect, entity.NodeDraining} {
			down := first(liveness.NewFailureDetector(terms), node("n", status, beat), entity.NodeDown, terms.Beat)
			require.Greater(t, down, 3*time.Second)
			require.LessOrEqual(t, down, 3600*time.Millisecond)
		}
	}
	w := liveness.NewFailureDetector(terms)
	for at := range 100 {
		now := noon.Add(time.Duration(at) * terms.Beat)
		require.Empty(t, look(w, now, node("self", entity.NodeUp, noon), node("down", entity.NodeDown, noon)),
			"who looks is alive, and who is down is")
	}
}

// The store's clock is set ahead between two looks: the beat is as old as before, and its node works until its own
// lease ends, half a beat before the earliest verdict.
func TestAStepOfTheStoresClockAheadBringsNoDeathForward(t *testing.T) {
	t.Parallel()
	for step := range 6 {
		w, n := liveness.NewFailureDetector(terms), node("n", entity.NodeUp, noon)
		for looks := range 20 {
			passed, now := time.Duration(looks)*terms.Beat, noon.Add(time.Duration(looks)*terms.Beat)
			if looks > step {
				now = now.Add(30 * time.Second)
			}
			for _, v := range w.Evaluate(now, passed, []entity.Node{n}, "self").Transitions {
				if n.Status = v.Status; v.Status == entity.NodeDown {
					require.GreaterOrEqual(t, passed, terms.Lease, "a step after look %d", step)
				}
			}
		}
		require.Equal(t, entity.NodeDown, n.Status)
	}
}

// A node that drains keeps its state, and its partitions are scanned all the same
// when its beats are late.
func TestALateNodeIsToldWhateverItsRowSays(t *testing.T) {
	t.Parallel()
	w := liveness.NewFailureDetector(terms)
	for at := range 4 {
		age := time.Duration(at) * terms.Beat
		j := w.Evaluate(noon.Add(age), age, []entity.Node{node("n", entity.NodeDraining, noon)}, "self")
		require.Empty(t, j.Transitions)
		require.Equal(t, at == 3, j.Late["n"])
	}
	j := liveness.NewFailureDetector(terms).Evaluate(noon, 0, []entity.Node{node("n", entity.NodeSuspect, noon)}, "self")
	require.True(t, j.Late["n"], "another judge has said so")
}

func TestAVerdictIsRepeatedUntilItStands(t *testing.T) {
	t.Parallel()
	w := liveness.NewFailureDetector(terms)
	n := node("n", entity.NodeSuspect, noon)
	for at := noon; !at.After(noon.Add(3500 * time.Millisecond)); at = at.Add(terms.Beat) {
		look(w, at, n)
	}
	for i := range 5 {
		require.Equal(t, entity.NodeDown, look(w, noon.Add(4*time.Second+time.Duration(i)*terms.Beat), n)["n"])
	}
}

func TestASignOfLifeBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, sign := range map[string]func(n *entity.Node){
		"a beat":     func(n *entity.Node) { n.LastHeartbeat = n.LastHeartbeat.Add(time.Millisecond) },
		"a new life": func(n *entity.Node) { n.Epoch++ },
	} {
		t.Run(name, func(t *testing.T) {
			w, n := liveness.NewFailureDetector(terms), node("n", entity.NodeSuspect, noon.Add(-time.Second))
			for at := noon; at.Before(noon.Add(3 * time.Second)); at = at.Add(terms.Beat) {
				require.Empty(t, look(w, at, n))
			}
			sign(&n)
			for at := 3 * time.Second; at < 6*time.Second; at += terms.Beat {
				require.Empty(t, look(w, noon.Add(at), n), "%s", at)
			}
			require.Len(t, look(w, noon.Add(6*time.Second), n), 1)
		})
	}
}

// Rule 27: after an outage of the store everybody is late. A judge that was away
// for longer than a lease sees a whole lease before it judges.
func TestWhoWasAwayWaitsALease(t *testing.T) {
	t.Parallel()
	w, n := liveness.NewFailureDetector(terms), node("n", entity.NodeUp, noon)
	for at := noon; !at.After(noon.Add(2 * time.Second)); at = at.Add(terms.Beat) {
		look(w, at, n)
	}
	n.Status = entity.NodeSuspect
	w.Failed()
	for at := 10 * time.Second; at < 13*time.Second; at += terms.Beat {
		require.Empty(t, look(w, noon.Add(at), n), "at %s", at)
	}
	require.Equal(t, entity.NodeDown, look(w, noon.Add(13*time.Second), n)["n"])
}

func TestANewWatchJudgesNobody(t *testing.T) {
	t.Parallel()
	w, dead := liveness.NewFailureDetector(terms), node("n", entity.NodeSuspect, noon.Add(-time.Hour))
	for at := time.Duration(0); at < 3*time.Second; at += terms.Beat {
		require.Empty(t, look(w, noon.Add(at), dead))
	}
	require.NotEmpty(t, look(w, noon.Add(3*time.Second), dead))
}

// Evidence is of each node apart: gaps of a slow judge take nothing away.
func TestASlowJudgeSeesDeaths(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Second, 3 * time.Second, 10 * time.Second} {
		down := first(liveness.NewFailureDetector(terms), node("n", entity.NodeUp, noon), entity.NodeDown, every)
		require.NotZero(t, down, every)
		require.LessOrEqual(t, down, 4*every, "%s", every)
	}
}

// After a failed look only a beat is sure: the store may have been away for all.
func TestAJudgeThatOftenFailsSeesDeathsLater(t *testing.T) {
	t.Parallel()
	w, n := liveness.NewFailureDetector(terms), node("n", entity.NodeSuspect, noon)
	at := noon
	for range 100 {
		w.Failed()
		at = at.Add(1500 * time.Millisecond)
		if look(w, at, n)["n"] == entity.NodeDown {
			break
		}
	}
	require.Equal(t, 10500*time.Millisecond, at.Sub(noon), "seven looks, of which six cover a beat each")
}

// A program that publishes no lease beats each second and stops itself later.
func TestAnOlderProgramHasItsOwnTerms(t *testing.T) {
	t.Parallel()
	n := node("n", entity.NodeUp, noon)
	n.Life = entity.NodeLife{}
	suspect, down := first(liveness.NewFailureDetector(terms), n, entity.NodeSuspect, terms.Beat),
		first(liveness.NewFailureDetector(terms), n, entity.NodeDown, terms.Beat)
	require.Equal(t, []time.Duration{3 * time.Second, 9500 * time.Millisecond}, []time.Duration{suspect, down})
}

// A node that beats in time is never harmed, whatever the looks.
func TestWhoBeatsInTimeStaysUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := liveness.NewFailureDetector(terms)
		now, n := noon, node("n", entity.NodeUp, noon)
		for range rapid.IntRange(1, 50).Draw(t, "looks") {
			if rapid.IntRange(0, 4).Draw(t, "failed") == 0 {
				w.Failed()
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "pause")) * time.Millisecond)
			age := time.Duration(rapid.IntRange(0, 1250).Draw(t, "age")) * time.Millisecond
			if beat := now.Add(-age); beat.After(n.LastHeartbeat) {
				n.LastHeartbeat = beat
			}
			if now.Sub(n.LastHeartbeat) > n.SuspectAfter() {
				n.LastHeartbeat = now
			}
			if got := w.Evaluate(now, now.Sub(noon), []entity.Node{n}, "self"); len(got.Transitions) > 0 || len(got.Late) > 0 {
				t.Fatalf("%+v at %s", got, now)
			}
		}
	})
}

func TestWhoSharesPartitions(t *testing.T) {
	t.Parallel()
	api := node("api", entity.NodeUp, noon)
	api.Roles = []string{entity.RoleAPI}
	nodes := []entity.Node{
		node("up", entity.NodeUp, noon), node("suspect", entity.NodeSuspect, noon), node("down", entity.NodeDown, noon),
		node("draining", entity.NodeDraining, noon), api,
	}
	require.Equal(t, []string{"up", "suspect", "draining"}, liveness.Schedulers(nodes))
}
