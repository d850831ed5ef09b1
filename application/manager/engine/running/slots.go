package running

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// slots bounds the runs of a node, for each kind of slots. A slot is taken before
// a run is committed to this node and given back when the store has taken or
// refused its result (engine rules 14 and 23). Safe for concurrent use.
type slots struct {
	mu    sync.Mutex
	pools [len(entity.Slots{})]pool
	// draining: nothing new starts here any more.
	draining bool
	// fenced: nothing starts until the node has found its right again.
	fenced bool
	// suspended: somebody drains the node, and may think otherwise later.
	suspended bool
	// waitFailed: somebody waited in vain since the last change for the better.
	waitFailed bool
	freed      chan struct{}
}

// pool is the slots of one kind.
type pool struct {
	total int
	free  int
	// backlog: the store holds waiting runs that go before new direct starts.
	backlog bool
	// news counts the times that somebody said so.
	backlogGen int
}

func newSlots(total entity.Slots) *slots {
	s := &slots{freed: make(chan struct{})}
	for kind, n := range total {
		s.pools[kind] = pool{total: n, free: n}
	}
	return s
}

// reserve takes slots for direct starts, up to those wanted of each kind.
func (s *slots) reserve(wanted entity.Slots) (taken entity.Slots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, n := range wanted {
		taken[kind] = min(n, s.open(entity.SlotKind(kind)))
		s.pools[kind].free -= taken[kind]
	}
	return taken
}

// reserveForClaim takes up to n slots for runs that wait in the store.
func (s *slots) reserveForClaim(kind entity.SlotKind, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return 0
	}
	p := &s.pools[kind]
	n = min(n, p.free)
	p.free -= n
	return n
}

// exchange gives a slot back for one of another kind, if that is free.
func (s *slots) exchange(from, to entity.SlotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pools[to].free == 0 {
		return false
	}
	s.pools[to].free--
	s.pools[from].free++
	s.signal()
	return true
}

// closed: nothing may start here; the caller holds the lock.
func (s *slots) closed() bool { return s.draining || s.fenced || s.suspended }

func (s *slots) release(given entity.Slots) {
	if given == (entity.Slots{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, n := range given {
		s.pools[kind].free += n
	}
	s.signal()
}

// signal tells those who wait that something changed for the better; the
// caller holds the lock.
func (s *slots) signal() {
	s.waitFailed = false
	close(s.freed)
	s.freed = make(chan struct{})
}

// maxSlotWait bounds how long fires wait for ends that the store is about to
// take, before they are recorded as WAITING and other nodes may take them.
const maxSlotWait = 2 * time.Second

// waitFree is how many direct starts are possible in general slots; runs of other
// kinds are not waited for. Where all slots are taken, or waiting runs go first,
// it waits up to slotWait for that to end: a batch of
// short runs frees its slots within one completion transaction, and recording
// a fire as WAITING costs a third write and makes its successors wait as well.
// A slow store takes longer for that: while ending says that ends are on their
// way to it, slotWait begins again, up to maxSlotWait in all. When a wait was in
// vain, the next ones do not wait until something changed.
func (s *slots) waitFree(ctx context.Context, c clock.Clock, slotWait time.Duration, ending func() bool) int {
	began := c.Monotonic()
	until := began + slotWait
	for {
		s.mu.Lock()
		n, stuck, changed := s.open(entity.SlotGeneral), s.closed() || s.waitFailed, s.freed
		s.mu.Unlock()
		if n > 0 || stuck || slotWait <= 0 || ctx.Err() != nil {
			return n
		}
		now := c.Monotonic()
		if now >= until && ending() {
			until = min(until+slotWait, began+maxSlotWait)
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
func (s *slots) open(kind entity.SlotKind) int {
	if s.pools[kind].backlog || s.closed() {
		return 0
	}
	return s.pools[kind].free
}

func (s *slots) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waitFailed = s.open(entity.SlotGeneral) == 0
}

// setBacklog notes that waiting runs of a kind go first.
func (s *slots) setBacklog(kind entity.SlotKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools[kind].backlog = true
	s.pools[kind].backlogGen++
}

// backlogGeneration is what clearBacklog wants to know.
func (s *slots) backlogGeneration(kind entity.SlotKind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pools[kind].backlogGen
}

// clearBacklog lets direct starts of a kind go on, unless there was news of
// waiting runs since the store was asked and had none.
func (s *slots) clearBacklog(kind entity.SlotKind, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := &s.pools[kind]; p.backlog && p.backlogGen == asked {
		p.backlog = false
		s.signal()
	}
}

// wantsClaim reports whether the store is to be asked for runs of a kind: there is a
// slot for them, or direct starts take all and nobody knows of runs that go
// before these.
func (s *slots) wantsClaim(kind entity.SlotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pools[kind]
	return p.total > 0 && (p.free > 0 || !p.backlog)
}

// slotFreed is asked when nothing more could be claimed. It returns a channel that
// is closed at the next change for the better, if runs are known to wait for a
// slot of a kind of which none is free; one that is closed already if such a slot
// came free meanwhile; and nil when nothing is known to wait.
func (s *slots) slotFreed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return nil
	}
	waited := false
	for i := range s.pools {
		p := &s.pools[i]
		if p.backlog && p.free > 0 {
			now := make(chan struct{})
			close(now)
			return now
		}
		waited = waited || p.backlog && p.total > 0
	}
	if waited {
		return s.freed
	}
	return nil
}

func (s *slots) fence(fenced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fenced = fenced
	if !fenced {
		s.signal()
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
	s.signal()
	return true
}

func (s *slots) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
}

// hasSpare: nobody waits for a slot of the kind, nor will soon.
func (s *slots) hasSpare(kind entity.SlotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(kind) >= s.pools[kind].total/2
}

// load is how many slots of a kind are taken, and how many there are for others
// to know of: none where nothing will start any more.
func (s *slots) load(kind entity.SlotKind) (used, capacity int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pools[kind]
	if !s.draining {
		capacity = p.total
	}
	return p.total - p.free, capacity
}
