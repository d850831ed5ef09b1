package enginetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Fault is a way in which a transaction fails.
type Fault int

// The ways.
const (
	// LostReply: the commit happens, its answer is lost.
	LostReply Fault = iota
	// LostCommit: the commit does not happen, and nobody says so.
	LostCommit
	// Refused: the store cannot be reached, and nothing was written.
	Refused
	// Deadlock: the function runs, is rolled back, and runs again.
	Deadlock
)

// Faults is a store between the engine and the real one that fails on demand.
// Safe for concurrent use.
type Faults struct {
	inner repository.Store

	mu     sync.Mutex
	next   map[string][]Fault
	away   bool
	poison func(executionID string) bool
	before func(name string)
	after  func(name string)
}

// NewFaults passes everything on until it is told otherwise.
func NewFaults(inner repository.Store) *Faults {
	return &Faults{inner: inner, next: map[string][]Fault{}}
}

// Next makes the next transactions of a name fail, one after the other.
func (f *Faults) Next(name string, faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next[name] = append(f.next[name], faults...)
}

// Away takes the store away, for every transaction, or brings it back.
func (f *Faults) Away(away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = away
}

// Poison makes the store refuse statements with rows of these executions.
func (f *Faults) Poison(match func(executionID string) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.poison = match
}

// Before is called with the name of each transaction before it begins, so
// that a test can do what another node would do just then.
func (f *Faults) Before(do func(name string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = do
}

// After is Before for the moment at which a transaction has ended and its
// caller does not know yet.
func (f *Faults) After(do func(name string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = do
}

// Write implements repository.Store.
func (f *Faults) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	err := f.write(ctx, lane, name, fn)
	f.mu.Lock()
	after := f.after
	f.mu.Unlock()
	if after != nil {
		after(name)
	}
	return err
}

func (f *Faults) write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	fail, failing, poison, away, before := f.state(name)
	if before != nil {
		before(name)
	}
	if away {
		return errAway
	}
	if poison != nil {
		sound := fn
		fn = func(ctx context.Context, tx repository.Tx) error {
			tx.Executions = poisoned{tx.Executions, poison}
			return sound(ctx, tx)
		}
	}
	if !failing {
		return f.inner.Write(ctx, lane, name, fn)
	}
	switch fail {
	case Refused:
		return errAway
	case LostReply:
		return errors.Join(f.inner.Write(ctx, lane, name, fn), repository.ErrCommitUnknown)
	}
	err := f.inner.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return errUndo
	})
	switch {
	case !errors.Is(err, errUndo):
		return err
	case fail == LostCommit:
		return repository.ErrCommitUnknown
	}
	return f.inner.Write(ctx, lane, name, fn)
}

var (
	errAway = apperror.Unavailable(errors.New("the store is away"))
	errUndo = errors.New("undo")
)

func (f *Faults) state(name string) (fail Fault, failing bool, poison func(string) bool, away bool,
	before func(string),
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if queue := f.next[name]; len(queue) > 0 {
		fail, failing = queue[0], true
		f.next[name] = queue[1:]
	}
	return fail, failing, f.poison, f.away, f.before
}

// poisoned refuses statements that hold certain rows in full; the reduced form
// of a row, without texts from outside, passes.
type poisoned struct {
	repository.ExecutionWriter
	match func(string) bool
}

var errPoison = &repository.PoisonError{Err: errors.New("data too long for column")}

// Insert implements repository.ExecutionWriter.
func (p poisoned) Insert(ctx context.Context, execs []*entity.Execution) error {
	for _, exec := range execs {
		if p.match(exec.ID) && exec.Reason != entity.ReasonInvalid {
			return errPoison
		}
	}
	return p.ExecutionWriter.Insert(ctx, execs)
}

// Finish implements repository.ExecutionWriter.
func (p poisoned) Finish(ctx context.Context, rows []repository.Finish, now time.Time) ([]int, error) {
	for _, row := range rows {
		if p.match(row.ID) && row.Result != "" {
			return nil, errPoison
		}
	}
	return p.ExecutionWriter.Finish(ctx, rows, now)
}
