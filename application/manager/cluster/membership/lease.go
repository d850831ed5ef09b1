package membership

import (
	"math"
	"sync/atomic"
	"time"
)

// Lease is a node's right to work. It is asked before each new effect: a fire, a
// claim, a start, a request that is sent, a command, the storing of ends. A new
// one holds nothing until the first beat. Safe for concurrent use.
type Lease struct {
	elapsed func() time.Duration
	// until is when it ends, by elapsed, in nanoseconds.
	until   atomic.Int64
	stopped atomic.Bool
}

// forever is the end of a lease that nobody can take away.
const forever = time.Duration(math.MaxInt64)

// NewLease returns a lease that holds nothing yet. elapsed is a monotonic clock
// that goes on while the machine sleeps.
func NewLease(elapsed func() time.Duration) *Lease { return &Lease{elapsed: elapsed} }

// Holds reports whether the node may work at this moment.
func (l *Lease) Holds() bool {
	if l.stopped.Load() {
		return false
	}
	until := time.Duration(l.until.Load())
	return until == forever || l.elapsed() < until
}

func (l *Lease) ends() time.Duration { return time.Duration(l.until.Load()) }

func (l *Lease) lasts(until time.Duration) { l.until.Store(int64(until)) }
