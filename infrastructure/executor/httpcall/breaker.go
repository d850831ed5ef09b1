package httpcall

import (
	"fmt"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// maxTroubled bounds what is remembered of targets that could not be reached.
const maxTroubled = 4096

// heldBack is a call that was not made because its target could not be reached
// several times in a row.
type heldBack struct {
	failures int
	wait     time.Duration
}

// Error implements error.
func (h *heldBack) Error() string {
	return fmt.Sprintf("held back: %d calls in a row could not connect; the next one is made in %s", h.failures, h.wait.Round(time.Millisecond))
}

// target is what calls must have in common to learn from each other's failures:
// where they go, and as whom. A call with a certificate or an authority of its
// own may fail to agree on TLS where others do not.
type target struct{ origin, identity string }

// breaker holds calls back from a target that cannot be reached, so that a dead
// one neither takes all slots of a node nor is flooded when it comes back. It is
// safe for concurrent use.
type breaker struct {
	clock clock.Clock
	after int
	pause time.Duration

	mu       sync.Mutex
	troubled map[target]*trouble
}

// trouble is what is known of a target that could not be reached. Its fields
// are guarded by breaker.mu.
type trouble struct {
	failures int
	// until is when the next call may be made, of the monotonic clock.
	until time.Duration
	// probing: that call is under way, others still wait for what it finds.
	probing bool
}

// newBreaker holds back for pause after so many failures in a row; after 0 is
// never.
func newBreaker(c clock.Clock, after int, pause time.Duration) *breaker {
	return &breaker{clock: c, after: after, pause: pause, troubled: map[target]*trouble{}}
}

// trial is one call that was let through. End must be called once.
type trial struct {
	breaker *breaker
	target  target
	probe   bool
}

// begin lets a call through, or fails with *heldBack.
func (b *breaker) begin(to target) (*trial, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &trial{breaker: b, target: to}
	known := b.troubled[to]
	if b.after <= 0 || known == nil || known.failures < b.after {
		return c, nil
	}
	if held := known.held(b.clock.Monotonic()); held != nil {
		return nil, held
	}
	known.probing, c.probe = true, true
	return c, nil
}

// holds tells whether begin would hold a call back now.
func (b *breaker) holds(to target) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.troubled[to]
	return b.after > 0 && known != nil && known.failures >= b.after && known.held(b.clock.Monotonic()) != nil
}

// held is what keeps the next call back; nil: it is the one that finds out.
func (t *trouble) held(now time.Duration) error {
	if wait := t.until - now; wait > 0 || t.probing {
		return &heldBack{t.failures, max(wait, 0)}
	}
	return nil
}

// end notes how the call went: whether the target was reached, and, when it was
// not, whether that is the target's doing.
func (c *trial) end(reached, blame bool) {
	b := c.breaker
	if b.after <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.troubled[c.target]
	if known != nil && c.probe {
		known.probing = false
	}
	switch {
	case reached:
		delete(b.troubled, c.target)
	case blame && known == nil:
		b.makeRoom()
		b.troubled[c.target] = &trouble{failures: 1, until: b.clock.Monotonic() + b.pause}
	case blame:
		known.failures++
		known.until = b.clock.Monotonic() + b.pause
	}
}

// makeRoom forgets one target when too many are remembered.
func (b *breaker) makeRoom() {
	if len(b.troubled) < maxTroubled {
		return
	}
	for other := range b.troubled {
		delete(b.troubled, other)
		return
	}
}
