package membership_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// copied is a cluster on a copy of the store of c: its registry names the nodes of c, as they
// were, and it reaches them.
func (c *cluster) copied() *cluster {
	c.t.Helper()
	cfg := dbtest.SQLite(c.t)
	cfg.Clock = c.clock
	other := &cluster{t: c.t, clock: c.clock, store: dbtest.Open(c.t, cfg), peers: map[string]*peer{}}
	nodes, err := c.store.All(c.t.Context())
	require.NoError(c.t, err)
	for _, n := range nodes {
		_, err := other.store.Register(c.t.Context(), n)
		require.NoError(c.t, err)
		other.peers[n.ID] = c.peers[n.ID]
	}
	return other
}

// passBoth lets beats pass for the nodes of two clusters.
func passBoth(a, b *cluster, beats int) {
	for range beats {
		a.clock.Advance(terms.Beat)
		for _, p := range append(append([]*peer(nil), a.order...), b.order...) {
			p.beat()
		}
	}
}

// Rule 27: production loses its store at the moment in which a node starts on a copy of it. That node holds the key of
// the cluster and takes the nodes of the registry for dead.
func TestNobodyYieldsToANodeOfACopy(t *testing.T) {
	for _, id := range []string{"new", "b"} { // a name of its own, or that of a living node
		c, a, b := pair(t)
		copied := c.copied()
		a.away, b.away = true, true
		passBoth(c, copied, 2)
		stranger := copied.join(id, nil)
		passBoth(c, copied, 30)
		require.Equal(t, entity.NodeDown, copied.status("a"), "by its lease")
		for _, p := range []*peer{a, b} {
			require.Empty(t, p.stops, "%s: production works on", id)
			require.True(t, p.Lease.Holds())
		}
		a.away, b.away = false, false
		passBoth(c, copied, 10)
		require.EqualValues(t, 1, a.Self().Epoch)
		require.Empty(t, append(a.stops, b.stops...))
		require.NotNil(t, stranger)
	}
}

// A node yields to a node that it has seen, and to a node of the former release, which names no boot.
func TestANodeYieldsToWhomItHasSeen(t *testing.T) {
	for name, ask := range map[string]struct {
		change func(q *entity.PeerQuestion)
		yields bool
	}{
		"as it was seen":            {func(*entity.PeerQuestion) {}, true},
		"the former release":        {func(q *entity.PeerQuestion) { q.Boot = "" }, true},
		"another boot":              {func(q *entity.PeerQuestion) { q.Boot = "of a copy" }, false},
		"the former release, later": {func(q *entity.PeerQuestion) { q.Boot, q.Epoch = "", 2 }, false},
		"a name that nobody has":    {func(q *entity.PeerQuestion) { q.NodeID = "new" }, false},
	} {
		c, a, b := pair(t)
		a.away = true
		a.beat()
		q := entity.PeerQuestion{
			Matter: entity.PeerYield, NodeID: "b", Epoch: 1, Boot: b.node.Life.Boot, Target: "a", TargetEpoch: 1,
		}
		ask.change(&q)
		require.Equal(t, ask.yields, a.Answer(t.Context(), q).Stopped, name)
		require.Equal(t, ask.yields, len(a.stops) == 1, name)
		require.NotNil(t, c)
	}
}

// A node of a copy asks for a promise in the name of a living node. The promise to the living node stays.
func TestAPromiseToANodeOfACopyTakesNoneAway(t *testing.T) {
	c, a, b := pair(t)
	b.away = true
	b.beat()
	ask := func(boot string, epoch int64) entity.PeerAnswer {
		return b.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "a", Epoch: epoch, Boot: boot})
	}
	require.Equal(t, terms.Lease, ask(a.node.Life.Boot, 1).Promise())
	promised := c.clock.Now().Add(terms.Lease)
	ask("of another copy", 1)
	ask("of a copy", 2)
	a.frozen, b.away = true, false
	c.passFinely(8*time.Second, 100*time.Millisecond)
	require.False(t, b.marked["a"].IsZero())
	require.False(t, b.marked["a"].Before(promised), "DOWN at %s, promised until %s", b.marked["a"], promised)
	require.False(t, ask("of another copy", 1).Declared, "another's row says nothing of it")
}
