package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// attempt is what this gateway knows of a run that a worker holds.
type attempt struct {
	run entity.Run
	log *logbuffer.Buffer
	// hide keeps secrets out of what the worker says; nil where the attempt has none.
	hide func(text string) string
	// lines is the number of the last line that was taken.
	lines int64
	// deadline is when the attempt runs out of time, by Elapsed; 0 never. It counts from the delivery.
	deadline time.Duration
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
	a := &attempt{run: run, log: logbuffer.New(run.Execution, g.LogLimit, g.StoreClock), since: g.Elapsed()}
	s.attempts[key] = a
	return a
}

// runs reads executions whole, with their jobs. Of a deleted job no more than its id is left.
func (g *Gateway) runs(ctx context.Context, ids []string) ([]entity.Run, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	execs, err := g.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read runs of workers: %w", err)
	}
	jobs, err := g.Jobs.Load(ctx, entity.JobIDsOf(execs))
	if err != nil {
		return nil, fmt.Errorf("load the jobs of workers' runs: %w", err)
	}
	out := make([]entity.Run, len(execs))
	for i, e := range execs {
		out[i] = entity.Run{Job: jobs[e.JobID], Execution: e}
		if out[i].Job == nil {
			out[i].Job = &entity.Job{ID: e.JobID}
		}
	}
	return out, nil
}

// kindOf is the kind of slot that a run takes on a worker.
func kindOf(run entity.Run) delivery.Kind {
	if run.Job.SlotKind() == entity.SlotCommand {
		return delivery.Command
	}
	return delivery.General
}

// look reads what workers hold: for polls that need it at once, and for all of them every few seconds, because another
// gateway may have claimed late, or somebody has asked a run to stop.
func (g *Gateway) look(ctx context.Context) error {
	began := g.Elapsed()
	all := began-g.lookedAt >= lookInterval
	asked := map[string]*session{}
	seqs := map[string]int64{}
	for _, s := range g.all() {
		s.mu.Lock()
		if s.known && s.over == nil && (all || s.delivery.Unread()) {
			asked[s.id], seqs[s.id] = s, s.delivery.Seq()
		}
		s.mu.Unlock()
	}
	if all {
		g.lookedAt = began
		g.forget()
	}
	if len(asked) == 0 {
		return nil
	}
	ids := make([]string, 0, len(asked))
	for id := range asked {
		ids = append(ids, id)
	}
	held, err := g.Claims.HeldByAll(ctx, ids)
	if err != nil {
		return fmt.Errorf("read what workers hold: %w", err)
	}
	byWorker := map[string][]*entity.Execution{}
	for _, e := range held {
		if s := asked[e.NodeID]; s != nil && s.epoch == e.Epoch {
			byWorker[e.NodeID] = append(byWorker[e.NodeID], e)
		}
	}
	var errs []error
	for id, s := range asked {
		errs = append(errs, g.hold(ctx, s, seqs[id], byWorker[id], began))
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
	read, err := g.runs(ctx, unknown)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := map[delivery.Attempt]bool{}
	for _, e := range held {
		now[attemptOf(e)] = true
	}
	for _, run := range read {
		if now[attemptOf(run.Execution)] {
			s.remember(g, run)
		}
	}
	var rows []delivery.Run
	for _, e := range held {
		key := attemptOf(e)
		a := s.attempts[key]
		if a == nil {
			continue // it has ended since
		}
		rows = append(rows, delivery.Run{Attempt: key, Kind: kindOf(a.run)})
	}
	for key, a := range s.attempts {
		if !now[key] && a.since < began {
			delete(s.attempts, key) // it ended elsewhere, or is no more the worker's
		}
	}
	if s.delivery.Held(seq, rows) {
		for _, e := range held {
			if e.CancelRequested {
				s.delivery.Stop(delivery.Stop{Attempt: attemptOf(e), Reason: stopReason(e)})
			}
		}
		s.tell()
	}
	return nil
}

func stopReason(e *entity.Execution) delivery.StopReason {
	if e.Reason == entity.ReasonReplaced {
		return delivery.StopReplaced
	}
	return delivery.StopCancel
}
