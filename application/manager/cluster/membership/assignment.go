package membership

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/partitions"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

// assignPartitions computes which partitions this node scans.
func (m *Member) assignPartitions(ctx context.Context) {
	view := m.lastView()
	l := partitions.Look{Self: m.Self().ID, Nodes: view.nodes, Late: view.evaluation.Late}
	if m.assigner.Track(l) {
		m.announce()
	}
	mine := []int{}
	if m.deps.Lease.Holds() {
		mine = m.assigner.Scanned(ctx, l)
	}
	m.mu.Lock()
	if m.deps.Lease.stopped.Load() {
		mine = []int{}
	}
	former := m.deps.View.setPartitions(mine)
	m.mu.Unlock()
	m.applyRegistry(l.Nodes)
	if slices.Equal(mine, former) {
		return
	}
	m.deps.Logger.Info("the partitions of this node changed",
		"mine", len(mine), "schedulers", len(liveness.Schedulers(l.Nodes)))
	m.changed.Store(true)
	if m.assigner.HandOver(ctx, former, mine) {
		m.announce()
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
	changed := !slices.EqualFunc(nodes, m.followed, sameState)
	m.followed = nodes
	if changed && m.deps.OnChange != nil {
		m.deps.OnChange()
	}
}

// sameState reports whether two looks at a node agree on what may run there.
func sameState(a, b entity.Node) bool {
	return a.ID == b.ID && a.Epoch == b.Epoch && a.Status == b.Status && (a.Slots > 0) == (b.Slots > 0)
}
