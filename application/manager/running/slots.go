package running

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// slots bounds the runs of a node. A slot is taken before a run is committed
// to this node and given back when the store has taken or refused its result
// (engine rules 14 and 23). Safe for concurrent use.
type slots struct {
	mu    sync.Mutex
	total int
	free  int
	// backlog: the store holds waiting runs that go before new direct starts.
	backlog bool
	// draining: nothing new starts here any more.
	draining bool
	// hopeless: somebody waited in vain since the last slot was freed.
	hopeless bool
	freed    chan struct{}
}

func newSlots(total int) *slots {
	return &slots{total: total, free: total, freed: make(chan struct{})}
}

// reserve takes up to n slots for direct starts.
func (s *slots) reserve(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backlog || s.draining {
		return 0
	}
	return s.take(n)
}

// reserveForClaim takes up to n slots for runs that wait in the store.
func (s *slots) reserveForClaim(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return 0
	}
	return s.take(n)
}

func (s *slots) take(n int) int {
	n = min(n, s.free)
	s.free -= n
	return n
}

func (s *slots) release(n int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += n
	s.hopeless = false
	close(s.freed)
	s.freed = make(chan struct{})
}

// room is how many direct starts are possible. When all slots are taken it
// waits up to patience for one, unless the last such wait was in vain.
func (s *slots) room(ctx context.Context, c clock.Clock, patience time.Duration) int {
	s.mu.Lock()
	if s.backlog || s.draining || s.free > 0 || s.hopeless {
		n := s.free
		if s.backlog || s.draining {
			n = 0
		}
		s.mu.Unlock()
		return n
	}
	freed := s.freed
	s.mu.Unlock()
	timer := c.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-freed:
	case <-timer.C():
		s.mu.Lock()
		s.hopeless = s.free == 0
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backlog || s.draining {
		return 0
	}
	return s.free
}

func (s *slots) setBacklog(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog = on
}

func (s *slots) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// used is how many slots are taken.
func (s *slots) used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total - s.free
}

// changed is closed at the next release.
func (s *slots) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freed
}
