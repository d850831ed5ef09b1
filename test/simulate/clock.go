package simulate

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// reading is a quartz: time that passes faster or slower than it should by some parts of a million. Safe for
// concurrent use.
type reading struct {
	mu     sync.Mutex
	at     time.Time
	passed time.Duration
	ppm    int64
}

func newReading() *reading { return &reading{at: time.Now()} }

func (r *reading) elapsed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now(time.Now())
}

func (r *reading) now(at time.Time) time.Duration {
	elapsed := at.Sub(r.at)
	return r.passed + elapsed + time.Duration(int64(elapsed)/1_000_000*r.ppm)
}

// drift sets by how much it is wrong from now on.
func (r *reading) drift(ppm int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := time.Now()
	r.passed, r.at, r.ppm = r.now(at), at, ppm
}

// wall is a quartz whose date can be set. Safe for concurrent use.
type wall struct {
	*reading
	origin time.Time

	mu  sync.Mutex
	off time.Duration
	// former is what off was before it was set last, since that elapsed time.
	former, since time.Duration
}

func newWall() *wall { return &wall{reading: newReading(), origin: time.Now().Round(0).UTC()} }

func (w *wall) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.origin.Add(w.elapsed() + w.off)
}

func (w *wall) step(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.former, w.since = w.off, w.elapsed()
	w.off += by
}

// least is the earliest time that somebody may take it to be who has not asked for a while.
func (w *wall) least() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	elapsed, off := w.elapsed(), w.off
	if elapsed < w.since+margin {
		off = min(off, w.former)
	}
	return w.origin.Add(elapsed + off)
}

// nodeClock is the clock of a node: a wall of its own, and timers that stand still while the node is frozen.
type nodeClock struct {
	*wall

	mu     sync.Mutex
	frozen chan struct{} // nil, or closed when the freeze is over
}

func newNodeClock() *nodeClock { return &nodeClock{wall: newWall()} }

// Now implements clock.Clock.
func (c *nodeClock) Now() time.Time { return c.now() }

// Monotonic implements clock.Clock. It goes on while the node is frozen, as that of Linux does.
func (c *nodeClock) Monotonic() time.Duration { return c.elapsed() }

// Boottime is what leases are measured by, see package boottime.
func (c *nodeClock) Boottime() time.Duration { return c.elapsed() }

func (c *nodeClock) freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen = make(chan struct{})
}

func (c *nodeClock) thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen != nil {
		close(c.frozen)
		c.frozen = nil
	}
}

// thawed is closed when the node can act; nil where it can now.
func (c *nodeClock) thawed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frozen
}

// awaitThaw waits while the node is frozen.
func (c *nodeClock) awaitThaw() {
	for wait := c.thawed(); wait != nil; wait = c.thawed() {
		<-wait
	}
}

// NewTimer implements clock.Clock.
func (c *nodeClock) NewTimer(d time.Duration) clock.Timer {
	t := &nodeTimer{owner: c, c: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

// nodeTimer fires when its time is over and its node is not frozen.
type nodeTimer struct {
	owner *nodeClock
	c     chan time.Time

	mu    sync.Mutex
	timer *time.Timer
	// armed is the number of the Reset that counts; 0: none.
	armed, resets int
}

func (t *nodeTimer) C() <-chan time.Time { return t.c }

func (t *nodeTimer) Stop() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stop()
}

func (t *nodeTimer) stop() bool {
	pending := t.armed != 0
	if t.armed = 0; t.timer != nil {
		t.timer.Stop()
	}
	select {
	case <-t.c:
	default:
	}
	return pending
}

func (t *nodeTimer) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	t.resets++
	mine := t.resets
	t.armed = mine
	// A slow quartz must have counted d: a timer that fires early is set again for nothing.
	t.timer = time.AfterFunc(d+d/1_000_000*maxDrift, func() { t.fire(mine) })
}

func (t *nodeTimer) fire(mine int) {
	t.owner.awaitThaw()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.armed != mine {
		return
	}
	t.armed = 0
	select {
	case t.c <- t.owner.Now():
	default:
	}
}

// maxDrift is by how many parts of a million a clock of the simulation is wrong at most: two of them stay within what
// the engine allows (500).
const maxDrift = 200

// storeClock is the store's clock as the store of a node sees it: it dates rows by the wall of the store, and waits by
// the timers of the node.
type storeClock struct {
	*nodeClock
	store *wall
	gate  *gate
}

// Now implements clock.Clock.
func (c storeClock) Now() time.Time { return c.store.now() }

// StoreTime implements repository.TimeSource: the answer of a store that may be silent.
func (c storeClock) StoreTime(ctx context.Context) (time.Time, error) {
	if err := c.gate.open(ctx); err != nil {
		return time.Time{}, err
	}
	return c.store.now().Truncate(time.Millisecond), nil
}
