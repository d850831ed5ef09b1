package app

import (
	"context"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
)

// leadName is the lock of the node that does the duties of the cluster.
const leadName = "cluster-duties"

// elect makes the elector of this node; node is its row. The lease is three
// quarters of a node's, so that a dead leader is replaced within one lease of
// its own.
func (c *cluster) elect(e *Engine, node entity.Node) {
	if c == nil {
		return
	}
	locks := lock.NewFallback(c.locks, e.Store.Locks, e.machine, e.logger)
	c.elector = lock.NewElector(locks, e.machine, e.logger, leadName, holderOf(node), e.timing().Lease*3/4)
}

// lead is nil where this node is alone: then it leads without asking anybody.
func (c *cluster) lead() periodic.Lead {
	if c == nil {
		return nil
	}
	return c.elector
}

// stand stands for election until stopLead. Who does not plan does not stand.
func (e *Engine) stand() {
	ctx, cancel := context.WithCancel(context.Background())
	e.stopLead = cancel
	if n := e.Member.Self(); e.cluster != nil && n.Has(entity.RoleScheduler) {
		e.leading.Go(func() { e.cluster.elector.Run(ctx) })
	}
}

// resign gives the lead back, so that another node takes it over at once.
func (e *Engine) resign() {
	e.stopLead()
	e.leading.Wait()
}

// leader is the id of the node that does the duties of the cluster; empty for
// none.
func (e *Engine) leader(ctx context.Context) (string, error) {
	if e.cluster == nil {
		return e.Member.Self().ID, nil
	}
	holder, err := e.Store.Locks.Holder(ctx, leadName)
	id, _, _ := strings.Cut(holder, holderMark)
	return id, err
}

// seekLeader looks whether anybody does the duties of the cluster.
func (e *Engine) seekLeader(ctx context.Context) error {
	if e.cluster == nil {
		return periodic.ErrIdle
	}
	id, err := e.leader(ctx)
	if err != nil {
		return err
	}
	if id != "" {
		e.cluster.unled.Store(0)
		return nil
	}
	e.cluster.unled.CompareAndSwap(0, int64(e.machine.Monotonic()))
	return nil
}

// unledFor is how long nobody may lead before that is told: a change of the lead
// takes less.
const unledFor = 5 * time.Second

// leaderless says that nobody does the duties of the cluster.
func (e *Engine) leaderless() (reason string, blocks bool) {
	if e.cluster == nil {
		return "", false
	}
	since := time.Duration(e.cluster.unled.Load())
	if since == 0 || e.machine.Monotonic()-since < unledFor {
		return "", false
	}
	return "nobody leads: no node does the duties of the cluster, such as deadlines, retention and events", false
}
