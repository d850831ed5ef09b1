package membership_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// prove lets everybody who is there look three times for proofs.
func (c *cluster) prove() {
	c.t.Helper()
	for range 3 {
		for _, p := range c.order {
			if !p.gone && !p.frozen {
				p.proveNow()
			}
		}
		c.clock.Advance(300 * time.Millisecond)
	}
}

func (p *peer) proveNow() {
	p.t.Helper()
	_, err := p.ProveOnce(p.t.Context())
	require.NoError(p.t, err)
}

func TestAProvenDeathNeedsNoLease(t *testing.T) {
	c := newCluster(t)
	a, b, d := c.join("a", nil), c.join("b", nil), c.join("d", nil)
	c.pass(10)
	last := c.row("d").LastHeartbeat
	d.gone = true
	c.pass(3)
	require.Equal(t, entity.NodeSuspect, c.status("d"))
	a.proveNow()
	require.Equal(t, entity.NodeSuspect, c.status("d"), "found once")
	c.clock.Advance(299 * time.Millisecond)
	a.proveNow()
	require.Equal(t, entity.NodeSuspect, c.status("d"), "too soon to be found twice")
	c.clock.Advance(time.Millisecond)
	a.proveNow()
	require.Equal(t, entity.NodeSuspect, c.status("d"), "three nodes lived: another one must have found it")
	b.proveNow()
	c.clock.Advance(300 * time.Millisecond)
	b.proveNow()
	require.Equal(t, entity.NodeDown, c.status("d"))
	require.Equal(t, entity.DownProof, c.row("d").DownCause)
	require.Less(t, b.marked["d"].Sub(last), terms.Lease)
	c.pass(1)
	require.Contains(t, append(a.reaped, b.reaped...), "d")
}

// The look before a proof said SUSPECT. A proof made since stays.
func TestAnOlderLookDoesNotTakeAProvenDeathBack(t *testing.T) {
	c, a, b := pair(t)
	b.gone = true
	for c.status("b") != entity.NodeSuspect {
		c.pass(1)
	}
	c.prove()
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.NoError(t, a.FollowOnce(t.Context()))
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.Equal(t, entity.DownProof, c.row("b").DownCause)
	require.Len(t, a.deaths, 1)
}

func TestTwoNodesNeedNoWitness(t *testing.T) {
	c, _, b := pair(t)
	b.gone = true
	c.pass(3)
	c.prove()
	require.Equal(t, entity.NodeDown, c.status("b"))
}

// A firewall that refuses in place of a node looks like its death. The node has
// asked, and relies on the answer.
func TestAProofBreaksNoPromise(t *testing.T) {
	c, a, b := pair(t)
	a.away, b.away = true, true
	c.pass(2)
	require.Empty(t, b.stops)
	promised := c.clock.Now().Add(terms.Lease) // by who does not reach the store either
	a.away, b.unlocked, b.closed = false, true, true
	found := 0
	for ; c.clock.Now().Before(promised); c.clock.Advance(terms.Beat / 2) {
		a.beat()
		again, err := a.ProveOnce(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, entity.NodeDown, c.status("b"), "%s before the promise has passed", promised.Sub(c.clock.Now()))
		if again {
			found++
		}
	}
	require.Greater(t, found, 3, "it is found dead, and looked at again until then")
	a.proveNow()
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.Equal(t, entity.DownProof, c.row("b").DownCause)
	answer := a.Answer(t.Context(), entity.PeerQuestion{Matter: entity.PeerLease, NodeID: "b", Epoch: b.Self().Epoch})
	require.True(t, answer.Declared, "if it asks now, it stops")
}

func TestWhatIsNoProof(t *testing.T) {
	for name, happens := range map[string]func(d *peer){
		"its connection is gone, and it is there":     func(d *peer) { d.unlocked = true },
		"nobody listens, and its connection is there": func(d *peer) { d.closed = true },
		"nobody answers":                        func(d *peer) { d.unlocked, d.deaf = true, true },
		"the locks are those of another server": func(d *peer) { d.gone, d.elsewhere = true, true },
		"it drains, and closes its port before its end": func(d *peer) {
			d.gone = true
			require.NoError(d.t, d.c.store.Drain(d.t.Context(), "d", true))
		},
		"it is there again between the two looks for it": func(d *peer) { d.closed, d.unlocked = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			a, b, d := c.join("a", nil), c.join("b", nil), c.join("d", nil)
			c.pass(10)
			happens(d)
			d.frozen = true
			c.pass(3)
			d.frozen = false
			if d.closed && d.unlocked {
				a.proveNow()
				b.proveNow()
				c.clock.Advance(100 * time.Millisecond)
				d.closed = false
				a.proveNow()
				b.proveNow()
				d.closed = true
				c.clock.Advance(250 * time.Millisecond)
				a.proveNow()
				b.proveNow()
			} else {
				c.prove()
			}
			require.NotEqual(t, entity.NodeDown, c.status("d"))
			require.Empty(t, append(a.deaths, b.deaths...))
		})
	}
}

// The address is another process' now: that is as good as nobody there.
func TestAnotherProcessAtTheAddressIsAProof(t *testing.T) {
	c, _, b := pair(t)
	b.gone, b.impostor = true, &entity.PeerAnswer{NodeID: "x", Boot: "another"}
	c.pass(3)
	c.prove()
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.Equal(t, entity.DownProof, c.row("b").DownCause)
}

func TestADamperHoldsBackWhatALivingNodeScans(t *testing.T) {
	c, g := newCluster(t), &gate{}
	b := c.join("b", nil)
	a := c.join("a", func(d *membership.Deps) { d.PartitionLeases = g })
	c.pass(1)
	mine := a.Partitions()
	require.NotEmpty(t, mine)

	// A third joins and leaves again: what it had falls to a, and it has not let go.
	d := c.join("d", nil)
	c.pass(1)
	had := d.Partitions()
	var tomine []int
	for _, p := range mine {
		for _, q := range had {
			if p == q {
				tomine = append(tomine, p)
			}
		}
	}
	require.NotEmpty(t, tomine)
	g.withheld = tomine
	require.NoError(t, d.StepDown(t.Context()))
	c.pass(1)
	for _, p := range tomine {
		require.Contains(t, a.Partitions(), p, "its former owner scans nothing any more")
	}
	require.NotNil(t, b)
}

func TestAJoiningNodeWaitsForThoseWhoScan(t *testing.T) {
	c, g := newCluster(t), &gate{}
	b := c.join("b", nil)
	c.pass(2)
	all := make([]int, entity.Partitions)
	for i := range all {
		all[i] = i
	}
	g.withheld = all
	a := c.join("a", func(d *membership.Deps) { d.PartitionLeases = g })
	require.Empty(t, a.Partitions(), "b scans them, and has not heard of a")
	c.pass(4)
	require.Empty(t, a.Partitions())
	g.withheld = nil
	c.pass(1)
	mine := a.Partitions()
	require.NotEmpty(t, mine)

	// The claims of a late node do not keep its partitions.
	b.frozen = true
	g.withheld = all
	c.pass(4)
	require.Len(t, a.Partitions(), entity.Partitions)
	b.frozen, g.withheld = false, nil
	c.pass(30)
	require.Equal(t, mine, a.Partitions())

	// A claim that comes and goes does not begin the wait anew.
	for range 3 {
		g.withheld = all
		c.pass(7)
		g.withheld = nil
		c.pass(2)
	}
	g.withheld = all
	c.pass(1)
	require.Equal(t, mine, a.Partitions(), "two leases are enough")
	c.pass(20)
	require.Equal(t, mine, a.Partitions())

	g.err = errAway
	b.frozen = true
	c.pass(4)
	require.Len(t, a.Partitions(), entity.Partitions, "without Redis nothing is held back")
}

// A node that others have joined lets go of what is theirs now, and says so.
func TestPartitionsThatMoveAreHandedOverAtOnce(t *testing.T) {
	c, g := newCluster(t), &gate{}
	told := 0
	a := c.join("a", func(d *membership.Deps) { d.PartitionLeases, d.Announce = g, func() { told++ } })
	require.Empty(t, g.released)
	before := told
	b := c.join("b", nil)
	a.beat()
	require.ElementsMatch(t, b.Partitions(), g.released)
	require.NotEmpty(t, g.released)
	require.Equal(t, before+1, told)
	a.beat()
	require.Equal(t, before+1, told, "once")
	require.NoError(t, a.StepDown(t.Context()))
	require.Len(t, g.released, entity.Partitions)
}
