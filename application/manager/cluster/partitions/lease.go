package partitions

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
func (a *Assigner) withoutForeignLeases(ctx context.Context, scanned []int, l Look) []int {
	if a.leases == nil {
		return scanned
	}
	granted, asked := a.claim(ctx, scanned)
	if !asked {
		return scanned
	}
	now, before := a.cfg.Elapsed(), a.foreign
	a.foreign = map[int]foreignLease{}
	return slices.DeleteFunc(slices.Clone(scanned), func(p int) bool {
		w, again := before[p]
		if slices.Contains(granted, p) {
			if w.granted == 0 {
				w.granted = now
			}
			if again && now-w.granted < 2*a.cfg.Lease {
				a.foreign[p] = w
			}
			return false
		}
		if !again {
			w.since = now
		}
		w.granted = 0
		a.foreign[p] = w
		return now-w.since < 2*a.cfg.Lease && a.owners[p] == l.Self && scans(a.former[p], l)
	})
}

// claim claims the leases of partitions; asked is false where Redis does not answer.
// It does not ask at each look for what this node already holds.
func (a *Assigner) claim(ctx context.Context, scanned []int) (granted []int, asked bool) {
	now := a.cfg.Elapsed()
	fresh := now-a.at < a.cfg.Lease/4
	if len(a.foreign) == 0 && fresh && slices.Equal(scanned, a.claimed) {
		return scanned, true
	}
	bounded, cancel := context.WithTimeout(ctx, a.cfg.Beat/2)
	defer cancel()
	granted, err := a.leases.Claim(bounded, scanned)
	if err != nil {
		a.logger.Debug("this node could not claim its partitions in Redis; it scans them anyway", "error", err)
		return nil, false
	}
	a.claimed, a.at = slices.Clone(scanned), now
	return granted, true
}

// scans reports whether a node is alive and scans partitions.
func scans(id string, l Look) bool {
	for _, n := range l.Nodes {
		if n.ID == id {
			return n.Status != entity.NodeDown && n.Has(entity.RoleScheduler) && !l.Late[id]
		}
	}
	return false
}
