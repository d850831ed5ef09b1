package slots

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// parkedShare is how many attempts may wait without a slot, for each slot of the kind.
// They are this node's already: they cost memory, and its death loses them.
const parkedShare = 8

// Parked is an attempt that waits without its slot. One goroutine uses it.
type Parked struct {
	set     *Set
	kind    entity.SlotKind
	share   string
	closing <-chan struct{}
	// resumed: it has a slot again.
	resumed bool
}

// Park gives one slot of a kind back, until Resume. share names what the attempt waits
// for: one share takes at most half of the room that the others leave. It returns nil
// where there is no room, or nothing may start.
func (s *Set) Park(kind entity.SlotKind, share string) *Parked {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pools[kind]
	mine := p.shares[share]
	if s.closed() || mine >= (parkedShare*p.total-(p.parked-mine)+1)/2 {
		return nil
	}
	p.parked++
	p.shares[share]++
	p.free++
	s.signal()
	return &Parked{set: s, kind: kind, share: share, closing: s.closing}
}

// Closing implements entity.Parked.
func (p *Parked) Closing() <-chan struct{} { return p.closing }

// Resume implements entity.Parked.
func (p *Parked) Resume(ctx context.Context) error {
	s := p.set
	s.mu.Lock()
	defer s.mu.Unlock()
	pool := &s.pools[p.kind]
	pool.resuming++
	defer func() { pool.resuming-- }()
	for pool.free <= 0 {
		freed := s.freed
		s.mu.Unlock()
		var err error
		select {
		case <-freed:
		case <-p.closing:
			err = entity.ErrParkingClosed
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		s.mu.Lock()
		if err != nil {
			s.signal() // others may have the slot that it wanted
			return err
		}
	}
	pool.free--
	p.resumed = true
	p.left(pool)
	return nil
}

// Leave ends the waiting of an attempt that ends without a slot. It reports whether it
// has none; nil has one.
func (p *Parked) Leave() bool {
	if p == nil || p.resumed {
		return false
	}
	p.set.mu.Lock()
	defer p.set.mu.Unlock()
	p.left(&p.set.pools[p.kind])
	return true
}

func (p *Parked) left(pool *pool) {
	pool.parked--
	if pool.shares[p.share]--; pool.shares[p.share] == 0 {
		delete(pool.shares, p.share)
	}
}

// close tells parked attempts that nothing starts any more, or lets others park; the caller holds the lock.
func (s *Set) close() {
	open := true
	select {
	case <-s.closing:
		open = false
	default:
	}
	switch closed := s.draining || s.suspended; {
	case closed && open:
		close(s.closing)
	case !closed && !open:
		s.closing = make(chan struct{})
	}
}
