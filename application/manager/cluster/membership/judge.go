package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

// FollowOnce acts on the latest look: it marks who is late or dead, and divides
// the partitions. What may take long is left to WorkOnce.
func (m *Member) FollowOnce(ctx context.Context) error {
	l := m.seen()
	if len(l.nodes) == 0 {
		return nil
	}
	var errs []error
	for _, v := range l.judgement.Transitions {
		ok, err := m.mark(ctx, v, l.now)
		errs = append(errs, err)
		if ok {
			m.amend(v)
		}
	}
	m.divide(ctx)
	if m.Peers != nil && len(l.judgement.Late) > 0 {
		poke(m.proveNow)
	}
	poke(m.workNow)
	m.shine(ctx, l)
	return errors.Join(errs...)
}

// amend notes in the latest look what was written after it.
func (m *Member) amend(v liveness.Transition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	nodes := append([]entity.Node(nil), m.look.nodes...)
	for i, n := range nodes {
		if n.ID == v.Node.ID && n.Epoch == v.Node.Epoch && n.LastHeartbeat.Equal(v.Node.LastHeartbeat) {
			nodes[i].Status = v.Status
		}
	}
	m.look.nodes = nodes
}

// mark writes a verdict down, if the row is still as it was seen.
func (m *Member) mark(ctx context.Context, v liveness.Transition, now time.Time) (ok bool, err error) {
	cause := ""
	if v.Status == entity.NodeDown {
		if !m.condemn(v.Node) {
			return false, nil
		}
		if cause, ok = m.callBefore(ctx, v.Node, now); !ok {
			return false, nil
		}
	}
	return m.write(ctx, v, cause, now)
}

func (m *Member) write(ctx context.Context, v liveness.Transition, cause string, now time.Time) (ok bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, m.terms.Lease/3)
	defer cancel()
	if ok, err = m.Registry.Mark(bounded, v.Node, v.Status, cause); err != nil {
		return false, fmt.Errorf("mark the node %s as %s: %w", v.Node.ID, v.Status, err)
	}
	if ok {
		age := now.Sub(v.Node.LastHeartbeat)
		m.Logger.Warn("a node has stopped beating", "node", v.Node.ID, "status", v.Status, "lastBeat", v.Node.LastHeartbeat, "age", age.String(), "cause", cause)
		if v.Status == entity.NodeDown {
			m.Metrics.Death(cause, age)
		}
		m.announce()
	}
	return ok, nil
}

// callBefore calls a node that is about to be declared DOWN: one that is there
// learns that the store is, and stops. It is declared at once when it says that it
// has; while it says that it has not, it gets another lease at most.
func (m *Member) callBefore(ctx context.Context, n entity.Node, now time.Time) (cause string, ok bool) {
	if m.Peers == nil || n.Life.Lease <= 0 || n.Port <= 0 {
		return entity.DownLease, true
	}
	bounded, cancel := context.WithTimeout(ctx, m.terms.Beat)
	defer cancel()
	self := m.Self()
	a, err := m.Peers.Ask(bounded, n, entity.PeerQuestion{
		Matter: entity.PeerYield, NodeID: self.ID, Epoch: self.Epoch, Target: n.ID, TargetEpoch: n.Epoch,
	})
	switch {
	case err != nil || a.NodeID != n.ID || a.Boot != n.Life.Boot:
		return entity.DownLease, true
	case a.Stopped:
		return entity.DownYield, true
	}
	return entity.DownLease, now.Sub(n.LastHeartbeat) > 2*n.Lease()
}

// formerLight is how long a light burns for nodes of older programs: two of their
// beats.
const formerLight = 2 * time.Second

// shine lights a beacon as long as there are nodes of older programs, which look
// for beacons when they do not reach the store.
func (m *Member) shine(ctx context.Context, l look) {
	if m.Beacons == nil || m.away.Load() {
		return
	}
	if !slices.ContainsFunc(l.nodes, func(n entity.Node) bool { return n.Status != entity.NodeDown && n.Life.Lease <= 0 }) {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, m.terms.Beat/2)
	defer cancel()
	if err := m.Beacons.Light(bounded, m.Self().ID, formerLight); err != nil {
		m.Logger.Debug("the beacon could not be lit", "error", err)
	}
}
