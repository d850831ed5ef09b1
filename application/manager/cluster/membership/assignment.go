package membership

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// assignment is what this node remembers of the partitions between two looks.
type assignment struct {
	// nodes are the nodes that OnChange was last called for.
	nodes []entity.Node
	// owners are the owners by the last look; former are the owners before those.
	owners, former [entity.Partitions]string
	// foreign are the partitions whose leases other nodes hold. claimed is what this
	// node claimed last, and at is when.
	foreign map[int]foreignLease
	claimed []int
	at      time.Duration
}

// assignPartitions computes which partitions this node scans.
func (m *Member) assignPartitions(ctx context.Context) {
	l := m.lastView()
	self := m.Self().ID
	m.trackOwners(self, l.nodes)
	mine := []int{}
	if m.deps.Lease.Holds() {
		mine = append(mine, m.withoutForeignLeases(ctx, partition.Scanned(self, l.nodes, l.evaluation.Late), l)...)
	}
	m.mu.Lock()
	if m.deps.Lease.stopped.Load() {
		mine = []int{}
	}
	former := m.deps.View.setPartitions(mine)
	m.mu.Unlock()
	m.applyRegistry(l.nodes)
	if slices.Equal(mine, former) {
		return
	}
	m.deps.Logger.Info("the partitions of this node changed",
		"mine", len(mine), "schedulers", len(liveness.Schedulers(l.nodes)))
	m.changed.Store(true)
	m.handOver(ctx, former, mine)
}

// trackOwners remembers the former owner of each partition. A node that joins takes
// partitions from the nodes that own them without it.
func (m *Member) trackOwners(self string, nodes []entity.Node) {
	members := partition.Members(nodes)
	if m.assignment.nodes == nil {
		others := slices.DeleteFunc(slices.Clone(members), func(n rendezvous.Node) bool { return n.ID == self })
		m.assignment.owners = partition.Table(others)
		m.announce()
	}
	for p, owner := range partition.Table(members) {
		if before := m.assignment.owners[p]; before != owner {
			m.assignment.former[p], m.assignment.owners[p] = before, owner
		}
	}
}

// applyRegistry applies the registry: whether this node drains, and whether nodes
// joined or left.
func (m *Member) applyRegistry(nodes []entity.Node) {
	for _, n := range nodes {
		if n.ID == m.Self().ID {
			m.deps.Worker.Suspend(n.Status == entity.NodeDraining)
		}
	}
	changed := !slices.EqualFunc(nodes, m.assignment.nodes, sameState)
	m.assignment.nodes = nodes
	if changed && m.deps.OnChange != nil {
		m.deps.OnChange()
	}
}

// sameState reports whether two looks at a node agree on what may run there.
func sameState(a, b entity.Node) bool {
	return a.ID == b.ID && a.Epoch == b.Epoch && a.Status == b.Status && (a.Slots > 0) == (b.Slots > 0)
}

// handOver releases the partitions that this node no longer owns, and tells the
// other nodes. Otherwise they would wait until its leases end.
func (m *Member) handOver(ctx context.Context, former, mine []int) {
	left := slices.DeleteFunc(slices.Clone(former), func(p int) bool { return slices.Contains(mine, p) })
	if m.deps.PartitionLeases == nil || len(left) == 0 {
		return
	}
	if err := m.release(ctx, left); err != nil {
		m.deps.Logger.Debug("this node could not release partitions; other nodes take them when the leases end", "error", err)
		return
	}
	m.announce()
}

// release gives the leases of partitions back.
func (m *Member) release(ctx context.Context, partitions []int) error {
	if m.deps.PartitionLeases == nil || len(partitions) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, m.timing.Beat)
	defer cancel()
	return m.deps.PartitionLeases.Release(bounded, partitions)
}
