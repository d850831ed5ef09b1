package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// work is one turn: it reads the rows of workers that are new here, what they hold, and claims for those with free
// slots. Each is one statement for all of them, so that no worker's call costs the store a read of its own.
func (g *Gateway) work(ctx context.Context) error {
	if err := g.meet(ctx); err != nil {
		return err
	}
	if err := g.look(ctx); err != nil {
		return err
	}
	if !g.Lease.Holds() || g.isLeaving() {
		return nil
	}
	return g.claim(ctx)
}

// meet reads the rows of workers that call this gateway for the first time.
func (g *Gateway) meet(ctx context.Context) error {
	var asked []*session
	ids := map[string]bool{}
	g.each(func(s *session) {
		if !s.known && s.over == nil {
			asked = append(asked, s)
			ids[s.id] = true
		}
	})
	if len(ids) == 0 {
		return nil
	}
	rows, err := g.Workers.WorkersByID(ctx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return fmt.Errorf("read workers: %w", err)
	}
	found := map[string]worker.Worker{}
	for _, w := range rows {
		found[w.ID] = w
	}
	for _, s := range asked {
		if w, ok := found[s.id]; ok && w.Epoch == s.epoch && w.Status != worker.Down {
			s.mu.Lock()
			s.row, s.known = w, true
			s.mu.Unlock()
		}
	}
	g.confirm(asked)
	return nil
}

// beat stores the beats of a second by one statement, and tells the sessions what was stored.
func (g *Gateway) beat(ctx context.Context) error {
	if !g.Lease.Holds() {
		return nil
	}
	now, timing := g.Elapsed(), g.Timing()
	asked := map[string]*session{}
	seqs := map[string]int64{}
	var beats []repository.WorkerBeat
	g.each(func(s *session) {
		if seq, ok := s.delivery.Beat(now); ok && s.lives() {
			// The lease of a life never gets shorter: its worker may count on a longer one.
			s.row.Beat, s.row.Lease = timing.Beat, max(s.row.Lease, timing.Lease)
			asked[s.id], seqs[s.id] = s, seq
			beats = append(beats, repository.WorkerBeat{
				ID: s.id, Epoch: s.epoch, Running: s.running, Stopping: s.stopping, Beat: s.row.Beat, Lease: s.row.Lease,
			})
		}
	})
	if len(beats) == 0 {
		return nil
	}
	refused, err := g.Workers.BeatWorkers(ctx, g.NodeID, beats)
	if err != nil {
		return fmt.Errorf("store the beats of %d workers: %w", len(beats), err)
	}
	for _, id := range refused {
		asked[id].end(errEpochLost())
		delete(asked, id)
	}
	for id, s := range asked {
		s.mu.Lock()
		s.delivery.Stored(seqs[id], s.row.Lease)
		s.mu.Unlock()
	}
	return nil
}

// claim takes runs for the workers with free slots, a group of workers at a time.
func (g *Gateway) claim(ctx context.Context) error {
	groups := map[string]bool{}
	for _, s := range g.everyone() {
		if groups[s.group()] {
			continue
		}
		s.mu.Lock()
		if s.credits() != (entity.Slots{}) {
			groups[s.group()] = true
		}
		s.mu.Unlock()
	}
	var errs []error
	for group := range groups {
		c := &claiming{Gateway: g, group: group}
		if err := c.run(ctx); err != nil {
			errs = append(errs, fmt.Errorf("claim for the worker group %s: %w", group, err))
		}
	}
	return errors.Join(errs...)
}

// credits is what may be claimed for the worker; the caller holds the lock.
func (s *session) credits() (free entity.Slots) {
	if s.lives() && s.row.Status == worker.Up {
		free = s.delivery.Credits()
	}
	return free
}

// queues are those of a worker group in which something waits: of its classes, and of its single workers.
func (g *Gateway) queues(ctx context.Context, group string) ([]entity.Queue, error) {
	var out []entity.Queue
	for _, span := range []entity.ClaimSpan{entity.WorkerClassesOf(group), entity.WorkerQueuesOf(group)} {
		for lo := span.Lo; ; {
			first, err := g.Claims.First(ctx, lo, span.Hi)
			if err != nil {
				return nil, err
			}
			if first == "" {
				break
			}
			q := first.Queue()
			out = append(out, q)
			_, lo = q.Range()
		}
	}
	return out, nil
}
