package gateway

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Call is a poll of a worker.
type Call struct {
	WorkerID string
	delivery.Poll
	// Wait is how long it may be parked.
	Wait time.Duration
	// Size is how many bytes a run takes in the answer, Most how many all of them may take. There is always one; the
	// worker gets the others with its next polls, because it does not list them.
	Size func(d Delivery) int
	Most int
}

// Answer is what it gets: the runs with all that their handlers need.
type Answer struct {
	delivery.Answer
	Deliveries []Delivery
	// Drain: an operator keeps new runs away from the worker.
	Drain bool
	// Beat is how often the worker is to call.
	Beat time.Duration
	// RetryAfter: this node stops. The worker is to wait so long, and then call another one.
	RetryAfter time.Duration
}

func errEpochLost() error {
	return apperror.Conflict("epoch_lost", "this life of the worker is over: stop what runs, and register anew")
}

// errAway is what a worker gets while this gateway cannot ask the store: it goes to the next one.
func errAway() error {
	return apperror.New(apperror.KindUnavailable, "store_away", "this node cannot reach its store now; call the next one")
}

// Poll parks a poll until there is something for its worker, its wait is over, or a newer poll comes. It returns
// apperror.KindConflict (epoch_lost) when the life is over, and apperror.KindUnavailable when the store did not say in
// time what the worker holds.
func (g *Gateway) Poll(ctx context.Context, c Call) (Answer, error) {
	s := g.session(c.WorkerID, c.Epoch)
	if s == nil {
		return Answer{}, errEpochLost()
	}
	now := g.Elapsed()
	s.mu.Lock()
	s.seen, s.running, s.stopping = now, s.count(c.Running), c.Stopping
	arrival := s.delivery.Poll(c.Poll, now)
	if arrival == delivery.ArrivalNew {
		// The worker hears now what it did not hear before; the rest comes with the next look.
		s.stopAttempts(func(a *attempt) bool { return a.saidIn == 0 || a.saidIn > c.Ack })
		s.tell()
	}
	unread := !s.known || s.delivery.Unread()
	s.mu.Unlock()
	switch arrival {
	case delivery.ArrivalForeign:
		return Answer{}, errEpochLost()
	case delivery.ArrivalOutdated:
		return Answer{Answer: delivery.Answer{Seq: c.Seq}}, nil
	}
	if unread || g.hasWaiting(s.group()) {
		g.Wake()
	}
	timer := g.Clock.NewTimer(c.Wait)
	defer timer.Stop()
	for over := false; ; {
		leaving := g.isLeaving()
		answer, ok, changed, err := g.answer(s, c.Seq, over, leaving)
		if err != nil {
			s.gone(c.Seq)
			return Answer{}, err
		}
		if ok {
			out := g.deliver(ctx, s, c, answer)
			if leaving {
				out.RetryAfter = time.Duration(g.Random() * float64(spread))
			}
			return out, nil
		}
		select {
		case <-ctx.Done():
			s.gone(c.Seq)
			return Answer{}, ctx.Err()
		case <-changed:
		case <-timer.C():
			over = true
		}
	}
}

// gone notes that a call of a poll got no answer: nothing is claimed for it until the worker calls again.
func (s *session) gone(seq int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivery.Gone(seq)
}

// count counts attempts by the kind of slot; the caller holds the lock. One that is not known here takes a general
// slot.
func (s *session) count(running []delivery.Attempt) (n entity.Slots) {
	for _, key := range running {
		kind := entity.SlotGeneral
		if a := s.attempts[key]; a != nil {
			kind = a.run.Job.SlotKind()
		}
		n[kind]++
	}
	return n
}

// answer is the answer to the poll, if it is to be given now. over: its wait is; leaving: the node stops.
func (g *Gateway) answer(s *session, seq int64, over, leaving bool) (
	a delivery.Answer, ok bool, changed <-chan struct{}, err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over != nil:
		return a, false, nil, s.over
	case s.delivery.Seq() != seq: // a newer poll has come
		return delivery.Answer{Seq: seq}, true, nil, nil
	case s.delivery.Ready(), leaving:
		return s.delivery.Answer(), true, nil, nil
	case !over:
		return a, false, s.changed, nil
	}
	if until := g.HoldUntil(); until > 0 {
		// The store is away: no beat of this poll is stored, and nobody was asked what the worker holds.
		if a, ok = s.delivery.Hold(g.Elapsed(), until); ok {
			return a, true, nil, nil
		}
		return a, false, nil, errAway()
	}
	if s.delivery.Unread() {
		return a, false, nil, errAway()
	}
	return s.delivery.Answer(), true, nil, nil
}
