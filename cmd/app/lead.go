package app

import (
	"context"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
)

// leadName is the lock of the leader. The name stands in the store.
const leadName = "cluster-duties"

// elect makes the elector of this node; node is its row. The leader's lease is three
// quarters of a node's lease, so that another node replaces a dead leader within one
// node lease.
func (c *cluster) elect(e *Engine, node entity.Node) {
	if c == nil {
		return
	}
	locks := lock.NewFallback(c.locks, lock.Count(e.Store.Locks, e.Metrics.LockCall("store")), e.machine, e.logger)
	c.elector = lock.NewElector(locks, e.machine, e.logger, leadName, holderOf(node), e.timing().Lease*3/4)
}

// leadership returns nil where this node is alone: then it always leads.
func (c *cluster) leadership() periodic.Leadership {
	if c == nil {
		return nil
	}
	return c.elector
}

// campaign takes part in the election until stopLead. Only a scheduler campaigns.
func (e *Engine) campaign() {
	ctx, cancel := context.WithCancel(context.Background())
	e.stopLead = cancel
	if n := e.Member.Self(); e.cluster != nil && n.Has(entity.RoleScheduler) {
		e.leading.Go(func() { e.cluster.elector.Run(ctx) })
	}
}

// resign releases the lead, so that another node takes it over at once.
func (e *Engine) resign() {
	e.stopLead()
	e.leading.Wait()
}

// leader returns the id of the leader; empty when no node leads.
func (e *Engine) leader(ctx context.Context) (string, error) {
	if e.cluster == nil {
		return e.Member.Self().ID, nil
	}
	holder, err := e.Store.Locks.Holder(ctx, leadName)
	id, _, _ := strings.Cut(holder, holderMark)
	return id, err
}

// seekLeader records whether a node leads.
func (e *Engine) seekLeader(ctx context.Context) error {
	if e.cluster == nil {
		return periodic.ErrIdle
	}
	id, err := e.leader(ctx)
	if err != nil {
		return err
	}
	if id != "" {
		e.cluster.leaderlessSince.Store(0)
		return nil
	}
	e.cluster.leaderlessSince.CompareAndSwap(0, int64(e.machine.Monotonic()))
	return nil
}

// leaderlessAfter is how long no node may lead before the node reports it: a change
// of the leader takes less.
const leaderlessAfter = 5 * time.Second

// leaderless reports that no node leads.
func (e *Engine) leaderless() (reason string, blocks bool) {
	if e.cluster == nil {
		return "", false
	}
	since := time.Duration(e.cluster.leaderlessSince.Load())
	if since == 0 || e.machine.Monotonic()-since < leaderlessAfter {
		return "", false
	}
	return "no node leads: the tasks of the leader, such as deadlines, retention and events, are not done", false
}
