package membership

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// withholding is of a partition that another node's claim keeps from this one.
type withholding struct {
	// since is when that began, granted from when on it has been given again; 0
	// while it is not. Both by the lease's clock.
	since, granted time.Duration
}

// damped leaves out those partitions that a living node still holds, as it has
// not seen yet that they are this one's. What the owner cannot scan, because it is
// late, or the former owner, because it is gone, is never withheld. What is withheld for two leases
// is taken all the same: whoever holds it does not let go. A claim that comes and
// goes does not begin that time anew.
func (m *Member) damped(ctx context.Context, scanned []int, l look) []int {
	if m.Damper == nil {
		return scanned
	}
	granted, asked := m.claim(ctx, scanned)
	if !asked {
		return scanned
	}
	now, before := m.Lease.elapsed(), m.parted.withheld
	m.parted.withheld = map[int]withholding{}
	return slices.DeleteFunc(slices.Clone(scanned), func(p int) bool {
		w, again := before[p]
		if slices.Contains(granted, p) {
			if w.granted == 0 {
				w.granted = now
			}
			if again && now-w.granted < 2*m.terms.Lease {
				m.parted.withheld[p] = w
			}
			return false
		}
		if !again {
			w.since = now
		}
		w.granted = 0
		m.parted.withheld[p] = w
		return now-w.since < 2*m.terms.Lease && m.parted.owners[p] == m.Self().ID && scans(m.parted.former[p], l)
	})
}

// claim asks for partitions; asked is false where nobody answers. What is held
// already is not asked for at each look.
func (m *Member) claim(ctx context.Context, scanned []int) (granted []int, asked bool) {
	now := m.Lease.elapsed()
	if len(m.parted.withheld) == 0 && now-m.parted.at < m.terms.Lease/4 && slices.Equal(scanned, m.parted.claimed) {
		return scanned, true
	}
	bounded, cancel := context.WithTimeout(ctx, m.terms.Beat/2)
	defer cancel()
	granted, err := m.Damper.Claim(bounded, scanned)
	if err != nil {
		m.Logger.Debug("the partitions could not be claimed; they are scanned all the same", "error", err)
		return nil, false
	}
	m.parted.claimed, m.parted.at = slices.Clone(scanned), now
	return granted, true
}

// scans reports whether a node is there to scan partitions.
func scans(id string, l look) bool {
	for _, n := range l.nodes {
		if n.ID == id {
			return n.Status != entity.NodeDown && n.Has(entity.RoleScheduler) && !l.judgement.Late[id]
		}
	}
	return false
}
