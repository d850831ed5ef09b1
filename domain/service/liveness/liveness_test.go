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
	terms = liveness.Terms{Beat: time.Second, Lease: 6 * time.Second}
)

// node is one whose last beat was at a moment.
func node(id string, status entity.NodeStatus, beat time.Time) entity.Node {
	return entity.Node{ID: id, Status: status, Epoch: 1, LastHeartbeat: beat, Roles: []string{entity.RoleScheduler, entity.RoleExecutor}}
}

// seeing is a watch that has seen well for long.
func seeing() *liveness.Watch {
	w := liveness.NewWatch(terms)
	w.Blind(noon.Add(-time.Hour))
	return w
}

// look returns the new states by node.
func look(w *liveness.Watch, now time.Time, nodes ...entity.Node) map[string]entity.NodeStatus {
	out := map[string]entity.NodeStatus{}
	for _, v := range w.Judge(now, nodes, "self") {
		out[v.Node.ID] = v.Status
	}
	return out
}

func TestWhatABeatSaysByItsAge(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		from entity.NodeStatus
		want entity.NodeStatus // "": nothing changes
	}{
		{0, entity.NodeUp, ""},
		{-time.Second, entity.NodeUp, ""}, // a look whose time was read before the beat
		{2500 * time.Millisecond, entity.NodeUp, ""},
		{2501 * time.Millisecond, entity.NodeUp, entity.NodeSuspect},
		{6 * time.Second, entity.NodeUp, entity.NodeSuspect},
		{time.Hour, entity.NodeUp, entity.NodeSuspect}, // the first look never kills
		{3 * time.Second, entity.NodeSuspect, ""},
		{3 * time.Second, entity.NodeDraining, ""},
		{time.Hour, entity.NodeDown, ""},
	} {
		got := look(seeing(), noon, node("n", c.from, noon.Add(-c.age)))
		if c.want == "" {
			require.Empty(t, got, "%+v", c)
		} else {
			require.Equal(t, map[string]entity.NodeStatus{"n": c.want}, got, "%+v", c)
		}
	}
	require.Empty(t, look(seeing(), noon, node("self", entity.NodeUp, noon.Add(-time.Hour))), "who looks is alive")
}

func TestANodeIsDownAtTheSecondLook(t *testing.T) {
	for _, status := range []entity.NodeStatus{entity.NodeSuspect, entity.NodeDraining} {
		w, dead := seeing(), node("n", status, noon.Add(-7*time.Second))
		require.Empty(t, look(w, noon, dead))
		require.Empty(t, look(w, noon.Add(999*time.Millisecond), dead), "too soon to be a second look")
		require.Equal(t, map[string]entity.NodeStatus{"n": entity.NodeDown}, look(w, noon.Add(time.Second), dead))
	}
}

func TestASignOfLifeBeginsAnew(t *testing.T) {
	for name, sign := range map[string]func(n *entity.Node){
		"a beat":     func(n *entity.Node) { n.LastHeartbeat = n.LastHeartbeat.Add(time.Millisecond) },
		"a new life": func(n *entity.Node) { n.Epoch++ },
	} {
		t.Run(name, func(t *testing.T) {
			w, n := seeing(), node("n", entity.NodeSuspect, noon.Add(-7*time.Second))
			require.Empty(t, look(w, noon, n))
			sign(&n)
			require.Empty(t, look(w, noon.Add(time.Second), n))
			require.Empty(t, look(w, noon.Add(1500*time.Millisecond), n))
			require.Len(t, look(w, noon.Add(2*time.Second), n), 1)
		})
	}
	w, n := seeing(), node("n", entity.NodeSuspect, noon.Add(-7*time.Second))
	require.Empty(t, look(w, noon, n))
	fresh := node("n", entity.NodeUp, noon.Add(time.Second))
	require.Empty(t, look(w, noon.Add(time.Second), fresh))
	require.Empty(t, look(w, noon.Add(2*time.Second), n), "an old row again is a first look again")
}

// Rule 27: after an outage of the store everybody is late.
func TestWhoWasBlindWaitsALease(t *testing.T) {
	w, dead := seeing(), node("n", entity.NodeUp, noon.Add(-time.Hour))
	require.Len(t, look(w, noon, dead), 1)
	w.Blind(noon.Add(time.Second))
	for at := time.Second; at < 7*time.Second; at += 500 * time.Millisecond {
		require.Empty(t, look(w, noon.Add(at), dead), "at %s", at)
	}
	require.Equal(t, entity.NodeSuspect, look(w, noon.Add(7*time.Second), dead)["n"])
	dead.Status = entity.NodeSuspect
	require.Equal(t, entity.NodeDown, look(w, noon.Add(8*time.Second), dead)["n"])
}

func TestANewWatchJudgesNobody(t *testing.T) {
	w, dead := liveness.NewWatch(terms), node("n", entity.NodeSuspect, noon.Add(-time.Hour))
	for at := time.Duration(0); at < 6*time.Second; at += time.Second {
		require.Empty(t, look(w, noon.Add(at), dead))
	}
}

// A node that beats in time is never harmed, whatever the looks.
func TestWhoBeatsInTimeStaysUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := liveness.NewWatch(terms)
		now, n := noon, node("n", entity.NodeUp, noon)
		for range rapid.IntRange(1, 50).Draw(t, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "pause")) * time.Millisecond)
			age := time.Duration(rapid.IntRange(0, 2500).Draw(t, "age")) * time.Millisecond
			if beat := now.Add(-age); beat.After(n.LastHeartbeat) {
				n.LastHeartbeat = beat
			}
			if now.Sub(n.LastHeartbeat) > terms.SuspectAfter() {
				n.LastHeartbeat = now
			}
			if got := w.Judge(now, []entity.Node{n}, "self"); len(got) > 0 {
				t.Fatalf("%+v at %s", got, now)
			}
		}
	})
}

func TestWhoSharesPartitionsAndWhoTakesRuns(t *testing.T) {
	api := node("api", entity.NodeUp, noon)
	api.Roles = []string{entity.RoleAPI}
	nodes := []entity.Node{
		node("up", entity.NodeUp, noon), node("suspect", entity.NodeSuspect, noon), node("down", entity.NodeDown, noon),
		node("draining", entity.NodeDraining, noon), api,
	}
	require.Equal(t, []string{"up", "suspect", "draining"}, liveness.Schedulers(nodes))
	var executors []string
	for _, n := range liveness.Executors(nodes) {
		executors = append(executors, n.ID)
	}
	require.Equal(t, []string{"up"}, executors)
}
