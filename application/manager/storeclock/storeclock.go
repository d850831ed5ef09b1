// Package storeclock tells the time by the store's clock, so that all nodes
// agree on what is due (engine rule 13).
package storeclock

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Clock is the local clock corrected by the measured offset of the store's.
// Readings are never ahead of the store by more than the rounding of its
// answer: the error bound of the measurement is subtracted, so that nothing
// fires early. Safe for concurrent use.
type Clock struct {
	local  clock.Clock
	source repository.TimeSource
	// offset is what to add to the local wall time, in nanoseconds, the error
	// bound already taken off.
	offset atomic.Int64
	// sure is how far the store's clock is ahead at least, in nanoseconds.
	sure atomic.Int64
	// seen holds wall minus monotonic at the last check, to notice jumps.
	seen atomic.Int64
}

// JumpThreshold is the difference between wall and monotonic time from which
// a jump of the wall clock is an event (engine rule 13).
const JumpThreshold = 5 * time.Second

// New returns a clock with no offset; Measure it before use.
func New(local clock.Clock, source repository.TimeSource) *Clock {
	c := &Clock{local: local, source: source}
	c.seen.Store(c.skew())
	return c
}

// Now is the store's time, as far as known.
func (c *Clock) Now() time.Time {
	return c.local.Now().Add(time.Duration(c.offset.Load()))
}

// Measure asks the store for its time. The answer belongs to some moment
// between question and answer, so that the clocks differ by what they differed
// at either, or by something between.
func (c *Clock) Measure(ctx context.Context) error {
	asked, began := c.local.Now(), c.local.Monotonic()
	store, err := c.source.StoreTime(ctx)
	if err != nil {
		return fmt.Errorf("measure the store's clock: %w", err)
	}
	trip := c.local.Monotonic() - began
	least, most := store.Sub(asked)-trip, store.Sub(asked)
	c.offset.Store(int64(least))
	c.sure.Store(int64(max(least, 0) + min(most, 0)))
	return nil
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
