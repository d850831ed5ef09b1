package membership

import (
	"math"
	"sync/atomic"
	"time"
)

// Lease is a node's right to work. Callers check it before each effect: a fire, a
// claim, a start, a request, a command, the storing of results. A new lease grants
// nothing until the first beat. Safe for concurrent use.
type Lease struct {
	elapsed func() time.Duration
	// until is the end of the lease on the clock of elapsed, in nanoseconds.
	until   atomic.Int64
	stopped atomic.Bool
	// failed: the latest beat did not reach the store.
	failed atomic.Bool
}

// forever is the end of a lease that no other node can take over.
const forever = time.Duration(math.MaxInt64)

// NewLease returns a lease that grants nothing yet. elapsed is a monotonic clock that
// continues while the machine sleeps.
func NewLease(elapsed func() time.Duration) *Lease { return &Lease{elapsed: elapsed} }

// Holds reports whether the node may work at this moment.
func (l *Lease) Holds() bool {
	if l.stopped.Load() {
		return false
	}
	until := time.Duration(l.until.Load())
	return until == forever || l.elapsed() < until
}

// Beating reports whether the latest beat of the node reached the store.
func (l *Lease) Beating() bool { return !l.failed.Load() }

func (l *Lease) ends() time.Duration { return time.Duration(l.until.Load()) }

func (l *Lease) lasts(until time.Duration) { l.until.Store(int64(until)) }
