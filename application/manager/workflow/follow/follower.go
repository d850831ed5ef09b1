package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

const (
	// Interval is how often the leader looks for runs that nobody has let go on.
	Interval = turns.DebtInterval
	// todosAtOnce bounds the rows of one look, runsAtOnce its runs. stepsAtOnce bounds the executions that one run adds in
	// a transaction, and rowsAtOnce those of all its runs.
	todosAtOnce = 500
	runsAtOnce  = 100
	stepsAtOnce = 200
	rowsAtOnce  = 500
)

// Ends stores ends of executions that no process is at work on.
type Ends interface {
	// Conclude says of each end whether the store took it.
	Conclude(ctx context.Context, ends []completion.End) (taken []bool, err error)
}

// Definitions are what executions go by.
type Definitions interface {
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// Deps are the parts of a Follower.
type Deps struct {
	Store      repository.Store
	Todos      repository.TodoReader
	Runs       repository.WorkflowRunReader
	Executions repository.ExecutionReader
	// Claims and Approvals lead to approvals whose time is over.
	Claims    repository.ClaimReader
	Approvals repository.ApprovalReader
	// Electorate says who may vote in approvals that open.
	Electorate Electorate
	Catalog    *Catalog
	Jobs       Definitions
	Conditions workflow.Conditions
	// Readers get the events that a run stands for people; where there is nobody, there are none.
	Readers entity.EventReaders
	// Starts starts the jobs that steps name.
	Starts   Starts
	Admitter *admission.Admitter
	// Slots and Runner start steps on this node, while nobody waits for a slot.
	Slots  direct.Slots
	Runner direct.Runner
	// Ends closes runs and stops what nobody holds, Closer what waits.
	Ends    Ends
	Closer  *maintenance.Closer
	Commits *commit.Commits
	Clock   clock.Clock
	// StoreClock is the store's.
	StoreClock clock.StoreClock
	// Leads tells whether this node does the tasks of the leader.
	Leads func() bool
	// Beating reports whether the latest beat of the node reached the store; nil always.
	Beating func() bool
	// Note is told how each turn ended.
	Note   func(err error)
	Logger *slog.Logger
}

// Follower lets workflow runs go on. Several at once start nothing twice: a decision counts only where the run is as it
// was read. Wake is safe for concurrent use; Run is one loop.
type Follower struct {
	Deps
	*turns.Debtor
	blame *batch.Blame
}

// New wires the parts.
func New(d Deps) *Follower {
	f := &Follower{Deps: d, blame: batch.NewBlame(d.Clock, d.Beating)}
	f.Debtor = turns.NewDebtor(turns.Debts{
		Clock: d.Clock, StoreClock: d.StoreClock, Leads: d.Leads, Note: d.Note, Pay: f.look,
	})
	return f
}

// look does what is owed, and on the leader what is due by time.
func (f *Follower) look(ctx context.Context, until time.Time, leads bool) (left bool, err error) {
	left, err = f.RunOnce(ctx, until)
	if err != nil || !leads {
		return left, err
	}
	now := f.StoreClock.Now()
	more, err := f.WakeRuns(ctx, now)
	return left || more, errors.Join(err, f.ExpireApprovals(ctx, now))
}

// RunOnce lets those runs go on that owe something since a moment or longer. left says that rows stay which another
// look may take at once.
func (f *Follower) RunOnce(ctx context.Context, until time.Time) (left bool, err error) {
	todos, err := f.Todos.Todos(ctx, entity.TodoRun, until, todosAtOnce)
	full := len(todos) == todosAtOnce
	if err != nil || len(todos) == 0 {
		return false, err
	}
	todos, deletions := split(todos)
	owed, err := f.endRuns(ctx, deletions)
	if err != nil {
		return false, err
	}
	more, err := f.follow(ctx, todos, nil)
	return more || full || owed, err
}

// WakeRuns lets those runs go on whose moment has come. left says that more are due than one look takes, or that one of
// them was not stored.
func (f *Follower) WakeRuns(ctx context.Context, now time.Time) (left bool, err error) {
	due, err := f.Runs.RunsToWake(ctx, now, runsAtOnce)
	if err != nil || len(due) == 0 {
		return false, err
	}
	left, err = f.follow(ctx, nil, due)
	return left || len(due) == runsAtOnce, err
}

// follow decides about runs, and stores what follows. A run that cannot go on is paused, and holds up no other.
func (f *Follower) follow(ctx context.Context, todos []entity.Todo, due []string) (left bool, err error) {
	passages, left, err := f.read(ctx, todos, due)
	if err != nil {
		return false, err
	}
	var ready []*passage
	var errs []error
	now := f.StoreClock.Now()
	for _, p := range passages {
		if p.gathers(now) {
			left = true
			continue
		}
		if err := batch.Guard(func() error { return f.decide(ctx, p) }); err == nil {
			ready = append(ready, p)
		} else if batch.Passes(err) {
			return left, err
		} else {
			errs = append(errs, f.stuck(ctx, p, err))
		}
	}
	for rest := ready; len(rest) > 0; {
		n := chunk(rest)
		err = batch.Walk(f.blame, rest[:n], (*passage).id, func(part []*passage) error { return f.store(ctx, part) },
			func(p *passage, cause error) error { return f.stuck(ctx, p, cause) })
		if errs = append(errs, err); err != nil && batch.Passes(err) {
			return left, errors.Join(errs...)
		}
		rest = rest[n:]
	}
	var over []closing
	for _, p := range ready {
		if p.stored {
			err := f.finish(ctx, p)
			if errs = append(errs, err); err == nil && p.closes {
				over = append(over, closing{p, p.outcome})
			}
		}
		left = left || !p.stored || p.cut
	}
	return left, errors.Join(append(errs, f.close(ctx, over...))...)
}

// chunk is how many runs one transaction stores: at least one.
func chunk(ready []*passage) int {
	rows := 0
	for i, p := range ready {
		if rows += len(p.rows); i > 0 && rows > rowsAtOnce {
			return i
		}
	}
	return len(ready)
}

// finish starts the jobs of steps, and stops what is to be stopped. A row stays until that is done.
func (f *Follower) finish(ctx context.Context, p *passage) error {
	if err := f.startJobs(ctx, p); err != nil {
		return fmt.Errorf("start the jobs of steps of the workflow run %s: %w", p.id(), err)
	}
	if len(p.decision.Cancels) > 0 {
		if err := f.stop(ctx, p); err != nil {
			return fmt.Errorf("stop the steps of the workflow run %s: %w", p.id(), err)
		}
	}
	return nil
}
