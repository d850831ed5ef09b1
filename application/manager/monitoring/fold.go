package monitoring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	halving "github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// maxDigests and maxEnds bound a batch, and with it the memory of a fold: some 40 MB
	// where all ends are of different jobs. A digest has 200 ends at most.
	maxDigests = 1000
	maxEnds    = 20_000
	// maxRows bounds the rows that one transaction writes; rows of scopes are few, and
	// written together.
	maxRows = 200
	// yields is how many times as long as a batch took the fold waits for the next one,
	// longestYield at most. yieldsBehind is that where digests are older than behind. Where they are older than
	// tooFarBehind it does not wait: they must not grow without bound.
	yields       = 30
	yieldsBehind = 3
	longestYield = 10 * time.Second
	behind       = time.Minute
	// tooFarBehind is the age of digests from which on it is trouble.
	tooFarBehind = 2 * time.Minute
	// maxNoted bounds the notes of ends while nodes of the former release run: 800 MB, some three hours at 10,000 ends a
	// second.
	maxNoted = 100_000_000
	// reportsFor is how long after its end the fold reports a run as unusual. The fold may add up ends of nodes of the
	// former release much later.
	reportsFor = time.Hour
	// quiet is how long nothing must have ended for the next batch to begin at once.
	quiet = time.Second
	// turn bounds one call of RunOnce that need not wait between batches.
	turn = 5 * time.Second
)

// errStale says that somebody else has closed the batch meanwhile.
var errStale = errors.New("the batch is closed")

// FoldDeps are the parts of a Fold.
type FoldDeps struct {
	Store   repository.Store
	Digests repository.DigestReader
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Zone is that of days, and of the hours and weekdays of baselines.
	Zone *time.Location
	// Readers get the events that tell of what is unusual; where there is nobody, there are none. Told is called after
	// a commit that added some, and must not wait; nil: nobody is told.
	Readers     entity.EventReaders
	EventsAdded func()
	// Succeeded is told of the jobs of which a run of a batch has succeeded, each once; nil: nobody is told. It must not
	// wait. A batch that is repeated tells again.
	Succeeded func(jobIDs []string)
	// Aside learns what the store refuses; nil is nobody.
	Aside  *aside.Recorder
	Logger *slog.Logger
}

// Fold adds digests up: into rows of sums, baselines, and fires with shards. It is a
// task of the leader. Two of them at once apply the same batch, and each row takes it
// once. Safe for concurrent use.
type Fold struct {
	FoldDeps

	turn turns.Turn
	// next is when the next batch may begin, in monotonic time.
	next time.Duration
	// seen is the last look at what is to be added up; nil before the first.
	seen atomic.Pointer[look]
}

// look is the moment of the oldest end that was not counted when somebody looked; zero: all were.
type look struct {
	oldest time.Time
	at     time.Duration
}

// NewFold wires the parts.
func NewFold(d FoldDeps) *Fold { return &Fold{FoldDeps: d, turn: turns.NewTurn()} }

// RunOnce adds up batches until there is none, or the next one has to wait. It returns
// how many ends there were.
func (f *Fold) RunOnce(ctx context.Context) (int, error) {
	if err := f.turn.Take(ctx); err != nil {
		return 0, err
	}
	defer f.turn.Give()
	began, total := f.Clock.Monotonic(), 0
	for now := began; now >= f.next && now-began < turn && ctx.Err() == nil; now = f.Clock.Monotonic() {
		ends, err := f.batch(ctx)
		if err != nil {
			return total, err
		}
		if ends == 0 {
			return total, nil
		}
		total += ends
		if err := f.yield(ctx, now); err != nil {
			return total, err
		}
	}
	return total, nil
}

// yield leaves the store to others after a batch that began at a moment.
func (f *Fold) yield(ctx context.Context, began time.Duration) error {
	oldest, youngest, ok, err := f.look(ctx)
	if err != nil {
		return err
	}
	now, ended := f.StoreClock.Now(), f.Clock.Monotonic()
	times := int64(yields)
	switch {
	case !ok || now.Sub(youngest) > quiet, now.Sub(oldest) > tooFarBehind:
		times = 0
	case now.Sub(oldest) > behind:
		times = yieldsBehind
	}
	f.next = ended + min(time.Duration(int64(ended-began)*times), longestYield)
	return nil
}

// look tells when the oldest and the youngest end that do not count were stored.
func (f *Fold) look(ctx context.Context) (oldest, youngest time.Time, ok bool, err error) {
	if oldest, youngest, ok, err = f.Digests.DigestsSince(ctx); err != nil {
		return oldest, youngest, ok, fmt.Errorf("look for digests: %w", err)
	}
	f.seen.Store(&look{oldest: oldest, at: f.Clock.Monotonic()})
	return oldest, youngest, ok, nil
}

// Behind reports that statistics lack ends which are older than two minutes. A node that does not add up knows nothing.
func (f *Fold) Behind() (reason string, blocks bool) {
	seen := f.seen.Load()
	if seen == nil || seen.oldest.IsZero() || f.Clock.Monotonic()-seen.at > time.Minute {
		return "", false
	}
	lag := f.StoreClock.Now().Sub(seen.oldest)
	if lag <= tooFarBehind {
		return "", false
	}
	return fmt.Sprintf("the statistics lack ends of the last %s; what is usual for jobs is not learned meanwhile",
		lag.Round(time.Second)), false
}

// batch adds up the batch that is open, or opens one. It returns how many ends it has.
func (f *Fold) batch(ctx context.Context) (int, error) {
	state, err := f.Digests.FoldState(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the state of the fold: %w", err)
	}
	_, _, some, err := f.look(ctx)
	if err != nil {
		return 0, err
	}
	if len(state.IDs) == 0 {
		if !some {
			return 0, nil
		}
		if state, err = f.open(ctx); err != nil || len(state.IDs) == 0 {
			return 0, err
		}
	}
	n, err := f.fold(ctx, state)
	if errors.Is(err, errStale) {
		return n, nil
	}
	if err != nil && !halving.Passes(err) {
		return n, f.setAside(ctx, state, err)
	}
	return n, err
}

// open makes a batch of the oldest digests, unless somebody else has.
func (f *Fold) open(ctx context.Context) (state repository.Fold, err error) {
	err = f.Store.Write(ctx, repository.LaneLogs, "fold-open", func(ctx context.Context, tx repository.Tx) error {
		if state, err = tx.Statistics.LockFold(ctx); err != nil || len(state.IDs) > 0 {
			return err
		}
		heads, err := tx.Statistics.OldestDigests(ctx, maxDigests)
		if err != nil || len(heads) == 0 {
			return err
		}
		ends := 0
		for _, h := range heads {
			if ends += h.Ends; ends > maxEnds && len(state.IDs) > 0 {
				break
			}
			state.IDs = append(state.IDs, h.ID)
		}
		state.Seq, state.Scopes = state.Seq+1, false
		return tx.Statistics.SaveFold(ctx, state)
	})
	if err != nil {
		return repository.Fold{}, fmt.Errorf("open a batch of digests: %w", err)
	}
	return state, nil
}

// fold applies and closes a batch. A panic is an error.
func (f *Fold) fold(ctx context.Context, state repository.Fold) (ends int, err error) {
	err = halving.Guard(func() error {
		ends, err = f.apply(ctx, state)
		return err
	})
	return ends, err
}

func (f *Fold) apply(ctx context.Context, state repository.Fold) (int, error) {
	b, err := f.read(ctx, state)
	if err != nil {
		return 0, err
	}
	f.tellSuccesses(b)
	done, err := f.applyShards(ctx, b)
	if err != nil {
		return b.ends, err
	}
	if err := f.addUp(ctx, b); err != nil {
		return b.ends, err
	}
	if err := f.applyScopes(ctx, b); err != nil {
		return b.ends, err
	}
	if err := f.applyJobs(ctx, b); err != nil {
		return b.ends, err
	}
	if err := f.close(ctx, b); err != nil {
		return b.ends, err
	}
	return b.ends, f.dropFires(ctx, done)
}

// inBatch runs a transaction of a batch, unless the batch is closed: errStale. The row of
// the fold is locked in it, so that nobody closes the batch meanwhile.
func (f *Fold) inBatch(ctx context.Context, seq int64, name string,
	fn func(ctx context.Context, tx repository.Tx, state repository.Fold) error,
) error {
	err := f.Store.Write(ctx, repository.LaneLogs, name, func(ctx context.Context, tx repository.Tx) error {
		state, err := tx.Statistics.LockFold(ctx)
		if err != nil {
			return err
		}
		if state.Seq != seq || len(state.IDs) == 0 {
			return errStale
		}
		return fn(ctx, tx, state)
	})
	if err != nil {
		return fmt.Errorf("batch %d of digests: %w", seq, err)
	}
	return nil
}

// close deletes the digests of a batch that every row has taken.
func (f *Fold) close(ctx context.Context, b *batch) error {
	return f.inBatch(ctx, b.seq, "fold-close", func(ctx context.Context, tx repository.Tx, state repository.Fold) error {
		if err := tx.Statistics.DropDigests(ctx, state.IDs); err != nil {
			return err
		}
		if !state.Whole {
			if err := f.note(ctx, tx, b, &state); err != nil {
				return err
			}
		}
		if state.IDs = nil; state.Until.Before(b.until) {
			state.Until = b.until
		}
		return tx.Statistics.SaveFold(ctx, state)
	})
}

// note notes the ends of a batch as counted, for those who look for ends without a digest.
func (f *Fold) note(ctx context.Context, tx repository.Tx, b *batch, state *repository.Fold) error {
	if state.Noted += int64(len(b.whole)); state.Noted > maxNoted {
		f.Logger.Error("too many ends were counted while nodes of the former release ran; those that such nodes stored are "+
			"missing in the statistics", "since", clock.Text(state.LackingSince), "noted", state.Noted)
		state.Whole, state.LackingSince, state.Noted = true, time.Time{}, 0
		return nil
	}
	prints := make([]uint64, len(b.whole))
	for i := range b.whole {
		prints[i] = b.whole[i].Print()
	}
	return tx.Statistics.NoteEnds(ctx, repository.NotedEnds{Seq: b.seq, Prints: prints})
}
