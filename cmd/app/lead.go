package app

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/standby"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/ticker"
)

// leadName is the lock of the leader. The name stands in the store.
const leadName = "cluster-duties"

// lead is what decides which node does the tasks of the leader.
type lead struct {
	ticker *ticker.Ticker
	tasks  *periodic.Tasks
	// elector decides whether this node leads; nil where it is alone.
	elector *lock.Elector
	// leaderlessSince is since when no node leads, in monotonic ns; 0 while a node leads.
	leaderlessSince *atomic.Int64
}

// newLead makes the elector and the tasks of this node. The leader's lease is three quarters
// of a node's lease, so that another node replaces a dead leader within one node lease.
func newLead(b base, s storage, c *cluster, n self) (l lead, err error) {
	l.leaderlessSince = &atomic.Int64{}
	if l.ticker, err = ticker.New(); err != nil {
		return l, err
	}
	b.opened.addQuiet(func() { _ = l.ticker.Stop() }) // of an engine that starts, its loops have told the error
	var leadership standby.Leadership
	locks := lock.Count(s.Store.Locks, b.Metrics.LockCall("store"))
	if c != nil {
		locks = lock.NewFallback(c.locks, locks, b.machine, b.logger)
	}
	if c != nil || b.options.Peers != nil {
		l.elector = lock.NewElector(locks, b.machine, b.logger, leadName, holderOf(n.node), b.timing().Lease*3/4)
		leadership = l.elector
	}
	l.tasks = periodic.NewTasks(b.machine, l.ticker, n.gate.Lead(leadership), b.logger)
	return l, nil
}

// campaign takes part in the election until stopLead. Only a scheduler campaigns.
func (e *Engine) campaign() {
	ctx, cancel := context.WithCancel(context.Background())
	e.stopLead = cancel
	if n := e.Member.Self(); e.elector != nil && n.Has(entity.RoleScheduler) {
		e.leading.Go(func() { e.gate.While(ctx, e.elector.Run) })
	}
}

// resign releases the lead, so that another node takes it over at once.
func (e *Engine) resign() {
	e.stopLead()
	e.leading.Wait()
}

// leader returns the id of the leader; empty when no node leads.
func (p *parts) leader(ctx context.Context) (string, error) {
	if p.elector == nil {
		return p.Member.Self().ID, nil
	}
	holder, err := p.Store.Locks.Holder(ctx, leadName)
	id, _, _ := strings.Cut(holder, holderMark)
	return id, err
}

// seekLeader records whether a node leads.
func (p *parts) seekLeader(ctx context.Context) error {
	if p.elector == nil {
		return periodic.ErrIdle
	}
	id, err := p.leader(ctx)
	if err != nil {
		return err
	}
	if id != "" {
		p.leaderlessSince.Store(0)
		return nil
	}
	p.leaderlessSince.CompareAndSwap(0, int64(p.machine.Monotonic()))
	return nil
}

// leaderlessAfter is how long no node may lead before the node reports it: a change
// of the leader takes less.
const leaderlessAfter = 5 * time.Second

// leaderless reports that no node leads.
func (p *parts) leaderless() (reason string, blocks bool) {
	if p.elector == nil || !p.gate.Open() {
		return "", false
	}
	since := time.Duration(p.leaderlessSince.Load())
	if since == 0 || p.machine.Monotonic()-since < leaderlessAfter {
		return "", false
	}
	return "no node leads: the tasks of the leader, such as deadlines, retention and events, are not done", false
}
