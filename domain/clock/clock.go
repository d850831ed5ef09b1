// Package clock is the one source of time. Every part of the product takes a Clock. So a
// test can move the time, and a jump of the wall clock differs from time that passes.
package clock

import (
	"context"
	"time"
)

// Clock gives wall time, which may jump, and monotonic time, which may not.
// Implementations are safe for concurrent use.
type Clock interface {
	// Now is the wall time in UTC, without a monotonic reading. It decides
	// what is due; it may jump in both directions.
	Now() time.Time
	// Monotonic is the time passed since an arbitrary origin. Leases,
	// back-off and time-outs are measured with it; it never falls.
	Monotonic() time.Duration
	// NewTimer returns a timer that fires once after d of monotonic time.
	NewTimer(d time.Duration) Timer
}

// Timer is one pending wake-up. Stop releases it; a stopped timer never fires.
type Timer interface {
	// C delivers the moment of firing, once.
	C() <-chan time.Time
	// Stop reports whether it prevented the firing.
	Stop() bool
	// Reset arms the timer again for d from now.
	Reset(d time.Duration)
}

// Sleep waits for d of monotonic time, not at all when d is not positive, or
// returns the error of ctx when that ends first.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := c.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// System is the machine's clock.
type System struct{ origin time.Time }

// NewSystem returns the machine's clock; its monotonic origin is the call.
func NewSystem() *System { return &System{origin: time.Now()} }

// Now implements Clock. The monotonic reading is stripped, so that differences
// between two wall times really are differences of wall time.
func (s *System) Now() time.Time { return time.Now().Round(0).UTC() }

// Monotonic implements Clock.
func (s *System) Monotonic() time.Duration { return time.Since(s.origin) }

// NewTimer implements Clock.
func (s *System) NewTimer(d time.Duration) Timer { return &systemTimer{time.NewTimer(d)} }

type systemTimer struct{ t *time.Timer }

func (t *systemTimer) C() <-chan time.Time   { return t.t.C }
func (t *systemTimer) Stop() bool            { return t.t.Stop() }
func (t *systemTimer) Reset(d time.Duration) { t.t.Reset(d) }
