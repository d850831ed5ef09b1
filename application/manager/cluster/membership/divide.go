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

// parted is what is remembered of the partitions between two looks.
type parted struct {
	// nodes are those that were told of.
	nodes []entity.Node
	// owners are by the last look, former the owners before those.
	owners, former [entity.Partitions]string
	// withheld are the partitions that others claim, claimed is when this node
	// claimed last, and what.
	withheld map[int]withholding
	claimed  []int
	at       time.Duration
}

// divide works out which partitions this node scans.
func (m *Member) divide(ctx context.Context) {
	l := m.seen()
	self := m.Self().ID
	m.follow(self, l.nodes)
	mine := []int{}
	if m.Lease.Holds() {
		mine = append(mine, m.damped(ctx, partition.Scanned(self, l.nodes, l.judgement.Late), l)...)
	}
	m.mu.Lock()
	if m.Lease.stopped.Load() {
		mine = []int{}
	}
	former := m.mine
	m.mine = mine
	m.mu.Unlock()
	m.heed(l.nodes)
	if slices.Equal(mine, former) {
		return
	}
	m.Logger.Info("the partitions were divided anew", "mine", len(mine), "schedulers", len(liveness.Schedulers(l.nodes)))
	m.changed.Store(true)
	m.handOver(ctx, former, mine)
}

// follow notes who owned each partition before its present owner did. A node
// that joins takes them from those who had them without it.
func (m *Member) follow(self string, nodes []entity.Node) {
	contest := partition.Members(nodes)
	if m.parted.nodes == nil {
		m.parted.owners = partition.Table(slices.DeleteFunc(slices.Clone(contest), func(n rendezvous.Node) bool { return n.ID == self }))
		m.announce()
	}
	for p, owner := range partition.Table(contest) {
		if before := m.parted.owners[p]; before != owner {
			m.parted.former[p], m.parted.owners[p] = before, owner
		}
	}
}

// heed passes on what the registry says: that this node drains, that others
// came or went.
func (m *Member) heed(nodes []entity.Node) {
	for _, n := range nodes {
		if n.ID == m.Self().ID {
			m.Worker.Suspend(n.Status == entity.NodeDraining)
		}
	}
	news := !slices.EqualFunc(nodes, m.parted.nodes, sameState)
	m.parted.nodes = nodes
	if news && m.OnChange != nil {
		m.OnChange()
	}
}

// sameState reports whether two looks at a node agree on what may run there.
func sameState(a, b entity.Node) bool {
	return a.ID == b.ID && a.Epoch == b.Epoch && a.Status == b.Status && (a.Slots > 0) == (b.Slots > 0)
}

// handOver lets the others have at once what is this node's no more, and tells
// them; otherwise they would wait for the end of its claim.
func (m *Member) handOver(ctx context.Context, former, mine []int) {
	left := slices.DeleteFunc(slices.Clone(former), func(p int) bool { return slices.Contains(mine, p) })
	if m.Damper == nil || len(left) == 0 {
		return
	}
	if err := m.release(ctx, left); err != nil {
		m.Logger.Debug("the partitions could not be handed over; the others take them when the claim ends", "error", err)
		return
	}
	m.announce()
}

// release gives partitions free.
func (m *Member) release(ctx context.Context, partitions []int) error {
	if m.Damper == nil || len(partitions) == 0 {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, m.terms.Beat)
	defer cancel()
	return m.Damper.Release(bounded, partitions)
}
