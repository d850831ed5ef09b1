// Package storeclock tells the time by the store's clock, so that all nodes
// agree on what is due (engine rule 13).
package storeclock

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// driftPerMillion is how far two clocks may part, in parts of a million: what
	// an undisciplined quartz does, twice over.
	driftPerMillion = 500
	// rounding is what the store's answer leaves out: it names whole milliseconds.
	rounding = time.Millisecond
)

// Clock is the store's time at the last measurement plus the monotonic time
// since: a step of the machine's wall clock changes nothing. A store without a
// clock of its own (SQLite) has the machine's. Readings are never ahead of the
// store's clock, so that nothing fires early. Safe for concurrent use.
type Clock struct {
	local clock.Clock
	// source is nil where the machine's wall clock is the store's.
	source repository.TimeSource
	// known bounds the store's time minus monotonic time; nil before the first measurement.
	known atomic.Pointer[measured]
	// sure is how far the store's clock is ahead of the wall clock at least, in
	// nanoseconds.
	sure atomic.Int64
	// seen holds wall minus monotonic at the last check, to notice jumps.
	seen atomic.Int64

	// mu is held by the measurement that writes known.
	mu sync.Mutex
}

// interval bounds a moment.
type interval struct{ least, most time.Time }

// measured is an interval as of a moment of monotonic time.
type measured struct {
	interval

	at time.Duration
}

// aged is what an interval has become after a while.
func (i interval) aged(by time.Duration) interval {
	drift := by * driftPerMillion / 1_000_000
	return interval{i.least.Add(-drift), i.most.Add(drift)}
}

// and is what two intervals have in common; ok is false for nothing.
func (i interval) and(o interval) (both interval, ok bool) {
	if o.least.After(i.least) {
		i.least = o.least
	}
	if o.most.Before(i.most) {
		i.most = o.most
	}
	return i, !i.most.Before(i.least)
}

// JumpThreshold is the difference between wall and monotonic time from which
// a jump of the wall clock is an event (engine rule 13).
const JumpThreshold = 5 * time.Second

// New returns a clock that must be measured before use; a nil source is for a
// store whose clock is the machine's, which needs no measuring.
func New(local clock.Clock, source repository.TimeSource) *Clock {
	c := &Clock{local: local, source: source}
	c.seen.Store(c.skew())
	return c
}

// Now is the store's time, as far as known: never ahead of it.
func (c *Clock) Now() time.Time {
	if known := c.known.Load(); known != nil {
		return known.least.Add(c.local.Monotonic())
	}
	return c.local.Now()
}

// Steady is the machine's clock where the store's is its wall clock, which may be set; nil elsewhere. Waits that must
// not follow a step of the wall clock go by its monotonic time.
func (c *Clock) Steady() clock.Clock {
	if c.source != nil {
		return nil
	}
	return c.local
}

// Latest is what the store's clock shows at most: never behind it. It is ahead of Now by as long as the answer took
// that tells most, a millisecond at least. A rest that is counted from it is as long as it should be by the clock of
// each node, also of one that knows the store's time better.
func (c *Clock) Latest() time.Time {
	known := c.known.Load()
	if known == nil {
		return c.local.Now()
	}
	now := c.local.Monotonic()
	return known.aged(now - known.at).most.Add(now)
}

// Measure asks the store for its time.
func (c *Clock) Measure(ctx context.Context) error {
	if c.source == nil {
		return nil
	}
	began := c.local.Monotonic()
	store, err := c.source.StoreTime(ctx)
	if err != nil {
		return fmt.Errorf("measure the store's clock: %w", err)
	}
	c.take(store, began, c.local.Monotonic())
	return nil
}

// take learns that the store's clock showed a time at some moment between two
// of monotonic time. The former bound holds too, but for the drift since: a
// slow answer takes nothing away. Where the two exclude each other, the store's
// clock was set, or the store is another server: the new one counts.
func (c *Clock) take(store time.Time, began, ended time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := interval{store.Add(-ended), store.Add(rounding - began)}
	if known := c.known.Load(); known != nil {
		if both, ok := fresh.and(known.aged(ended - known.at)); ok {
			fresh = both
		}
	}
	c.known.Store(&measured{fresh, ended})
	wall := c.local.Now().Add(-c.local.Monotonic())
	least, most := fresh.least.Sub(wall), fresh.most.Add(-rounding).Sub(wall)
	c.sure.Store(int64(max(least, 0) + min(most, 0)))
}

// Offset is how far the store's clock is ahead of the machine's, as far as that
// is certain: nothing of it is owed to a slow answer.
func (c *Clock) Offset() time.Duration { return time.Duration(c.sure.Load()) }

// Jumped reports by how much the local wall clock has moved against monotonic
// time since the last call, when that is more than JumpThreshold; else zero.
func (c *Clock) Jumped() time.Duration {
	now := c.skew()
	d := time.Duration(now - c.seen.Load())
	if d > -JumpThreshold && d < JumpThreshold {
		return 0
	}
	c.seen.Store(now)
	return d
}

func (c *Clock) skew() int64 {
	return c.local.Now().UnixNano() - int64(c.local.Monotonic())
}
