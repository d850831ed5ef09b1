package workflow

import (
	"context"
	"log/slog"
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
	Interval = turns.DebtInterval
	// todosAtOnce bounds the rows of one look, startsAtOnce and executionsAtOnce what one transaction starts.
	todosAtOnce      = 500
	startsAtOnce     = 100
	executionsAtOnce = 500
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
	*turns.Debtor
	blame *batch.Blame
}

// New wires the parts.
func New(d Deps) *Follower {
	f := &Follower{Deps: d, blame: batch.NewBlame(d.Clock, d.Beating)}
	f.Debtor = turns.NewDebtor(turns.Debts{
		Clock: d.Clock, StoreClock: d.StoreClock, Leads: d.Leads, Note: d.Note,
		Pay: func(ctx context.Context, until time.Time, _ bool) (bool, error) { return f.RunOnce(ctx, until) },
	})
	return f
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
