//go:build failpoints

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// lookEvery is the time between two reads of the file.
const lookEvery = 20 * time.Millisecond

// Clock returns a clock whose wall time a test can step while the process runs, as an operator
// or a time service steps that of a machine. PS_FAILPOINT_CLOCK names a file that holds the
// step in milliseconds; no file means 0. Monotonic time does not change.
func Clock(machine clock.Clock) clock.Clock {
	file := os.Getenv("PS_FAILPOINT_CLOCK")
	if file == "" {
		return machine
	}
	return &steppedClock{Clock: machine, file: file}
}

type steppedClock struct {
	clock.Clock
	file string

	mu     sync.Mutex
	looked time.Duration
	off    time.Duration
}

// Now implements clock.Clock.
func (c *steppedClock) Now() time.Time { return c.Clock.Now().Add(c.offset()) }

func (c *steppedClock) offset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.Monotonic(); c.looked == 0 || now-c.looked >= lookEvery {
		c.looked = now
		if ms, ok := number(c.file); ok {
			c.off = time.Duration(ms) * time.Millisecond
		}
	}
	return c.off
}

// number reads the number that a file holds.
func number(file string) (n int64, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// StoreNow returns the expression for the time of the store's server, with the step that a test
// gives to the server's clock. PS_FAILPOINT_STORE_CLOCK names a file that holds the step in whole
// seconds; nodes that share a store share the file. All that the product learns of the time of a
// server comes by this expression, so that it sees what it would see of a clock that is set.
func StoreNow(expression string) string {
	if n, ok := number(os.Getenv("PS_FAILPOINT_STORE_CLOCK")); ok && n != 0 {
		return "(" + expression + " + INTERVAL " + strconv.FormatInt(n, 10) + " SECOND)"
	}
	return expression
}
