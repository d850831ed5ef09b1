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

// FollowOnce acts on the latest look: it marks late and dead nodes, and assigns the
// partitions. WorkOnce does what may take long.
func (m *Member) FollowOnce(ctx context.Context) error {
	l := m.lastView()
	if len(l.nodes) == 0 {
		return nil
	}
	if m.standsBy() {
		m.applyRegistry(l.nodes)
		return nil
	}
	var errs []error
	for _, v := range l.evaluation.Transitions {
		ok, err := m.mark(ctx, v, l.now)
		errs = append(errs, err)
		if ok {
			m.amendView(v)
		}
	}
	m.assignPartitions(ctx)
	if m.deps.Peers != nil && len(l.evaluation.Late) > 0 {
		wake(m.proveNow)
	}
	wake(m.workNow)
	m.publishAlive(ctx, l)
	return errors.Join(errs...)
}

// amendView adds to the latest look what this node wrote after it.
func (m *Member) amendView(v liveness.Transition) {
	m.mu.Lock()
	defer m.mu.Unlock()
	nodes := append([]entity.Node(nil), m.view.nodes...)
	for i, n := range nodes {
		if n.ID == v.Node.ID && n.Epoch == v.Node.Epoch && n.LastHeartbeat.Equal(v.Node.LastHeartbeat) {
			nodes[i].Status = v.Status
		}
	}
	m.view.nodes = nodes
	m.deps.View.setNodes(nodes)
}

// mark writes a transition, if the row is unchanged since the look.
func (m *Member) mark(ctx context.Context, v liveness.Transition, now time.Time) (ok bool, err error) {
	cause := ""
	if v.Status == entity.NodeDown {
		if !m.condemn(v.Node) {
			return false, nil
		}
		if cause, ok = m.askToYield(ctx, v.Node, now); !ok {
			return false, nil
		}
	}
	return m.write(ctx, v, cause, now)
}

func (m *Member) write(ctx context.Context, v liveness.Transition, cause string, now time.Time) (ok bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, m.timing.Lease/3)
	defer cancel()
	if ok, err = m.deps.Registry.Mark(bounded, v.Node, v.Status, cause); err != nil {
		return false, fmt.Errorf("mark the node %s as %s: %w", v.Node.ID, v.Status, err)
	}
	if ok {
		age := now.Sub(v.Node.LastHeartbeat)
		m.deps.Logger.Warn("a node has stopped beating",
			"node", v.Node.ID, "status", v.Status, "epoch", v.Node.Epoch,
			"lastBeat", v.Node.LastHeartbeat, "age", age.String(), "cause", cause)
		if v.Status == entity.NodeDown {
			m.deps.Metrics.Death(cause, age)
		}
		m.announce()
	}
	return ok, nil
}

// askToYield calls a node before this one declares it DOWN. A living node learns
// that the store is reachable, and stops. Once it has stopped, it is declared at once;
// otherwise it gets another lease at most.
func (m *Member) askToYield(ctx context.Context, n entity.Node, now time.Time) (cause string, ok bool) {
	if m.deps.Peers == nil || n.Life.Lease <= 0 || n.Port <= 0 {
		return entity.DownLease, true
	}
	bounded, cancel := context.WithTimeout(ctx, m.timing.Beat)
	defer cancel()
	a, err := m.deps.Peers.Ask(bounded, n, m.peerQuestion(entity.PeerYield, n))
	switch {
	case err != nil || a.NodeID != n.ID || a.Boot != n.Life.Boot:
		return entity.DownLease, true
	case a.Stopped:
		return entity.DownYield, true
	}
	return entity.DownLease, now.Sub(n.LastHeartbeat) > 2*n.Lease()
}

// aliveFor is how long MarkAlive holds for nodes of older releases: two of their
// beats.
const aliveFor = 2 * time.Second

// publishAlive marks this node alive while nodes of older releases exist: they look
// into the liveness store when they do not reach the store.
func (m *Member) publishAlive(ctx context.Context, l registryView) {
	if m.deps.Liveness == nil || m.away.Load() {
		return
	}
	if !slices.ContainsFunc(l.nodes, func(n entity.Node) bool {
		return n.Status != entity.NodeDown && n.Life.Lease <= 0
	}) {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, m.timing.Beat/2)
	defer cancel()
	if err := m.deps.Liveness.MarkAlive(bounded, m.Self().ID, aliveFor); err != nil {
		m.deps.Logger.Debug("this node could not mark itself alive in Redis", "error", err)
	}
}
