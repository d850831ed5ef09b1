package membership

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// HoldUntil is until when this node may renew the leases of workers although the store is away, by its own clock; zero
// while its beats reach the store. See delivery.HoldUntil for the rule.
func (m *Member) HoldUntil() time.Duration {
	now := m.deps.Lease.elapsed()
	if m.reaches(now) {
		return 0
	}
	if !m.deps.Lease.Holds() {
		return 1 // long ago: the store is away, and nothing is renewed
	}
	if m.deps.Peers == nil {
		return now + m.timing.Lease // no other node declares workers DOWN, and this one has a gap in its own beats
	}
	m.promises.mu.Lock()
	allAway := m.promises.allAway
	m.promises.mu.Unlock()
	return max(1, delivery.HoldUntil(m.deps.Lease.ends(), allAway, m.timing.Lease))
}

// noteAllAway keeps when no node was known to reach the store.
func (p *promises) noteAllAway(at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allAway = max(p.allAway, at)
}
