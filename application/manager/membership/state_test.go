package membership_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// lights counts the beacons that are lit.
type lights struct {
	*cluster
	lit int
}

func (l *lights) Light(context.Context, string, time.Duration) error { l.lit++; return errAway }

func TestABeaconBurnsWhileTheStoreIsReached(t *testing.T) {
	c := newCluster(t)
	l := &lights{cluster: c}
	a := c.join("a", func(d *membership.Deps) { d.Beacons = l })
	require.Zero(t, l.lit, "a beat does not wait for whoever keeps the beacons")
	shine := func() int { require.NoError(t, a.Shine(t.Context())); return l.lit }
	require.Equal(t, 1, shine())
	c.pass(1, a)
	require.Equal(t, 2, shine())
	a.away = true
	c.clock.Advance(terms.Beat)
	require.Error(t, a.RunOnce(t.Context()))
	require.True(t, a.Away())
	require.Equal(t, 2, shine(), "nor does it burn after a beat in vain")
	a.away = false
	c.pass(1, a)
	require.False(t, a.Away())
	require.Equal(t, 3, shine())
	c.clock.Advance(3 * terms.Beat)
	require.Equal(t, 3, shine(), "nor without beats")
}

func TestAMemberSaysHowItStands(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	standing := func() []any { reason, blocks := a.Standing(); return []any{reason != "", blocks} }
	require.Equal(t, []any{false, false}, standing())
	require.NoError(t, c.store.Drain(t.Context(), "a", true))
	c.pass(1, a)
	reason, blocks := a.Draining()
	require.Contains(t, reason, "drains")
	require.False(t, blocks)
	require.NoError(t, c.store.Drain(t.Context(), "a", false))
	c.pass(1, a)
	reason, _ = a.Draining()
	require.Empty(t, reason)

	c.litErr = errAway
	a.away = true
	c.clock.Advance(terms.Lease + terms.Beat)
	require.Error(t, a.RunOnce(t.Context()))
	require.Equal(t, []any{true, true}, standing(), "a node without its right to work is not ready")
	a.away = false
	c.pass(1, a)
	require.Equal(t, []any{false, false}, standing())
}

func TestVersionsThatDifferAreNamed(t *testing.T) {
	c := newCluster(t)
	a := c.join("a", nil)
	versions := func() string { c.pass(1, a); reason, _ := a.Versions(); return reason }
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
