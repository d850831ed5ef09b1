package membership

import (
	"context"
	"fmt"
	"time"
)

// stuckAfter is how many leases the node waits for its runs to stop before the
// process ends.
const stuckAfter = 4

// guard stops the work when the lease ends, independently of the beats.
func (m *Member) guard(ctx context.Context) {
	timer := m.deps.Clock.NewTimer(0)
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

// GuardOnce stops the work if the lease has ended, and returns when to check again:
// at its end, but at least once a beat. A timer stands still while the machine
// sleeps; the lease does not.
func (m *Member) GuardOnce() time.Duration {
	m.leaseMu.Lock()
	defer m.leaseMu.Unlock()
	now, ends := m.deps.Lease.elapsed(), m.deps.Lease.ends()
	switch {
	case m.deps.Lease.stopped.Load():
		m.endIfStuck(now)
	case ends != 0 && now >= ends: // a lease that never began has nothing to stop
		m.halt(m.stopReason())
	case ends-now < m.timing.Beat:
		return max(ends-now, 0)
	}
	return m.timing.Beat
}

// stopReason says for metrics and for people why the lease has ended.
func (m *Member) stopReason() (cause, reason string) {
	if !m.away.Load() {
		return "frozen", "its process stood still for longer than its lease"
	}
	return m.promises.stopReason()
}

// renew lets the lease last from the begin of a good beat: the others count
// from a later moment.
func (m *Member) renew(began time.Duration) {
	m.leaseMu.Lock()
	defer m.leaseMu.Unlock()
	m.good.Store(int64(began))
	if m.deps.Peers != nil {
		m.deps.Lease.lasts(began + m.timing.Lease - m.timing.Margin())
	}
}

// extend moves the end of the lease to until, unless a later beat was good.
func (m *Member) extend(good, until time.Duration) {
	m.leaseMu.Lock()
	defer m.leaseMu.Unlock()
	if time.Duration(m.good.Load()) == good {
		m.deps.Lease.lasts(until)
	}
}

// stop ends the work: new work at once, runs soon. It reports whether nothing runs
// any more.
func (m *Member) stop(cause, reason string) (ended bool) {
	m.leaseMu.Lock()
	defer m.leaseMu.Unlock()
	return m.halt(cause, reason)
}

// halt is stop for a caller that holds leaseMu.
func (m *Member) halt(cause, reason string) (ended bool) {
	if m.deps.Lease.stopped.Swap(true) {
		return m.deps.Worker.Halt()
	}
	m.stoppedAt, m.stoppedFor = m.deps.Lease.elapsed(), cause
	ended = m.deps.Worker.Halt() // before the log, which may be slow or stuck
	m.mu.Lock()
	m.deps.View.setPartitions([]int{})
	self := m.node
	m.mu.Unlock()
	m.changed.Store(true)
	wake(m.workNow)
	m.deps.Metrics.Stopped(cause)
	m.deps.Logger.Error("this node stops its work", "node", self.ID, "epoch", self.Epoch, "reason", reason)
	return ended
}

// endIfStuck ends the process when work does not end that must: a handler that
// ignores its context would keep the node out for ever.
func (m *Member) endIfStuck(now time.Duration) {
	if m.stuck || now-m.stoppedAt <= stuckAfter*m.timing.Lease || m.deps.Worker.Halt() {
		return
	}
	m.stuck = true
	m.deps.OnLost(fmt.Errorf("this node had to stop its work, and %d runs have not ended within %s: "+
		"a handler ignores its context; the process ends so that its supervisor starts it again",
		m.running(), stuckAfter*m.timing.Lease))
}

// resume allows work again, once all stopped runs have ended.
func (m *Member) resume(epoch int64) {
	m.leaseMu.Lock()
	defer m.leaseMu.Unlock()
	if m.standsBy() || !m.deps.Lease.stopped.Load() || !m.deps.Worker.Halt() {
		return
	}
	m.deps.Lease.stopped.Store(false)
	m.stuck = false
	m.deps.Logger.Info("this node works again", "node", m.Self().ID, "epoch", epoch)
	m.deps.Worker.Adopt(epoch)
	wake(m.followNow)
}
