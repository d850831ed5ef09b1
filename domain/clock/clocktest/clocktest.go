// Package clocktest holds clocks that tests move by hand.
package clocktest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Shifted is a running clock whose wall time a test can move. Monotonic time and timers go
// on, as on a machine whose date is set.
type Shifted struct {
	*clock.System
	offset atomic.Int64
}

// NewShifted returns a running clock without a shift.
func NewShifted() *Shifted { return &Shifted{System: clock.NewSystem()} }

// Jump moves the wall clock by d, which may be negative.
func (s *Shifted) Jump(d time.Duration) { s.offset.Add(int64(d)) }

// Now implements clock.Clock.
func (s *Shifted) Now() time.Time { return s.System.Now().Add(time.Duration(s.offset.Load())) }

// Manual is a clock that stands still until Advance or Jump is called.
type Manual struct {
	mu     sync.Mutex
	wall   time.Time
	mono   time.Duration
	timers map[*manualTimer]struct{}
}

// NewManual returns a clock that stands at wall.
func NewManual(wall time.Time) *Manual {
	return &Manual{wall: wall.UTC(), timers: map[*manualTimer]struct{}{}}
}

// Now implements clock.Clock.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall
}

// Monotonic implements clock.Clock.
func (m *Manual) Monotonic() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mono
}

// Advance lets d pass on both readings and fires the timers that come due.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = m.wall.Add(d)
	m.mono += d
	for t := range m.timers {
		if t.at <= m.mono {
			delete(m.timers, t)
			t.fire(m.wall)
		}
	}
}

// Jump moves the wall clock alone, as setting the date does.
func (m *Manual) Jump(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wall = m.wall.Add(d)
}

// Timers is how many timers wait for time to pass.
func (m *Manual) Timers() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.timers)
}

// HasTimer reports whether a timer fires when exactly d has passed.
func (m *Manual) HasTimer(d time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for t := range m.timers {
		if t.at == m.mono+d {
			return true
		}
	}
	return false
}

// NewTimer implements clock.Clock.
func (m *Manual) NewTimer(d time.Duration) clock.Timer {
	t := &manualTimer{owner: m, c: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

type manualTimer struct {
	owner *Manual
	at    time.Duration
	c     chan time.Time
}

func (t *manualTimer) C() <-chan time.Time { return t.c }

func (t *manualTimer) fire(now time.Time) {
	select {
	case t.c <- now:
	default:
	}
}

func (t *manualTimer) Stop() bool {
	t.owner.mu.Lock()
	defer t.owner.mu.Unlock()
	_, pending := t.owner.timers[t]
	delete(t.owner.timers, t)
	return pending
}

func (t *manualTimer) Reset(d time.Duration) {
	t.owner.mu.Lock()
	defer t.owner.mu.Unlock()
	select {
	case <-t.c:
	default:
	}
	t.at = t.owner.mono + d
	if d <= 0 {
		delete(t.owner.timers, t)
		t.fire(t.owner.wall)
		return
	}
	t.owner.timers[t] = struct{}{}
}
