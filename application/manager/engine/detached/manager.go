package detached

import (
	"context"
	"log/slog"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/steady"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Jobs gives current definitions.
type Jobs interface {
	// For returns what executions go by, see entity.Definitions.
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// Runner ends runs.
type Runner interface {
	// Conclude stores ends of attempts that no process of this node is at work
	// on, and says of each whether the store took it. An end that was not taken
	// came too late, or the run has changed since it was read.
	Conclude(ctx context.Context, ends []completion.End) (taken []bool, err error)
}

// Deps are the parts of a Manager.
type Deps struct {
	Store      repository.Store
	Tokens     repository.RunTokenReader
	Executions repository.ExecutionReader
	Claims     repository.ClaimReader
	Jobs       Jobs
	Runner     Runner
	// Sealer opens what an Issuer has sealed.
	Sealer Sealer
	Clock  clock.StoreClock
	// Steady is the machine's clock where the store's clock is its wall clock: time-outs then go by monotonic time. It is
	// nil elsewhere.
	Steady clock.Clock
	// Commits tell which runs were detached.
	Commits *commit.Commits
	// LogLimit is the most bytes that reports add to the log of one attempt.
	LogLimit int
	Logger   *slog.Logger
}

// Manager takes the reports of targets and ends detached runs. Every node has
// one, and any of them may act on any run. Safe for concurrent use.
type Manager struct {
	Deps
	// timeouts are those of runs that this process has detached; nil where the store's clock is steady.
	timeouts *steady.Waits
}

// New wires the parts.
func New(d Deps) *Manager {
	m := &Manager{Deps: d}
	if d.Steady != nil {
		m.timeouts = steady.New(d.Steady, entity.DetachedSpan())
		d.Commits.OnCommit(func(e commit.PostCommit) { m.timeouts.Add(e.Waits...) })
	}
	return m
}
