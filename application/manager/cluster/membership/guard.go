package membership

import (
	"context"
	"fmt"
	"time"
)

// stuckAfter is after how many leases work that does not stop ends the process.
const stuckAfter = 4

// guard stops the work when the lease ends, whatever the beats do.
func (m *Member) guard(ctx context.Context) {
	timer := m.Clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		timer.Reset(m.GuardOnce())
	}
}

// GuardOnce stops the work if the lease has ended, and returns when to look
// again: at its end, but each beat at least, because a timer stands still while
// the machine sleeps, and the lease does not.
func (m *Member) GuardOnce() time.Duration {
	m.right.Lock()
	defer m.right.Unlock()
	now, ends := m.Lease.elapsed(), m.Lease.ends()
	switch {
	case m.Lease.stopped.Load():
		m.judgeStuck(now)
	case ends != 0 && now >= ends: // a lease that never began has nothing to stop
		m.halt(m.why())
	case ends-now < m.terms.Beat:
		return max(ends-now, 0)
	}
	return m.terms.Beat
}

// why says for metrics and for people why the lease has ended.
func (m *Member) why() (cause, reason string) {
	if !m.away.Load() {
		return "frozen", "its process stood still for longer than its lease"
	}
	return m.promises.why()
}

// renew lets the lease last from the begin of a good beat: the others count
// from a later moment.
func (m *Member) renew(began time.Duration) {
	m.right.Lock()
	defer m.right.Unlock()
	m.good.Store(int64(began))
	if m.Peers != nil {
		m.Lease.lasts(began + m.terms.Lease - m.terms.Margin())
	}
}

// extend lets the lease last until then, unless a beat was good since that one.
func (m *Member) extend(good, until time.Duration) {
	m.right.Lock()
	defer m.right.Unlock()
	if time.Duration(m.good.Load()) == good {
		m.Lease.lasts(until)
	}
}

// stop ends the work: at once for what would begin, soon for what runs. It
// reports whether nothing runs any more; who needs that asks again.
func (m *Member) stop(cause, reason string) (ended bool) {
	m.right.Lock()
	defer m.right.Unlock()
	return m.halt(cause, reason)
}

// halt is stop for whoever holds the right.
func (m *Member) halt(cause, reason string) (ended bool) {
	if !m.Lease.stopped.Swap(true) {
		m.stoppedAt = m.Lease.elapsed()
		m.Metrics.Stopped(cause)
		m.Logger.Error("this node stops its work", "node", m.Self().ID, "why", reason)
		m.mu.Lock()
		m.mine = []int{}
		m.mu.Unlock()
		m.changed.Store(true)
		poke(m.workNow)
	}
	return m.Worker.Halt()
}

// judgeStuck ends the process when work does not end that must: a handler that
// ignores its context would keep the node out for ever.
func (m *Member) judgeStuck(now time.Duration) {
	if m.stuck || now-m.stoppedAt <= stuckAfter*m.terms.Lease || m.Worker.Halt() {
		return
	}
	m.stuck = true
	m.OnLost(fmt.Errorf("this node had to stop its work, and %d runs have not ended within %s: a handler ignores its context; the process ends so that its supervisor starts it anew",
		m.running(), stuckAfter*m.terms.Lease))
}

// resume lets the work begin again, once what was stopped has ended.
func (m *Member) resume(epoch int64) {
	m.right.Lock()
	defer m.right.Unlock()
	if !m.Lease.stopped.Load() || !m.Worker.Halt() {
		return
	}
	m.Lease.stopped.Store(false)
	m.stuck = false
	m.Logger.Info("this node works again", "node", m.Self().ID, "epoch", epoch)
	m.Worker.Adopt(epoch)
	poke(m.followNow)
}
