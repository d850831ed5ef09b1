// Package hosts bounds the calls of each host, so that a slow or dead host neither takes
// all slots of a node nor is flooded when it comes back.
package hosts

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Settings are the bounds of calls.
type Settings struct {
	// PerHost is the most calls of one host and port at a time; 0 is no bound.
	PerHost int
	// BreakAfter calls in a row that could not connect to a host hold back further calls
	// for BreakFor. 0 switches that off.
	BreakAfter int
	BreakFor   time.Duration
}

// Target is what calls must share to learn from each other's failures: where they go,
// and as whom. A call with a certificate or an authority of its own may fail to agree on
// TLS where others do not.
type Target struct{ Origin, Identity string }

// Hosts knows the hosts that this node calls. Safe for concurrent use.
type Hosts struct {
	clock   clock.Clock
	permits *permits
	breaker *breaker
}

// New returns Hosts that knows no host yet.
func New(c clock.Clock, s Settings) *Hosts {
	return &Hosts{clock: c, permits: newPermits(s.PerHost), breaker: newBreaker(c, s.BreakAfter, s.BreakFor)}
}

// Reserve takes the permit of the first call of an attempt before the attempt begins, so
// that the wait does not count (engine rule 22). Where no permit is free, the attempt waits
// without a slot of its node, if that has room, and gets one in the order of due times.
// Reserve fails with *HeldBack where the breaker holds the call back, which needs no permit, with
// ErrBusy, or when ctx ends.
func (h *Hosts) Reserve(ctx context.Context, to Target, run entity.Run, rep entity.Reporter) (*Reservation, error) {
	if err := h.breaker.check(to); err != nil {
		return nil, err
	}
	return h.permits.reserve(ctx, h.clock, to.Origin, run, rep)
}

// Call is one call that Begin admitted. The caller calls Connected, before the answer comes as well where there is a
// new connection, and then Leave once when the call has ended.
type Call struct {
	trial *trial
	visit *visit
}

// Begin admits a call: it asks the breaker, and waits for a permit of the host. It fails
// with *HeldBack, or when ctx ends.
func (h *Hosts) Begin(ctx context.Context, to Target) (*Call, error) {
	trial, err := h.breaker.begin(to)
	if err != nil {
		return nil, err
	}
	visit, err := h.permits.enter(ctx, to.Origin)
	if err != nil {
		trial.end(false, false)
		return nil, err
	}
	return &Call{trial, visit}, nil
}

// Connected records whether the call reached its target and, when it did not, whether
// the target is to blame.
func (c *Call) Connected(reached, blame bool) { c.trial.end(reached, blame) }

// Leave returns the permit.
func (c *Call) Leave() { c.visit.leave() }
