package membership_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestTheLivingShareThePartitions(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	c.requireWhole(a)
	b, d := c.join("b", nil), c.join("d", nil)
	c.pass(1)
	c.requireWhole(a, b, d)
	for _, p := range []*peer{a, b, d} {
		require.InDelta(t, 85, len(p.Partitions()), 35)
	}
	before, told := len(b.Partitions()), b.rebalanced
	c.pass(5)
	require.Equal(t, told, b.rebalanced, "nothing moved")
	require.Len(t, b.Partitions(), before)
}

// Fires need no death: both scan what a node owns whose beats are late.
func TestTheFiresOfALateNodeGoOnAtOnce(t *testing.T) {
	c, a, b := pair(t)
	c.requireWhole(a, b)
	b.frozen = true
	c.pass(3)
	require.Equal(t, entity.NodeSuspect, c.status("b"))
	require.Len(t, a.Partitions(), entity.Partitions, "1.5 s after the last beat")
	require.NotEmpty(t, b.Partitions(), "should it wake, it scans on: two owners are harmless")
	require.Empty(t, a.reaped)
	b.frozen = false
	c.pass(1)
	require.Equal(t, entity.NodeUp, c.status("b"))
	c.pass(1)
	c.requireWhole(a, b)
}

func TestASilentNodeIsReplaced(t *testing.T) {
	c, a, b := pair(t)
	last := c.row("b").LastHeartbeat
	b.frozen = true
	c.pass(6)
	require.Equal(t, entity.NodeSuspect, c.status("b"))
	require.Empty(t, a.reaped)
	c.pass(1)
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.Equal(t, entity.DownLease, c.row("b").DownCause)
	require.LessOrEqual(t, a.marked["b"].Sub(last), 3600*time.Millisecond)
	require.Greater(t, a.marked["b"].Sub(last), terms.Lease)
	require.Len(t, a.Partitions(), entity.Partitions)
	require.Contains(t, a.reaped, "b")
	require.Equal(t, []string{"b"}, a.severed, "its sessions are ended before its runs are taken, once")
	c.pass(3)
	require.Len(t, a.severed, 1)
	require.Equal(t, []string{entity.DownLease}, a.deaths)
}

func TestARevivedNodeStopsAndComesBackUnderANewEpoch(t *testing.T) {
	c, a, b := pair(t)
	b.frozen = true
	c.pass(9)
	require.Equal(t, entity.NodeDown, c.status("b"))
	b.frozen = false
	require.False(t, b.Lease.Holds(), "at its first step")
	b.beat()
	require.Equal(t, []string{"declared"}, b.stops)
	require.Equal(t, []int64{2}, b.epochs)
	require.EqualValues(t, 2, b.Self().Epoch)
	require.Equal(t, entity.NodeUp, c.status("b"))
	require.Equal(t, c.clock.Now(), c.row("b").LastHeartbeat, "a registration is a beat")
	require.True(t, b.Lease.Holds())
	c.pass(2)
	c.requireWhole(a, b)
	require.Empty(t, b.lost)
}

// Its runs have not ended: it does not come back before they have.
func TestADeclaredNodeComesBackWhenItsWorkHasEnded(t *testing.T) {
	c, b := declaredAtWork(t)
	c.pass(4)
	require.Equal(t, entity.NodeDown, c.status("b"))
	require.Empty(t, b.epochs)
	reason, blocks := b.Standing()
	require.Contains(t, reason, "waits until 4 runs have ended")
	require.True(t, blocks)
	b.busy = false
	c.pass(1)
	require.Equal(t, []int64{2}, b.epochs)
	require.Empty(t, b.lost)
}

// A handler that ignores its context must not keep a node out for ever.
func TestWorkThatDoesNotStopEndsTheProcess(t *testing.T) {
	c, b := declaredAtWork(t)
	c.pass(24)
	require.Empty(t, b.lost, "four leases")
	c.pass(2)
	require.Len(t, b.lost, 1)
	require.ErrorContains(t, b.lost[0], "4 runs have not ended within 12s")
	c.pass(10)
	require.Len(t, b.lost, 1, "once")
}

func TestAnotherProcessUnderTheSameIDEndsThisOne(t *testing.T) {
	c := newCluster(t)
	first := c.join("a", nil)
	second := c.join("a", nil)
	c.pass(3)
	require.Len(t, first.lost, 1, "told once")
	require.ErrorContains(t, first.lost[0], "another process runs as node a")
	require.Empty(t, second.lost)
	require.Equal(t, []string{"taken over"}, first.stops)
	require.Empty(t, first.Partitions())
	require.Len(t, second.Partitions(), entity.Partitions)
}

// A drain or a resume that a node could not see holds when it comes back: its memory is not the truth.
func TestADrainThatANodeDidNotSeeHolds(t *testing.T) {
	for _, drained := range []bool{true, false} {
		c := newCluster(t)
		c.join("a", nil)
		b := c.join("b", nil)
		c.pass(3)
		require.NoError(t, c.store.Drain(t.Context(), "b", !drained))
		c.pass(7)
		require.Equal(t, !drained, b.suspended)
		b.frozen = true
		require.NoError(t, c.store.Drain(t.Context(), "b", drained))
		c.pass(9)
		require.Equal(t, entity.NodeDown, c.status("b"))
		b.frozen = false
		c.pass(2)
		require.Equal(t, drained, c.status("b") == entity.NodeDraining)
		require.Equal(t, drained, b.suspended)
	}
}

// A drain by hand survives a lapse of the process, not a restart.
func TestADrainedNodeStaysDrained(t *testing.T) {
	c := newCluster(t)
	c.join("a", nil)
	b := c.join("b", nil)
	c.pass(3)
	require.NoError(t, c.store.Drain(t.Context(), "b", true))
	c.pass(7)
	require.True(t, b.suspended)
	b.frozen = true
	c.pass(9)
	require.Equal(t, entity.NodeDown, c.status("b"))
	b.frozen = false
	c.pass(2)
	require.Equal(t, entity.NodeDraining, c.status("b"))
	require.EqualValues(t, 2, b.Self().Epoch)
	require.True(t, b.suspended)
	c.join("b", nil)
	require.Equal(t, entity.NodeUp, c.status("b"))
}

func TestAGracefulLeaveNeedsNoWait(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	c.pass(2)
	require.NoError(t, b.StepDown(t.Context()))
	require.Empty(t, b.Partitions())
	a.beat()
	c.requireWhole(a)
	require.Equal(t, entity.NodeUp, c.status("b"), "its runs go on")
	b.gone = true
	require.NoError(t, b.Leave(t.Context()))
	require.Equal(t, entity.NodeDown, c.status("b"))
	c.pass(1)
	require.Contains(t, a.reaped, "b")
	require.Empty(t, a.severed, "it closed its sessions itself")
	reason, _ := a.Missing()
	require.Empty(t, reason, "who left in order is not missed")
}

// Nodes of the standalone profile hold no lease: two of them on one store is a mistake that is told.
func TestANodeOfNoClusterNamesTheOthersOnItsStore(t *testing.T) {
	c := newCluster(t)
	alone := func(d *membership.Deps) { d.Peers = nil }
	a, b := c.join("a", alone), c.join("b", alone)
	c.pass(1)
	reason, blocks := a.Missing()
	require.Contains(t, reason, "the node b uses this store")
	require.False(t, blocks)
	require.NoError(t, b.Leave(t.Context()))
	b.gone = true
	c.pass(1)
	reason, _ = a.Missing()
	require.Empty(t, reason)
	d := c.join("d", nil)
	c.pass(1)
	reason, _ = d.Missing()
	require.Empty(t, reason, "a node of a cluster expects others")
}

func TestTheDeadAreLookedAtAgainNowAndThen(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	require.NoError(t, b.Leave(t.Context()))
	b.gone = true
	a.held["b"] = 2
	c.pass(3)
	require.Len(t, a.reaped, 3, "as long as it holds runs")
	a.held["b"] = 0
	c.pass(20)
	require.Len(t, a.reaped, 4)
	c.pass(20)
	require.Len(t, a.reaped, 5)
}

// The state of this node and of the others in the registry is passed on.
func TestChangesArePassedOn(t *testing.T) {
	c := newCluster(t)
	a, b := c.join("a", nil), c.join("b", nil)
	a.beat()
	before := a.changes
	c.pass(2)
	require.Equal(t, before, a.changes, "nothing happened")
	require.NoError(t, c.store.Drain(t.Context(), "a", true))
	c.pass(1)
	require.Equal(t, []any{true, false, before + 1}, []any{a.suspended, b.suspended, a.changes})
	c.pass(1)
	require.True(t, a.suspended, "a beat does not end it")
	require.NoError(t, c.store.Drain(t.Context(), "a", false))
	c.pass(1)
	require.Equal(t, []any{false, before + 2}, []any{a.suspended, a.changes})
	b.gone = true
	require.NoError(t, b.Leave(t.Context()))
	c.pass(1)
	require.Equal(t, before+3, a.changes)
}

func TestAMemberSaysHowItStands(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	b := c.join("b", nil)
	c.pass(2)
	standing := func(p *peer) []any { reason, blocks := p.Standing(); return []any{reason != "", blocks} }
	require.Equal(t, []any{false, false}, standing(a))
	require.NoError(t, c.store.Drain(t.Context(), "a", true))
	c.pass(1)
	reason, blocks := a.Draining()
	require.Contains(t, reason, "drains")
	require.False(t, blocks)
	require.NoError(t, c.store.Drain(t.Context(), "a", false))
	c.pass(1)
	reason, _ = a.Draining()
	require.Empty(t, reason)

	a.away, a.deaf = true, true
	c.pass(5)
	require.True(t, a.Away())
	require.Equal(t, []any{true, true}, standing(a), "a node without its right to work is not ready")
	missing := func() string { reason, blocks := b.Missing(); require.False(t, blocks); return reason }
	require.Contains(t, missing(), "the node a has not beaten for 3s")
	c.pass(3)
	require.Contains(t, missing(), "the node a is down since 2026-11-20T12:00:")
	c.clock.Advance(24 * time.Hour)
	b.beat()
	require.Empty(t, missing(), "for a day")
	a.away, a.deaf = false, false
	c.pass(2)
	require.Equal(t, []any{false, false}, standing(a))
}

func TestVersionsThatDifferAreNamed(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	versions := func() string { a.beat(); reason, _ := a.Versions(); return reason }
	require.Empty(t, versions())
	for _, id := range []string{"b", "c", "d", "e", "f", "g", "h"} {
		_, err := c.store.Register(t.Context(), entity.Node{ID: id, Version: "2"})
		require.NoError(t, err)
	}
	require.Equal(t, "the nodes run different versions:  on a, 2 on b c d e f and 2 more", versions())
	for _, id := range []string{"b", "c", "d", "e", "f", "g", "h"} {
		require.NoError(t, c.store.Leave(t.Context(), id, 1))
	}
	require.Empty(t, versions(), "those that left do not count")
}

// Standalone the store is the node's own: no error of it is a reason to stop.
func TestANodeWithoutOthersNeverStops(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", func(d *membership.Deps) { d.Peers = nil })
	a.away = true
	for range 100 {
		c.clock.Advance(time.Minute)
		require.ErrorIs(t, a.BeatOnce(t.Context()), errAway)
		a.GuardOnce()
		require.True(t, a.Lease.Holds())
	}
	require.Empty(t, a.stops)
	require.Len(t, a.Partitions(), entity.Partitions)
}
