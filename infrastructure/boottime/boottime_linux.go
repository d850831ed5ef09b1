// Package boottime measures time that passes, the time in which the machine
// sleeps among it: leases run out meanwhile.
package boottime

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Of returns a clock of the time since some moment, which never falls and goes on
// while the machine sleeps; where the system does not tell that, it is c's
// monotonic time.
func Of(c clock.Clock) func() time.Duration {
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
