package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// attempt is what this gateway knows of a run that a worker holds.
type attempt struct {
	run entity.Run
	log *logbuffer.Buffer
	// hiding keeps secrets out of what the worker says. opened: the gateway has opened them for it.
	hiding redact.Hiding
	opened bool
	// gone: it is not the worker's any more. Its end alone is heard, for the receipt.
	gone bool
	// lines is the number of the last line that was taken.
	lines int64
	// deadline is when the attempt runs out of time, by Elapsed; 0 never. It counts from the first delivery here.
	deadline  time.Duration
	delivered bool
	// reason is why it is to stop, as the store said last; saidIn is the poll whose answer says so.
	reason delivery.StopReason
	saidIn int64
	// since is when this gateway met it, by Elapsed.
	since time.Duration
}

func attemptOf(e *entity.Execution) delivery.Attempt {
	return delivery.Attempt{Execution: e.ID, Token: e.Token}
}

// remember keeps an attempt of the session; the caller holds the lock.
func (s *session) remember(g *Gateway, run entity.Run) *attempt {
	key := attemptOf(run.Execution)
	if a := s.attempts[key]; a != nil {
		return a
	}
	now := g.Elapsed()
	a := &attempt{run: run, log: logbuffer.New(run.Execution, g.LogLimit, g.StoreClock), since: now}
	if limit := run.Job.Timeout(); limit > 0 {
		a.deadline = now + limit
	}
	s.attempts[key] = a
	return a
}

// meet keeps an attempt that another gateway knew before; the caller holds the lock.
func (s *session) meet(g *Gateway, m met) {
	if s.attempts[attemptOf(m.run.Execution)] != nil {
		return
	}
	a := s.remember(g, m.run)
	a.hiding, a.lines, a.gone = m.hiding, m.end.Line, m.gone
	a.log.Resume(m.end.Line, m.end.Bytes)
}

// look reads what workers hold: for polls that need it at once, and for all of them every few seconds, because another
// gateway may have claimed late, or somebody has asked a run to stop.
func (g *Gateway) look(ctx context.Context) error {
	began := g.Elapsed()
	g.mu.Lock()
	all := g.lookNow || began-g.lookedAt >= lookInterval
	g.lookNow = false
	g.mu.Unlock()
	type question struct {
		*session
		seq int64
	}
	var asked []question
	g.each(func(s *session) {
		if s.lives() && (all || s.delivery.Unread()) {
			asked = append(asked, question{s, s.delivery.Seq()})
		}
	})
	if all {
		g.lookedAt = began
		g.forget()
	}
	if len(asked) == 0 {
		return nil
	}
	if all || g.isNew() {
		if err := g.stand(ctx); err != nil {
			return err
		}
	}
	ids := make([]string, 0, len(asked))
	for _, q := range asked {
		ids = append(ids, q.id)
	}
	held, err := g.Claims.HeldByAll(ctx, ids)
	if err != nil {
		return fmt.Errorf("read what workers hold: %w", err)
	}
	byWorker := map[life][]*entity.Execution{}
	for _, e := range held {
		l := life{e.NodeID, e.Epoch}
		byWorker[l] = append(byWorker[l], e)
	}
	var errs []error
	for _, q := range asked {
		errs = append(errs, g.hold(ctx, q.session, q.seq, byWorker[life{q.id, q.epoch}], began))
	}
	return errors.Join(errs...)
}

// hold tells a session what its worker holds, by a read that began at that moment, when seq was the newest poll.
func (g *Gateway) hold(
	ctx context.Context,
	s *session,
	seq int64,
	held []*entity.Execution,
	began time.Duration,
) error {
	var unknown []string
	s.mu.Lock()
	for _, e := range held {
		if s.attempts[attemptOf(e)] == nil {
			unknown = append(unknown, e.ID)
		}
	}
	s.mu.Unlock()
	read, err := g.meetRuns(ctx, unknown)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[delivery.Attempt]bool{}
	for _, e := range held {
		now[attemptOf(e)] = true
	}
	for _, m := range read {
		if now[attemptOf(m.run.Execution)] {
			s.meet(g, m)
		}
	}
	var rows []delivery.Run
	for _, e := range held {
		key := attemptOf(e)
		a := s.attempts[key]
		if a == nil {
			continue // it has ended since
		}
		rows = append(rows, delivery.Run{Attempt: key, Kind: a.run.Job.SlotKind()})
	}
	for key, a := range s.attempts {
		if !now[key] && a.since < began {
			delete(s.attempts, key) // it ended elsewhere, or is no more the worker's
		}
	}
	for _, e := range held {
		if a := s.attempts[attemptOf(e)]; a != nil {
			a.reason = a.stop(e, began)
		}
	}
	s.delivery.Held(seq, rows)
	// A request to stop stays, whichever poll is the newest by now.
	s.stopAttempts(func(*attempt) bool { return true })
	s.tellReady()
	return nil
}

// stopAttempts has the answer to the newest poll say which attempts are to stop; the caller holds the lock.
func (s *session) stopAttempts(which func(a *attempt) bool) {
	for key, a := range s.attempts {
		if a.reason != "" && which(a) {
			if s.delivery.Stop(delivery.Stop{Attempt: key, Reason: a.reason}) {
				a.saidIn = s.delivery.Seq()
			}
		}
	}
}

// stop is why an attempt is to stop; empty where it may go on.
func (a *attempt) stop(e *entity.Execution, now time.Duration) delivery.StopReason {
	switch {
	case e.CancelRequested && e.Reason == entity.ReasonReplaced:
		return delivery.StopReplaced
	case e.CancelRequested:
		return delivery.StopCancel
	case a.deadline > 0 && now > a.deadline+repeatTimeout:
		return delivery.StopTimeout
	}
	return ""
}
