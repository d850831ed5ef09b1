// Package boottime measures time that passes, including the time in which the machine sleeps:
// leases end meanwhile.
package boottime

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Of returns a function that measures the time since some moment. The time never falls, and
// goes on while the machine sleeps. A clock that is not the machine's may have a time of its own,
// Boottime. Where the system does not tell it, Of returns c's monotonic time.
func Of(c clock.Clock) func() time.Duration {
	if own, ok := c.(interface{ Boottime() time.Duration }); ok {
		return own.Boottime
	}
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return c.Monotonic
	}
	return func() time.Duration {
		var t unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) // it worked before
		return time.Duration(t.Nano())
	}
}
