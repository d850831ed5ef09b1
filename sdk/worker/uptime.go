package worker

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// sleepWatch notices that the machine slept, which the monotonic clock does not count.
type sleepWatch struct {
	clock clock.Clock
	// elapsed goes on while the machine sleeps.
	elapsed   func() time.Duration
	wall, own time.Duration
}

func newSleepWatch(c clock.Clock) *sleepWatch {
	w := &sleepWatch{clock: c, elapsed: elapsedOf(c)}
	w.look()
	return w
}

// look returns for how long the machine slept since the look before; 0: it did not.
func (w *sleepWatch) look() time.Duration {
	wall, own := w.elapsed(), w.clock.Monotonic()
	gap := attempts.Asleep(wall-w.wall, own-w.own)
	w.wall, w.own = wall, own
	return gap
}

// elapsedOf is the time since the machine's start where the system tells it, else the wall clock.
func elapsedOf(c clock.Clock) func() time.Duration {
	start := c.Now()
	if _, ok := uptime(); !ok {
		return func() time.Duration { return c.Now().Sub(start) }
	}
	last := time.Duration(0)
	return func() time.Duration {
		if up, ok := uptime(); ok {
			last = up
		}
		return last
	}
}

// uptime is what Linux tells in /proc/uptime: seconds since the start of the machine, with those that it slept.
func uptime() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, false
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	seconds, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}
