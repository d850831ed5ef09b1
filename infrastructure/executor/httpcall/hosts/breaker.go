package hosts

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// maxTroubled bounds the targets that the breaker remembers.
const maxTroubled = 4096

// HeldBack is the error of a call that was not made: several calls in a row could not
// reach its target. The next call may be made after Wait; where that is 0, one is under way.
type HeldBack struct {
	Failures int
	Wait     time.Duration
}

// Error implements error.
func (h *HeldBack) Error() string {
	return fmt.Sprintf("held back: %d calls in a row could not connect; the next one is made in %s", h.Failures,
		h.Wait.Round(time.Millisecond))
}

// Outcome is that of an attempt whose first call was held back. Runs of one target come back a little after the call
// that tries it, and not at one moment.
func (h *HeldBack) Outcome(origin string) entity.Outcome {
	return entity.HeldBack(h.Wait+hostPause/2+rand.N(hostPause),
		fmt.Sprintf("held back: %d calls in a row could not connect to %s", h.Failures, origin))
}

// breaker holds back calls of a target that cannot be reached. Safe for concurrent use.
type breaker struct {
	clock clock.Clock
	after int
	pause time.Duration

	mu       sync.Mutex
	troubled map[Target]*trouble
}

// trouble is what the breaker knows of a target that could not be reached. breaker.mu
// guards its fields.
type trouble struct {
	failures int
	// until is when the next call may be made, in monotonic time.
	until time.Duration
	// probing is true while that call is under way; others wait for its result.
	probing bool
}

// newBreaker returns a breaker that holds calls back for pause after so many failures in
// a row. With after 0 it never does.
func newBreaker(c clock.Clock, after int, pause time.Duration) *breaker {
	return &breaker{clock: c, after: after, pause: pause, troubled: map[Target]*trouble{}}
}

// trial is one call that the breaker let through. The caller calls end when it is over, and before as well, once the
// target is reached.
type trial struct {
	breaker *breaker
	target  Target
	probe   bool
}

// begin lets a call through, or fails with *HeldBack.
func (b *breaker) begin(to Target) (*trial, error) {
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

// check fails with *HeldBack where begin would.
func (b *breaker) check(to Target) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.troubled[to]
	if b.after <= 0 || known == nil || known.failures < b.after {
		return nil
	}
	return known.held(b.clock.Monotonic())
}

// held is the error of the next call; nil means that this call probes the target.
func (t *trouble) held(now time.Duration) error {
	if wait := t.until - now; wait > 0 || t.probing {
		return &HeldBack{t.failures, max(wait, 0)}
	}
	return nil
}

// end records whether the call reached the target and, when it did not, whether the
// target is to blame.
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
	c.probe = false
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
