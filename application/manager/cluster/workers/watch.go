// Package workers finds workers that are gone, and ends the runs that their former lives held (docs/workers).
package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

const (
	// Interval is how often the leader looks while there are workers; idleInterval while there are none. A worker that
	// registers meanwhile has a lease that is longer than that. Whether any are left it asks once in wholeInterval.
	Interval     = 500 * time.Millisecond
	idleInterval = 5 * time.Second
	// calmInterval is how often it looks while no lease can end for calmFor: each look reads the rows of all workers.
	// Together with a turn of the task it is no gap (liveness.LongestGap).
	calmInterval, calmFor = 1500 * time.Millisecond, 2 * time.Second
	wholeInterval         = time.Minute
	// rowlessInterval is how often it looks for runs of workers that no row tells of.
	rowlessInterval = 30 * time.Second
	// longestTurn bounds the time between the look and what follows from it: who stood still meanwhile looks again.
	longestTurn = time.Second
	// quiet is how long runs of a former life are looked for after its end: a claim for it that was being committed may
	// be seen only then.
	quiet = 30 * time.Second
)

// Store keeps workers and what they hold.
type Store interface {
	LateWorkers(ctx context.Context, shortest time.Duration) (workers []worker.Worker, now time.Time, err error)
	DownWorker(ctx context.Context, w worker.Worker) (bool, error)
	ClearFormer(ctx context.Context, w worker.Worker) error
	// HeldBy are those who hold runs in a span of keys, each once.
	HeldBy(ctx context.Context, span entity.ClaimSpan) ([]string, error)
	Worker(ctx context.Context, id string) (worker.Worker, error)
}

// Reaper ends runs as those of a node that is gone.
type Reaper interface {
	// Reap ends those of the epoch and of earlier ones, and returns how many the holder still had.
	Reap(ctx context.Context, holderID string, epoch int64) (held int, err error)
}

// Deps are the parts of a Watch.
type Deps struct {
	Store  Store
	Reaper Reaper
	// Shortest and Longest are the bounds of workers' leases; Lease is that of nodes.
	Shortest, Longest, Lease time.Duration
	// Elapsed is a clock that nobody sets and that goes on while the machine sleeps.
	Elapsed func() time.Duration
	// Beaten is for how long the beats of this node have reached the store without a gap (liveness.LongestGap); nil
	// is not at all. A node that has just become the leader goes by them.
	Beaten func() time.Duration
	Logger *slog.Logger
}

// Watch is the task of the leader. Two nodes may do it at once: each write is conditional on what was seen. It is for
// one goroutine.
type Watch struct {
	Deps
	// since is the begin of the unbroken series of good looks, latest the last of them.
	since, latest time.Duration
	looked        bool
	// idle: no worker was there at the latest whole look, which was at wholeAt.
	idle    bool
	wholeAt time.Duration
	// calm: the latest look has asked for what is over within calmFor, and found nothing. The next one asks for that if
	// the latest found nothing at all.
	calm, nothing bool
	// over are the leases that were over at the latest look.
	over map[string]delivery.Over
	// rowless are holders without a row, with when they were seen first; rowlessAt is when they are looked for next.
	rowless   map[string]time.Duration
	rowlessAt time.Duration
}

// New wires the parts.
func New(d Deps) *Watch {
	return &Watch{Deps: d, over: map[string]delivery.Over{}, rowless: map[string]time.Duration{}}
}

// RunOnce looks once. A worker is DOWN whose lease was over at two looks, and runs are ended that former lives owe. It
// does neither until this node has reached the store without a gap, by its looks or its beats, for as long as a worker
// may go by an answer that a node without the store gave: that worker's lease and the node's (V8).
func (w *Watch) RunOnce(ctx context.Context) error {
	began := w.Elapsed()
	if w.idle && began-w.latest < idleInterval {
		return w.findRowless(ctx)
	}
	if w.calm && w.looked && began-w.latest < calmInterval {
		return w.findRowless(ctx)
	}
	shortest, ahead := w.Shortest, w.nothing
	if ahead {
		shortest -= calmFor
	}
	whole := w.idle || !w.looked || began-w.wholeAt >= wholeInterval
	if whole {
		shortest, w.wholeAt = 0, began
	}
	late, now, err := w.Store.LateWorkers(ctx, shortest)
	if err != nil {
		w.looked = false
		return fmt.Errorf("look for workers that are late: %w", err)
	}
	gap := liveness.LongestGap
	if w.idle {
		gap += idleInterval
	}
	if !w.looked || began-w.latest > gap {
		w.since, w.over = began, map[string]delivery.Over{}
	}
	w.latest, w.looked, w.idle = began, true, whole && len(late) == 0
	w.nothing = len(late) == 0
	w.calm = w.nothing && ahead
	return errors.Join(w.decide(ctx, late, now, began), w.findRowless(ctx))
}

func (w *Watch) decide(ctx context.Context, late []worker.Worker, now time.Time, began time.Duration) error {
	over := map[string]delivery.Over{}
	steady := began - w.since
	if w.Beaten != nil {
		steady = max(steady, w.Beaten())
	}
	var errs []error
	for _, one := range late {
		if w.Elapsed()-began > longestTurn {
			break // what was seen may not be so any more
		}
		if steady < one.Lease+w.Lease {
			continue
		}
		if one.Former.Epoch > 0 && now.After(one.Former.Until) {
			errs = append(errs, w.endFormer(ctx, one, now))
		}
		switch seen, down := delivery.RegistrationOf(&one).Expired(w.over[one.ID], now, steady, w.Lease); {
		case down:
			errs = append(errs, w.down(ctx, one))
		case seen != delivery.Over{}:
			over[one.ID] = seen
		}
	}
	w.over = over
	return errors.Join(errs...)
}

// down declares one worker DOWN and ends its runs, unless those of a life before are not owed yet.
func (w *Watch) down(ctx context.Context, one worker.Worker) error {
	down, err := w.Store.DownWorker(ctx, one)
	if err != nil || !down {
		return err
	}
	w.Logger.Warn("a worker is DOWN: its lease is over", "worker", one.ID, "instance", one.Instance, "epoch", one.Epoch)
	return nil // its row owes the runs from now on
}

// endFormer ends the runs that a row owes, and notes when there are none any more.
func (w *Watch) endFormer(ctx context.Context, one worker.Worker, now time.Time) error {
	held, err := w.Reaper.Reap(ctx, one.ID, one.Former.Epoch)
	if err != nil || held > 0 || now.Sub(one.Former.Until) < quiet {
		return err
	}
	return w.Store.ClearFormer(ctx, one)
}

// findRowless ends runs of workers that have no row, or that are DOWN and owe nothing: of a store that was restored, or
// of a claim that was committed very late. It waits for the longest lease, because the row may only come.
func (w *Watch) findRowless(ctx context.Context) error {
	now := w.Elapsed()
	if now < w.rowlessAt {
		return nil
	}
	ids, err := w.Store.HeldBy(ctx, entity.WorkerHeldSpan())
	if err != nil {
		return fmt.Errorf("look for runs of workers without a row: %w", err)
	}
	w.rowlessAt = now + rowlessInterval
	rowless := map[string]time.Duration{}
	var errs []error
	for _, id := range ids {
		nobody, err := w.isRowless(ctx, id)
		if err != nil {
			errs = append(errs, err)
		}
		if !nobody {
			continue
		}
		first, seen := w.rowless[id]
		if !seen {
			first = now
		}
		rowless[id] = first
		if now-first > w.Longest+w.Lease {
			held, err := w.Reaper.Reap(ctx, id, anyEpoch)
			errs = append(errs, err)
			w.Logger.Warn("runs of a worker that is not there were ended as lost", "worker", id, "runs", held)
		}
	}
	w.rowless = rowless
	return errors.Join(errs...)
}
