// Package slots bounds the runs of a node (engine rules 14, 15 and 23, see
// docs/rules.md).
package slots

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Set bounds the runs of a node, for each kind of slots. A slot is taken before
// a run is committed to this node and given back when the store has taken or
// refused its result (engine rules 14 and 23). Safe for concurrent use.
type Set struct {
	mu    sync.Mutex
	pools [len(entity.Slots{})]pool
	// draining: nothing new starts here any more.
	draining bool
	// fenced: nothing starts until the node has found its right again.
	fenced bool
	// suspended: somebody drains the node, and may think otherwise later.
	suspended bool
	// waitFailed: a waiter timed out; others do not wait until a slot is freed.
	waitFailed bool
	freed      chan struct{}
	// closing is closed while nothing may start because the node drains.
	closing chan struct{}
}

// pool is the slots of one kind.
type pool struct {
	total int
	free  int
	// backlog: the store holds waiting runs that go before new direct starts.
	backlog bool
	// backlogGen counts how often somebody said so.
	backlogGen int
	// parked counts the attempts that wait without a slot, in all and by what they wait for. resuming are attempts that
	// want a slot again; they go before all others.
	parked   int
	shares   map[string]int
	resuming int
}

// spare is how many slots no run has asked for.
func (p *pool) spare() int { return max(p.free-p.resuming, 0) }

// New returns the slots of a node; all of them are free.
func New(total entity.Slots) *Set {
	s := &Set{freed: make(chan struct{}), closing: make(chan struct{})}
	for kind, n := range total {
		s.pools[kind] = pool{total: n, free: n, shares: map[string]int{}}
	}
	return s
}

// Reserve takes slots for direct starts, up to those wanted of each kind.
func (s *Set) Reserve(wanted entity.Slots) (taken entity.Slots) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, n := range wanted {
		taken[kind] = min(n, s.open(entity.SlotKind(kind)))
		s.pools[kind].free -= taken[kind]
	}
	return taken
}

// ReserveForClaim takes up to n slots for runs that wait in the store.
func (s *Set) ReserveForClaim(kind entity.SlotKind, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return 0
	}
	p := &s.pools[kind]
	n = min(n, p.spare())
	p.free -= n
	return n
}

// Exchange gives a slot back for one of another kind, if that is free.
func (s *Set) Exchange(from, to entity.SlotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pools[to].spare() == 0 {
		return false
	}
	s.pools[to].free--
	s.pools[from].free++
	s.signal()
	return true
}

// closed reports that nothing may start here; the caller holds the lock.
func (s *Set) closed() bool { return s.draining || s.fenced || s.suspended }

// Release gives slots back.
func (s *Set) Release(given entity.Slots) {
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
func (s *Set) signal() {
	s.waitFailed = false
	close(s.freed)
	s.freed = make(chan struct{})
}

// maxSlotWait bounds how long fires wait for ends that the store is about to
// take, before they are recorded as WAITING and other nodes may take them.
const maxSlotWait = 2 * time.Second

// WaitFree is how many direct starts are possible in general slots; runs of other kinds
// are not waited for. Where all slots are taken, or waiting runs go first, it waits up
// to slotWait for that to end: a batch of short runs frees its slots within one
// completion transaction, and recording a fire as WAITING costs a third write and makes
// its successors wait as well. A slow store takes longer for that: while ending says
// that ends are on their way to it, slotWait begins again, up to maxSlotWait in all.
// When a wait was in vain, the next ones do not wait until something changed.
func (s *Set) WaitFree(ctx context.Context, c clock.Clock, slotWait time.Duration, ending func() bool) int {
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
func (s *Set) open(kind entity.SlotKind) int {
	if s.pools[kind].backlog || s.closed() {
		return 0
	}
	return s.pools[kind].spare()
}

func (s *Set) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waitFailed = s.open(entity.SlotGeneral) == 0
}

// SetBacklog notes that waiting runs of a kind go first.
func (s *Set) SetBacklog(kind entity.SlotKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools[kind].backlog = true
	s.pools[kind].backlogGen++
}

// BacklogGeneration is what clearBacklog wants to know.
func (s *Set) BacklogGeneration(kind entity.SlotKind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pools[kind].backlogGen
}

// ClearBacklog lets direct starts of a kind go on, unless there was news of
// waiting runs since the store was asked and had none.
func (s *Set) ClearBacklog(kind entity.SlotKind, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := &s.pools[kind]; p.backlog && p.backlogGen == asked {
		p.backlog = false
		s.signal()
	}
}

// WantsClaim reports whether the store is to be asked for runs of a kind: there is a
// slot for them, or direct starts take all and nobody knows of runs that go
// before these.
func (s *Set) WantsClaim(kind entity.SlotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pools[kind]
	return p.total > 0 && (p.spare() > 0 || !p.backlog)
}

// Freed is asked when nothing more could be claimed. It returns a channel that
// is closed at the next change for the better, if runs are known to wait for a
// slot of a kind of which none is free; one that is closed already if such a slot
// came free meanwhile; and nil when nothing is known to wait.
func (s *Set) Freed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed() {
		return nil
	}
	waited := false
	for i := range s.pools {
		p := &s.pools[i]
		if p.backlog && p.spare() > 0 {
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

// Fence lets nothing start until it is called with false.
func (s *Set) Fence(fenced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fenced = fenced
	if !fenced {
		s.signal()
	}
}

// IsFenced reports whether the node is fenced.
func (s *Set) IsFenced() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fenced
}

// IsDraining reports whether the node is on its way down.
func (s *Set) IsDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draining
}

// Suspend lets nothing start, or lets runs start again. It reports whether that is a
// change.
func (s *Set) Suspend(suspended bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended == suspended {
		return false
	}
	s.suspended = suspended
	s.close()
	s.signal()
	return true
}

// Drain lets nothing start any more.
func (s *Set) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	s.close()
}

// HasSpare reports whether nobody waits for a slot of the kind, nor will soon.
func (s *Set) HasSpare(kind entity.SlotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(kind) >= s.pools[kind].total/2
}

// Load is how many slots of a kind are taken, and how many there are for others
// to know of: none where nothing will start any more.
func (s *Set) Load(kind entity.SlotKind) (used, capacity int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pools[kind]
	if !s.draining {
		capacity = p.total
	}
	return p.total - p.free, capacity
}
