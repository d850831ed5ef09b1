package membership

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// foreignLease is the lease of another node on a partition that this node would scan.
type foreignLease struct {
	// since is when this node first saw it. granted is since when the partition is
	// granted again; 0 while it is not. Both by the lease's clock.
	since, granted time.Duration
}

// withoutForeignLeases drops the partitions whose lease another living node still
// holds, because that node has not seen the new assignment yet. It keeps partitions
// whose present owner is late, or whose former owner is gone. After two lease periods
// this node scans a partition anyway: the holder does not release it. A lease that
// comes and goes does not restart that period.
func (m *Member) withoutForeignLeases(ctx context.Context, scanned []int, l registryView) []int {
	if m.deps.PartitionLeases == nil {
		return scanned
	}
	granted, asked := m.claim(ctx, scanned)
	if !asked {
		return scanned
	}
	now, before := m.deps.Lease.elapsed(), m.assignment.foreign
	m.assignment.foreign = map[int]foreignLease{}
	return slices.DeleteFunc(slices.Clone(scanned), func(p int) bool {
		w, again := before[p]
		if slices.Contains(granted, p) {
			if w.granted == 0 {
				w.granted = now
			}
			if again && now-w.granted < 2*m.timing.Lease {
				m.assignment.foreign[p] = w
			}
			return false
		}
		if !again {
			w.since = now
		}
		w.granted = 0
		m.assignment.foreign[p] = w
		return now-w.since < 2*m.timing.Lease && m.assignment.owners[p] == m.Self().ID && scans(m.assignment.former[p], l)
	})
}

// claim claims the leases of partitions; asked is false where Redis does not answer.
// It does not ask at each look for what this node already holds.
func (m *Member) claim(ctx context.Context, scanned []int) (granted []int, asked bool) {
	now := m.deps.Lease.elapsed()
	fresh := now-m.assignment.at < m.timing.Lease/4
	if len(m.assignment.foreign) == 0 && fresh && slices.Equal(scanned, m.assignment.claimed) {
		return scanned, true
	}
	bounded, cancel := context.WithTimeout(ctx, m.timing.Beat/2)
	defer cancel()
	granted, err := m.deps.PartitionLeases.Claim(bounded, scanned)
	if err != nil {
		m.deps.Logger.Debug("this node could not claim its partitions in Redis; it scans them anyway", "error", err)
		return nil, false
	}
	m.assignment.claimed, m.assignment.at = slices.Clone(scanned), now
	return granted, true
}

// scans reports whether a node is alive and scans partitions.
func scans(id string, l registryView) bool {
	for _, n := range l.nodes {
		if n.ID == id {
			return n.Status != entity.NodeDown && n.Has(entity.RoleScheduler) && !l.evaluation.Late[id]
		}
	}
	return false
}
