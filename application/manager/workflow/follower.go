package workflow

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// Interval is how often the leader looks for what is owed and nobody has paid.
	Interval = time.Second
	// grace leaves a row to the process that made it: that one was woken by its commit.
	grace = time.Second
	// todosAtOnce bounds the rows of one look, startsAtOnce and executionsAtOnce what one transaction starts.
	todosAtOnce      = 500
	startsAtOnce     = 100
	executionsAtOnce = 500
	// retryPause follows a turn that failed; busyPause one that left rows, so that others come to their locks.
	retryPause = 500 * time.Millisecond
	busyPause  = 10 * time.Millisecond
)

// Definitions gives definitions.
type Definitions interface {
	// Cached returns that of a version, or nil.
	Cached(id string, version int) *entity.Job
	// Load returns the current ones of those that exist, by id.
	Load(ctx context.Context, ids []string) (map[string]*entity.Job, error)
}

// Deps are the parts of a Follower.
type Deps struct {
	Store      repository.Store
	Todos      repository.TodoReader
	Executions repository.ExecutionReader
	Jobs       Definitions
	Versions   repository.VersionReader
	Admitter   *admission.Admitter
	Commits    *commit.Commits
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Leads tells whether this node does the tasks of the leader.
	Leads func() bool
	// Beating reports whether the latest beat of the node reached the store; nil always.
	Beating func() bool
	// Note is told how each turn ended.
	Note   func(err error)
	Logger *slog.Logger
}

// Follower starts what ends owe. Several at once start nothing twice: the ids of what they start are computed. Wake is
// safe for concurrent use; Run is one loop.
type Follower struct {
	Deps
	turns turns.Loop
	// woken: this process has added rows since the last look.
	woken atomic.Bool
	blame *batch.Blame
}

// New wires the parts.
func New(d Deps) *Follower {
	f := &Follower{Deps: d, blame: batch.NewBlame(d.Clock, d.Beating)}
	f.turns = turns.Loop{
		Signal: turns.NewSignal(), Clock: d.Clock, Leads: func() bool { return true }, Interval: Interval, Turn: f.turn,
	}
	return f
}

// Wake makes the follower look at once, after a commit that added rows.
func (f *Follower) Wake() {
	f.woken.Store(true)
	f.turns.Wake()
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) { f.turns.Run(ctx) }

// turn pays what this process owes, and on the leader what others have left.
func (f *Follower) turn(ctx context.Context, _ int) turns.Next {
	until := f.StoreClock.Now()
	switch {
	case f.woken.Swap(false):
	case f.Leads():
		until = until.Add(-grace)
	default:
		f.Note(nil)
		return turns.Next{Wait: Interval}
	}
	var left bool
	err := batch.Guard(func() (err error) {
		left, err = f.RunOnce(ctx, until)
		return err
	})
	if ctx.Err() == nil {
		f.Note(err)
	}
	switch {
	case err != nil:
		f.woken.Store(true)
		return turns.Next{Wait: retryPause, Failed: true}
	case left:
		f.woken.Store(true)
		return turns.Next{Wait: busyPause}
	}
	return turns.Next{Wait: Interval}
}

// RunOnce pays what is owed since a moment or longer. left says that rows stay: they are more than one look takes, or
// somebody else has locked a job.
func (f *Follower) RunOnce(ctx context.Context, until time.Time) (left bool, err error) {
	todos, err := f.Todos.Todos(ctx, entity.TodoNext, until, todosAtOnce)
	if err != nil || len(todos) == 0 {
		return false, err
	}
	debts, err := f.debts(ctx, todos)
	if err != nil {
		return false, err
	}
	paid, err := f.pay(ctx, debts)
	return len(todos) == todosAtOnce || paid < len(debts), err
}
