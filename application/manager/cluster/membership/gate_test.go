package membership_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// door is a gate that a test opens and closes.
type door struct{ open bool }

func (d *door) Open() bool { return d.open }

func (d *door) Worked() time.Duration {
	if d.open {
		return time.Hour
	}
	return 0
}

// A node that stands by beats, and holds no lease, no role and no partition. It works when its
// gate opens, and stops at once when it closes, before its next beat.
func TestANodeThatStandsByHoldsNoLease(t *testing.T) {
	c := newCluster(t)
	gate := &door{}
	a := c.join("a", func(d *membership.Deps) { d.Gate = gate })
	b := c.join("b", nil)
	c.pass(20)
	require.Equal(t, entity.NodeUp, c.status("a"), "it beats")
	require.False(t, a.Lease.Holds())
	require.Empty(t, a.Partitions())
	require.Equal(t, []string{entity.RoleStandby}, c.row("a").Roles, "nobody counts on it")
	require.Zero(t, c.row("a").Slots)
	require.True(t, b.Lease.Holds())
	require.Len(t, b.Partitions(), entity.Partitions, "the other has all")
	b.gone = true
	c.pass(20)
	require.Empty(t, a.reaped, "it takes over nothing")
	require.False(t, a.Lease.Holds())

	gate.open = true
	a.GateTurned()
	c.pass(10)
	require.True(t, a.Lease.Holds())
	require.Len(t, a.Partitions(), entity.Partitions)
	require.Equal(t, []string{entity.RoleScheduler, entity.RoleExecutor}, c.row("a").Roles)

	gate.open = false
	halts := a.halts
	a.GateTurned()
	require.False(t, a.Lease.Holds(), "at once")
	require.Greater(t, a.halts, halts, "its runs are stopped")
	require.Equal(t, "standby", a.stops[len(a.stops)-1])
	c.pass(10)
	require.False(t, a.Lease.Holds())
	require.Empty(t, a.Partitions())

	gate.open = true
	reason, blocks := a.Standing()
	require.False(t, blocks, "until its next beat it has lost nothing: %s", reason)
	a.GateTurned()
	c.pass(10)
	require.True(t, a.Lease.Holds())
}
