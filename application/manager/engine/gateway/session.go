package gateway

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// session is one life of a worker, as long as it calls this gateway.
type session struct {
	id    string
	epoch int64

	mu       sync.Mutex
	delivery delivery.Session
	// row is the worker's; known says that it was read. over is why the life has ended, once a look has found that.
	row   worker.Worker
	known bool
	over  error
	// attempts are those that this gateway has delivered, or has read as held.
	attempts map[delivery.Attempt]*attempt
	// poll is what the newest call said beside what the delivery needs.
	running  entity.Slots
	stopping bool
	seen     time.Duration
	// changed is closed, and made anew, when something has changed that a parked poll may wait for.
	changed chan struct{}
}

func newSession(id string, epoch int64, now time.Duration) *session {
	return &session{
		id: id, epoch: epoch, delivery: delivery.NewSession(epoch), attempts: map[delivery.Attempt]*attempt{}, seen: now,
		changed: make(chan struct{}),
	}
}

// tell wakes parked polls; the caller holds the lock.
func (s *session) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// tellReady wakes parked polls if there is an answer for them; the caller holds the lock. A poll finds everything else
// when its wait is over: thousands that wake for nothing take a good part of a core.
func (s *session) tellReady() {
	if s.delivery.Ready() {
		s.tell()
	}
}

// lives reports whether the worker's row was read, and its life is not over; the caller holds the lock.
func (s *session) lives() bool { return s.known && s.over == nil }

// group is that of the worker. It is in its id, since it never changes.
func (s *session) group() string { return worker.GroupOf(s.id) }

// offers reports whether the worker is fit for a class.
func (s *session) offers(c entity.NodeClass) bool {
	return routing.MissingWorker(c, &s.row) == entity.WaitNone
}

// life names a session. A call may claim any epoch: those that the store has not confirmed stand beside the true one,
// and end nothing.
type life struct {
	id    string
	epoch int64
}

// session is that of a life. It is nil for a life that this gateway knows to be a former one.
func (g *Gateway) session(id string, epoch int64) *session {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[life{id, epoch}]
	if s == nil && epoch >= g.epochs[id] {
		s = newSession(id, epoch, g.Elapsed())
		g.sessions[life{id, epoch}], g.all = s, nil
	}
	return s
}

// drop forgets a session; the caller holds the lock.
func (g *Gateway) drop(l life) {
	delete(g.sessions, l)
	g.all = nil
}

// each calls do with every session, which it locks meanwhile.
func (g *Gateway) each(do func(s *session)) {
	for _, s := range g.everyone() {
		s.mu.Lock()
		do(s)
		s.mu.Unlock()
	}
}

// everyone are the sessions; nobody changes the list.
func (g *Gateway) everyone() []*session {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = slices.Collect(maps.Values(g.sessions))
	}
	return g.all
}

// confirm notes which of the lives that were met are those of their workers' rows; all others of these workers are
// over.
func (g *Gateway) confirm(met []*session) {
	var over []*session
	g.mu.Lock()
	for _, s := range met {
		if s.known { // only the turn that meets it writes that
			g.epochs[s.id] = s.epoch
		} else {
			over = append(over, s)
			g.drop(life{s.id, s.epoch})
		}
	}
	for key, s := range g.sessions {
		if key.epoch < g.epochs[key.id] {
			over = append(over, s)
			g.drop(key)
		}
	}
	g.mu.Unlock()
	for _, s := range over {
		s.end(errEpochLost())
	}
}

// end tells parked polls that the life is over.
func (s *session) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = why
		s.tell()
	}
}

// Left ends what is parked of a life that has left, so that nothing more is claimed for it here.
func (g *Gateway) Left(id string, epoch int64) {
	g.mu.Lock()
	s := g.sessions[life{id, epoch}]
	g.mu.Unlock()
	if s != nil {
		s.end(errEpochLost())
	}
}

// forget drops sessions that have not called for long: their workers have gone elsewhere.
func (g *Gateway) forget() {
	now := g.Elapsed()
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, s := range g.sessions {
		s.mu.Lock()
		gone := now-s.seen > forgetAfter
		s.mu.Unlock()
		if gone {
			g.drop(key)
		}
		if gone && g.epochs[key.id] == key.epoch {
			delete(g.epochs, key.id)
		}
	}
}
