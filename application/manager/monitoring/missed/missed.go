// Package missed finds ends of executions that have no digest, and stores digests of them: nodes of the former release
// write none, and so statistics would lack what such nodes have ended.
package missed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Interval is the time between two turns.
const Interval = time.Second

const (
	// commitDelay is how long a node of the former release may still commit after the leader last saw it.
	commitDelay = 15 * time.Second
	// endsOfPass is how many ends a turn compares, and those of the last job that it began.
	endsOfPass = 200_000
	pageSize   = 2000
	// notesOfPage bounds the memory of a read: a note has 20,000 prints at most.
	notesOfPage   = 50
	digestsOfPage = 100
	// late is how long after an end it is trouble that it does not count.
	late = 2 * time.Minute
)

// errMoved says that a batch of the fold was closed between two reads.
var errMoved = errors.New("a batch was closed meanwhile")

// Deps are the parts of a Search.
type Deps struct {
	Store repository.Store
	Rows  repository.FinalReader
	Ends  repository.EndsReader
	// Former tells whether a node of the former release is alive, and whether one is known, dead or alive.
	Former func() (alive, known bool)
	Clock  clock.Clock
	// StoreClock is that of ends.
	StoreClock clock.StoreClock
	Logger     *slog.Logger
}

// Search is a task of the leader. It compares what is stored with digests and with the notes of the fold, and stores
// digests of the rest. Two of them at once store them once: each insert changes the number of the fold, and the other
// compares anew. Safe for concurrent use.
type Search struct {
	Deps

	mu sync.Mutex
	// seen is when a node of the former release was last alive, or might have been; in monotonic time.
	seen  time.Duration
	began bool
	// from is where the next pass begins, found how many ends lacked a digest so far.
	from  repository.EndCursor
	found int
	// since is when ends began to lack digests; nil: none does. Behind must not wait for a turn, which waits for the
	// store.
	since atomic.Pointer[time.Time]
}

// New wires the parts.
func New(d Deps) *Search { return &Search{Deps: d} }

// RunOnce marks that ends may lack digests while nodes of the former release are alive. Once they are gone, it does one
// pass. It returns periodic.ErrIdle when there is nothing to do.
func (s *Search) RunOnce(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := s.Ends.FoldState(ctx)
	if err != nil {
		return fmt.Errorf("read the state of the fold: %w", err)
	}
	now := s.Clock.Monotonic()
	alive, known := s.Former()
	if alive || known && !s.began {
		s.seen, s.from, s.found = now, repository.EndCursor{}, 0
	}
	wait := known && now-s.seen < commitDelay
	s.began = true
	s.note(state)
	switch {
	case alive && state.Whole:
		return s.mark(ctx)
	case state.Whole:
		return s.forget(ctx)
	case alive || wait:
		return periodic.ErrIdle
	}
	if err := s.pass(ctx, state); !errors.Is(err, errMoved) {
		return err
	}
	return nil // the next turn tries again
}

// note keeps what Behind tells.
func (s *Search) note(state repository.Fold) {
	if state.Whole {
		s.since.Store(nil)
	} else {
		s.since.Store(&state.LackingSince)
	}
}

// Behind reports that ends of nodes of the former release do not count yet.
func (s *Search) Behind() (reason string, blocks bool) {
	since := s.since.Load()
	if since == nil || s.StoreClock.Now().Sub(*since) < late {
		return "", false
	}
	if alive, _ := s.Former(); !alive {
		return "", false
	}
	return "runs that nodes of the former release end count in the statistics once these nodes are gone; " +
		"finish the upgrade", false
}

// mark says that ends may lack digests from now on.
func (s *Search) mark(ctx context.Context) error {
	since := s.StoreClock.Now()
	return s.change(ctx, "missed-mark", func(state *repository.Fold) bool {
		if !state.Whole {
			return false
		}
		state.Whole, state.LackingSince, state.Noted = false, since, 0
		return true
	})
}

// change changes the row of the fold where fn says so.
func (s *Search) change(ctx context.Context, name string, fn func(state *repository.Fold) bool) error {
	err := s.Store.Write(ctx, repository.LaneLogs, name, func(ctx context.Context, tx repository.Tx) error {
		state, err := tx.Statistics.LockFold(ctx)
		if err != nil || !fn(&state) {
			return err
		}
		return tx.Statistics.SaveFold(ctx, state)
	})
	if err != nil {
		return fmt.Errorf("mark which ends may lack digests: %w", err)
	}
	return nil
}

// forget deletes the notes: every end has a digest.
func (s *Search) forget(ctx context.Context) error {
	n := 0
	err := s.Store.Write(ctx, repository.LaneLogs, "missed-forget",
		func(ctx context.Context, tx repository.Tx) (err error) {
			n, err = tx.Statistics.DropNotes(ctx, notesOfPage)
			return err
		})
	if err == nil && n == 0 {
		return periodic.ErrIdle
	}
	return err
}

// finish says that every end has a digest, unless something has changed.
func (s *Search) finish(ctx context.Context, before repository.Fold) error {
	if alive, _ := s.Former(); alive {
		return nil
	}
	err := s.change(ctx, "missed-finish", func(state *repository.Fold) bool {
		if state.Whole || !state.LackingSince.Equal(before.LackingSince) {
			return false
		}
		state.Whole, state.LackingSince, state.Noted = true, time.Time{}, 0
		return true
	})
	if err == nil && s.found > 0 {
		s.Logger.Info("ends without a digest are added to the statistics: nodes of a former release stored them",
			"ends", s.found)
	}
	if err == nil {
		s.from, s.found = repository.EndCursor{}, 0
	}
	return err
}
