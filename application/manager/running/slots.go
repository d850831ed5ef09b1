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
	// news counts the times that somebody said so.
	news int
	// draining: nothing new starts here any more.
	draining bool
	// fenced: nothing starts until the node has found its right again.
	fenced bool
	// suspended: somebody drains the node, and may think otherwise later.
	suspended bool
	// hopeless: somebody waited in vain since the last change for the better.
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
	if s.backlog || s.closed() {
		return 0
	}
	return s.take(n)
}

// reserveForClaim takes up to n slots for runs that wait in the store.
func (s *slots) reserveForClaim(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return 0
	}
	return s.take(n)
}

// closed: nothing may start here; the caller holds the lock.
func (s *slots) closed() bool { return s.draining || s.fenced || s.suspended }

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
	s.announce()
}

// announce tells those who wait that something changed for the better; the
// caller holds the lock.
func (s *slots) announce() {
	s.hopeless = false
	close(s.freed)
	s.freed = make(chan struct{})
}

// maxPatience bounds how long fires wait for ends that the store is about to
// take, before they are recorded as WAITING and other nodes may take them.
const maxPatience = 2 * time.Second

// room is how many direct starts are possible. Where all slots are taken, or
// waiting runs go first, it waits up to patience for that to end: a batch of
// short runs frees its slots within one completion transaction, and recording
// a fire as WAITING costs a third write and makes its successors wait as well.
// A slow store takes longer for that: while ending says that ends are on their
// way to it, patience begins again, up to maxPatience in all. When a wait was in
// vain, the next ones do not wait until something changed.
func (s *slots) room(ctx context.Context, c clock.Clock, patience time.Duration, ending func() bool) int {
	began := c.Monotonic()
	until := began + patience
	for {
		s.mu.Lock()
		n, stuck, changed := s.open(), s.closed() || s.hopeless, s.freed
		s.mu.Unlock()
		if n > 0 || stuck || patience <= 0 || ctx.Err() != nil {
			return n
		}
		now := c.Monotonic()
		if now >= until && ending() {
			until = min(until+patience, began+maxPatience)
		}
		if now >= until {
			s.giveUp()
			return n
		}
		timer := c.NewTimer(until - now)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// open is the number of slots for direct starts; the caller holds the lock.
func (s *slots) open() int {
	if s.backlog || s.closed() {
		return 0
	}
	return s.free
}

func (s *slots) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hopeless = s.open() == 0
}

// setBacklog notes that waiting runs go first.
func (s *slots) setBacklog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog = true
	s.news++
}

// newsOfBacklog is what clearBacklog wants to know.
func (s *slots) newsOfBacklog() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// clearBacklog lets direct starts go on, unless there was news of waiting runs
// since the store was asked and had none.
func (s *slots) clearBacklog(asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backlog && s.news == asked {
		s.backlog = false
		s.announce()
	}
}

func (s *slots) fence(fenced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fenced = fenced
	if !fenced {
		s.announce()
	}
}

func (s *slots) isFenced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fenced
}

func (s *slots) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// suspend reports whether that is a change.
func (s *slots) suspend(suspended bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended == suspended {
		return false
	}
	s.suspended = suspended
	s.announce()
	return true
}

func (s *slots) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// plenty: nobody waits for a slot, nor will soon.
func (s *slots) plenty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open() >= s.total/2
}

// used is how many slots are taken.
func (s *slots) used() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total - s.free
}

// offered is how many slots there are in all, for others to know: none where
// nothing will start any more.
func (s *slots) offered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return 0
	}
	return s.total
}

// full returns nil while a slot is free, and otherwise a channel that is
// closed at the next release or when the backlog is gone. Both are one
// question: between two, the release that somebody waits for might happen.
func (s *slots) full() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free > 0 {
		return nil
	}
	return s.freed
}
