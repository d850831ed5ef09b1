package membership

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

// Lease is a node's right to work. Callers check it before each effect: a fire, a
// claim, a start, a request, a command, the storing of results. A new lease grants
// nothing until the first beat. Safe for concurrent use.
type Lease struct {
	elapsed func() time.Duration
	// until is the end of the lease on the clock of elapsed, in nanoseconds.
	until   atomic.Int64
	stopped atomic.Bool
	// since is the moment of the first beat of an unbroken series of good ones, latest that of the last; since is none
	// where the latest beat did not reach the store. One beat at a time notes them.
	since, latest atomic.Int64
}

// none is no moment.
const none = int64(-1)

// forever is the end of a lease that no other node can take over.
const forever = time.Duration(math.MaxInt64)

// NewLease returns a lease that grants nothing yet. elapsed is a monotonic clock that
// continues while the machine sleeps.
func NewLease(elapsed func() time.Duration) *Lease { return &Lease{elapsed: elapsed} }

// note records the answer to a beat.
func (l *Lease) note(good bool) {
	now := int64(l.elapsed())
	switch since := l.since.Load(); {
	case !good:
		l.since.Store(none)
		return
	case since == none, l.latest.Load() == 0, now-l.latest.Load() > int64(liveness.LongestGap):
		l.since.Store(now)
	}
	l.latest.Store(now)
}

// Beaten is for how long the beats of this node have reached the store without a gap; 0 where the latest one did not.
func (l *Lease) Beaten() time.Duration {
	now, since, latest := int64(l.elapsed()), l.since.Load(), l.latest.Load()
	if since == none || latest == 0 || now-latest > int64(liveness.LongestGap) {
		return 0
	}
	return time.Duration(now - since)
}

// Holds reports whether the node may work at this moment.
func (l *Lease) Holds() bool {
	if l.stopped.Load() {
		return false
	}
	until := time.Duration(l.until.Load())
	return until == forever || l.elapsed() < until
}

// Beating reports whether the latest beat of the node reached the store.
func (l *Lease) Beating() bool { return l.since.Load() != none }

func (l *Lease) ends() time.Duration { return time.Duration(l.until.Load()) }

func (l *Lease) lasts(until time.Duration) { l.until.Store(int64(until)) }
