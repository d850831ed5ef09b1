package membership_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// Rule 27: the store is away for everybody. Work goes on, however long that is,
// and also when one is back sooner than the others.
func TestAnOutageForAllStopsNobody(t *testing.T) {
	for _, lasts := range []time.Duration{
		time.Second, 2900 * time.Millisecond, 3100 * time.Millisecond, 15 * time.Second,
		time.Minute,
	} {
		for _, later := range []time.Duration{0, 500 * time.Millisecond, 2 * time.Second} {
			t.Run(fmt.Sprint(lasts, " ", later), func(t *testing.T) {
				c := newCluster(t)
				nodes := []*peer{c.join("a", nil), c.join("b", nil), c.join("d", nil)}
				c.pass(10)
				for _, p := range nodes {
					p.away = true
				}
				c.passFinely(lasts, 100*time.Millisecond)
				nodes[1].away = false
				c.passFinely(later, 100*time.Millisecond)
				nodes[0].away, nodes[2].away = false, false
				c.passFinely(10*time.Second, 100*time.Millisecond)
				for _, p := range nodes {
					require.Empty(t, p.stops, p.node.ID)
					require.True(t, p.Lease.Holds())
					require.Equal(t, entity.NodeUp, c.status(p.node.ID))
					require.EqualValues(t, 1, p.Self().Epoch)
				}
			})
		}
	}
}

// dialing is a registry whose new connections take long.
type dialing struct {
	registry
	dial, looked func()
}

func (d *dialing) Connect(context.Context) error {
	if d.dial != nil {
		d.dial()
	}
	return nil
}

func (d *dialing) View(ctx context.Context) ([]entity.Node, time.Time, error) {
	if d.looked != nil {
		d.looked()
	}
	return d.registry.View(ctx)
}

// joinDialing is a node that starts, and its registry.
func (c *cluster) joinDialing(id string) (*peer, *dialing) {
	d := &dialing{}
	return c.join(id, func(deps *membership.Deps) {
		d.registry = deps.Registry.(registry)
		deps.Registry = d
	}), d
}

// When the store is back, a beat goes over a connection that may have waited for it as long as
// a lease. The lease counts from the beat: the timer that looks in between stops nothing.
func TestALeaseCountsFromTheBeatNotFromItsConnection(t *testing.T) {
	c := newCluster(t)
	a, d := c.joinDialing("a")
	b := c.join("b", nil)
	c.pass(10)
	a.away, b.away = true, true
	c.passFinely(7*time.Second, 100*time.Millisecond)
	d.dial = func() {
		for range terms.Lease / terms.Beat {
			c.clock.Advance(terms.Beat)
			a.AskOnce(t.Context())
		}
		a.away, b.away = false, false
	}
	looks := 0
	d.looked = func() { looks++; a.GuardOnce() }
	require.NoError(t, a.BeatOnce(t.Context()))
	require.Equal(t, 1, looks)
	require.Empty(t, a.stops)
	require.True(t, a.Lease.Holds())
}

// The others count from the beat that the store holds. So the lease counts from the begin of a beat that takes long.
func TestALeaseCountsFromTheBeginOfItsBeat(t *testing.T) {
	c, a, _ := pair(t)
	a.slow = func(context.Context) { c.clock.Advance(2 * time.Second) }
	require.NoError(t, a.BeatOnce(t.Context()))
	require.True(t, a.Lease.Holds())
	c.clock.Advance(terms.Lease - terms.Margin() - 2*time.Second)
	require.False(t, a.Lease.Holds())
}

// A beat of one node hangs for a lease: its new connection waits for the store that is silent for all. The node has no
// error yet, and it must not promise the others less than a node that has one.
func TestABeatThatHangsInAnOutageStopsNobody(t *testing.T) {
	c := newCluster(t)
	a, d := c.joinDialing("a")
	b, e := c.join("b", nil), c.join("e", nil)
	c.pass(10)
	a.away, b.away, e.away = true, true, true
	d.dial = func() {
		for range terms.Lease / terms.Beat {
			c.clock.Advance(terms.Beat)
			a.AskOnce(t.Context())
			a.GuardOnce()
			b.beat()
			e.beat()
		}
	}
	require.ErrorIs(t, a.BeatOnce(t.Context()), errAway)
	for _, p := range []*peer{a, b, e} {
		require.Empty(t, p.stops, p.node.ID)
		require.True(t, p.Lease.Holds())
	}
}

// Cut off alone, a node stops before the others take over, whatever the phase.
func TestANodeThatIsCutOffStopsBeforeTheOthersTakeOver(t *testing.T) {
	random := randtest.New(t)
	for _, deaf := range []bool{true, false} {
		least := time.Hour
		for range 20 {
			c := newCluster(t)
			a, b, d := c.join("a", nil), c.join("b", nil), c.join("d", nil)
			c.pass(10)
			c.clock.Advance(time.Duration(random.IntN(500)) * time.Millisecond) // their beats are out of step
			b.beat()
			c.clock.Advance(time.Duration(random.IntN(500)) * time.Millisecond)
			d.beat()
			a.away, a.deaf = true, deaf
			c.passFinely(5*time.Second, 20*time.Millisecond)
			require.Len(t, a.stops, 1)
			taken := b.marked["a"]
			if taken.IsZero() {
				taken = d.marked["a"]
			}
			require.False(t, taken.IsZero(), "the others take over")
			least = min(least, taken.Sub(a.stoppedAt))
		}
		t.Logf("cut from the others too: %v; the least time between the stop and the take-over is %s", deaf, least)
		require.Greater(t, least, 300*time.Millisecond)
	}
}

// Two faults at once: the store is away, and a peer dies. The others stop, which
// is safe; they say so and go on when the store is back.
func TestAPeerThatDiesInAnOutageStopsTheOthers(t *testing.T) {
	c := newCluster(t)
	a, b, d := c.join("a", nil), c.join("b", nil), c.join("d", nil)
	c.pass(10)
	a.away, b.away, d.away = true, true, true
	c.passFinely(10*time.Second, 100*time.Millisecond)
	require.Empty(t, a.stops)
	d.gone = true
	c.passFinely(3*time.Second, 100*time.Millisecond)
	require.Equal(t, []string{"silent"}, a.stops)
	require.Equal(t, []string{"silent"}, b.stops)
	reason, blocks := a.Standing()
	require.Contains(t, reason, "lost its lease")
	require.True(t, blocks)
	a.away, b.away = false, false
	c.pass(1)
	require.True(t, a.Lease.Holds())
	require.True(t, b.Lease.Holds())
	c.pass(10)
	require.Equal(t, entity.NodeDown, c.status("d"))
}

// A node alone in its last look has nobody who could take over.
func TestANodeAloneWaitsForEver(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(2)
	require.NoError(t, b.Leave(t.Context()))
	b.gone = true
	c.pass(2)
	a.away = true
	c.pass(100)
	require.Empty(t, a.stops)
	require.True(t, a.Lease.Holds())
	b = c.join("b", nil) // a newcomer judges nobody for a lease
	a.away = false
	c.pass(20)
	require.Equal(t, entity.NodeUp, c.status("a"))
	require.Empty(t, a.stops)
	a.away, a.deaf = true, true
	c.pass(6)
	require.Len(t, a.stops, 1, "now there is somebody")
	require.NotNil(t, b)
}

// A promise is kept, also by a judge that froze after it.
func TestAJudgeKeepsWhatItPromised(t *testing.T) {
	c, a, b := pair(t)
	b.away = true
	b.beat()
	answer := b.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "a", Epoch: 1})
	require.Equal(t, terms.Lease, answer.Promise(), "without the store: a lease from now")
	require.False(t, answer.Store)
	promised := c.clock.Now().Add(terms.Lease)
	a.frozen = true
	b.away = false
	c.passFinely(8*time.Second, 100*time.Millisecond)
	require.False(t, b.marked["a"].IsZero())
	require.False(t, b.marked["a"].Before(promised), "DOWN at %s, promised until %s", b.marked["a"], promised)

	answer = b.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "a", Epoch: 1})
	require.True(t, answer.Declared, "who was declared is promised nothing")
	require.True(t, answer.Store)
	require.Zero(t, answer.PromiseMs)
}

// With the store a promise counts from the asker's last beat, or from when the
// answerer is back; asking again and again makes it no longer.
func TestAPromiseWithTheStoreIsALeaseFromTheLastBeat(t *testing.T) {
	c, a, b := pair(t)
	a.frozen = true
	ask := func() time.Duration {
		return b.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "a", Epoch: 1}).Promise()
	}
	for i := 1; i <= 5; i++ {
		c.pass(1)
		require.Equal(t, terms.Lease-time.Duration(i)*terms.Beat, ask(), "a stranger who asks in its name holds off nothing")
	}
	require.Equal(t, terms.Lease,
		b.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "new", Epoch: 1}).Promise(),
		"who is not in its look")
	c.pass(2)
	require.Equal(t, entity.NodeDown, c.status("a"))

	d := c.join("d", nil)
	c.pass(10)
	d.frozen, b.away = true, true
	c.pass(20)
	b.away = false
	c.pass(1)
	require.Equal(t, terms.Lease,
		b.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "d", Epoch: 1}).Promise(),
		"it may be just back, too")
}

// The judge is mistaken: the node beats. It says so, and is not declared.
func TestANodeThatBeatsDoesNotYield(t *testing.T) {
	_, a, b := pair(t)
	yield := entity.PeerQuestion{Matter: entity.PeerYield, NodeID: "b", Epoch: 1, Target: "a", TargetEpoch: 1}
	require.False(t, a.Answer(t.Context(), yield).Stopped)
	require.Empty(t, a.stops)
	yield.TargetEpoch = 0
	require.True(t, a.Answer(t.Context(), yield).Stopped, "a former life")
	a.away = true
	a.beat()
	yield.TargetEpoch = 1
	require.True(t, a.Answer(t.Context(), yield).Stopped)
	require.Equal(t, []string{"cut"}, a.stops)
	require.NotNil(t, b)
}

// A node that is cut off from the store alone, but holds promises of others that
// are cut off as well, is called before it is declared: it stops and says so.
func TestAJudgeCallsBeforeItDeclares(t *testing.T) {
	c, a, b := pair(t)
	a.away = true
	a.busy = true
	c.passFinely(4*time.Second, 100*time.Millisecond)
	require.Equal(t, entity.NodeSuspect, c.status("a"), "it is there, and its work has not ended")
	a.busy = false
	c.pass(1)
	require.Equal(t, entity.NodeDown, c.status("a"))
	require.Equal(t, []string{entity.DownYield}, b.deaths)
}

// Frozen for longer than its lease, a node finds out at its first step.
func TestAFrozenNodeHoldsNothing(t *testing.T) {
	c, a, b := pair(t)
	a.frozen = true
	c.clock.Advance(2400 * time.Millisecond)
	require.True(t, a.Lease.Holds())
	c.clock.Advance(200 * time.Millisecond)
	require.False(t, a.Lease.Holds(), "before anybody may take over")
	a.frozen = false
	a.GuardOnce()
	require.Equal(t, []string{"frozen"}, a.stops)
	a.beat()
	require.True(t, a.Lease.Holds(), "nobody has declared it")
	require.Equal(t, []int64{1}, a.epochs)
	require.NotNil(t, b)
}

// Looks that are three seconds apart, as over a slow store.
func TestASlowLookerSeesADeath(t *testing.T) {
	c, a, b := pair(t)
	b.frozen = true
	for range 4 {
		c.clock.Advance(3 * time.Second)
		a.beat()
	}
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.Len(t, a.Partitions(), entity.Partitions)
}

// Each second look fails, and still deaths are seen.
func TestALookerThatOftenFailsSeesADeath(t *testing.T) {
	c, a, b := pair(t)
	b.frozen = true
	for i := range 60 {
		c.clock.Advance(time.Second)
		a.away = i%2 == 0
		a.beat()
		b.gone = false
	}
	require.Equal(t, entity.NodeDown, c.status("b"))
}

// An older program publishes no lease: it stops itself up to 9 s after its last
// beat, and is not declared sooner.
func TestANodeOfAnOlderProgramHasItsOwnTerms(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	old := entity.Node{ID: "old", Roles: []string{entity.RoleScheduler}}
	var err error
	old.Epoch, err = c.store.Register(t.Context(), old)
	require.NoError(t, err)
	c.pass(20)
	require.Equal(t, c.row("old").LastHeartbeat.Add(10*time.Second), c.clock.Now())
	require.Equal(t, entity.NodeDown, c.status("old"))
	require.False(t, a.marked["old"].Before(c.row("old").LastHeartbeat.Add(9*time.Second)))
	// The same id under a new program, and then, rolled back, under the old one.
	p := c.join("old", nil)
	require.Equal(t, terms.Lease, c.row("old").Lease())
	p.gone = true
	_, err = c.store.Register(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, 9*time.Second, c.row("old").Lease())
}

// Beats that take long are no reason to end their connection: over a store that
// takes half a second for each answer, a new one costs more than a lease.
func TestABeatThatTakesLongIsLeftAlone(t *testing.T) {
	c, a, b := pair(t)
	a.slow = func(ctx context.Context) {
		c.clock.Advance(1100 * time.Millisecond)
		b.beat()
		a.AskOnce(t.Context())
		require.NoError(t, ctx.Err(), "the beat goes on")
	}
	c.clock.Advance(terms.Beat)
	require.NoError(t, a.BeatOnce(t.Context()))
	require.NotZero(t, a.asked)
	require.True(t, a.Lease.Holds())
	a.slow, a.away = nil, true
	require.Error(t, a.BeatOnce(t.Context()))
	a.slow, a.away = func(ctx context.Context) {
		a.AskOnce(t.Context())
		require.Error(t, ctx.Err(), "after one in vain another node says that the store is there: dial anew at once")
	}, false
	_ = a.BeatOnce(t.Context())
}

// lamp is what nodes of older programs look for when they do not reach the store.
type lamp struct{ lit int }

func (l *lamp) MarkAlive(context.Context, string, time.Duration) error { l.lit++; return nil }

func TestABeaconBurnsForNodesOfAnOlderProgram(t *testing.T) {
	c, l := newCluster(t), &lamp{}
	a := c.join("a", func(d *membership.Deps) { d.Liveness = l })
	c.pass(5)
	require.Zero(t, l.lit, "nobody looks for one")
	_, err := c.store.Register(t.Context(), entity.Node{ID: "old"})
	require.NoError(t, err)
	c.pass(5)
	require.Equal(t, 5, l.lit)
	a.away = true
	c.pass(3)
	require.Equal(t, 5, l.lit, "only who reaches the store lights one")
	a.away = false
	require.NoError(t, c.store.Leave(t.Context(), "old", 1))
	c.pass(5)
	require.Equal(t, 5, l.lit)
}

// A node that cannot be asked is shown before that costs anything.
func TestWhoDoesNotAnswerIsShown(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(60)
	unheard := func() string { reason, blocks := a.Unanswered(); require.False(t, blocks); return reason }
	require.Empty(t, unheard())
	b.deaf = true
	c.pass(22)
	require.Empty(t, unheard(), "once is chance")
	c.pass(22)
	require.Contains(t, unheard(), "gets no answer from b:")
	require.Equal(t, entity.NodeUp, c.status("b"))
	b.deaf = false
	c.pass(22)
	require.Empty(t, unheard())
}

// However many ids have asked: who was promised something may ask again, and what
// has passed makes room.
func TestPromisesThatHavePassedMakeRoom(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	a.away = true
	c.pass(1)
	promised := func(id string) time.Duration {
		return a.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: id, Epoch: 1}).Promise()
	}
	for i := range 10_000 {
		require.Equal(t, terms.Lease, promised(fmt.Sprint("node-", i)))
	}
	require.Zero(t, promised("one more"), "what holds is bounded")
	c.clock.Advance(time.Second)
	require.Equal(t, terms.Lease, promised("node-7"), "who has one gets it anew")
	c.clock.Advance(terms.Lease - 500*time.Millisecond)
	require.Equal(t, terms.Lease, promised("one more"))
	require.Equal(t, terms.Lease, promised("node-7"))
}
