package maintenance

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/steady"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Jobs gives current definitions.
type Jobs interface {
	// Load returns those that exist, in their current version, by id.
	Load(ctx context.Context, ids []string) (map[string]*entity.Job, error)
	// For returns what executions go by, see entity.Definitions.
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// EndMetrics counts the runs that end without running. Implementations are safe
// for concurrent use.
type EndMetrics interface {
	Ended(end entity.AttemptEnd)
}

// RepairDeps are the parts a Repairer works with.
type RepairDeps struct {
	Store      repository.Store
	Claims     repository.ClaimReader
	Executions repository.ExecutionReader
	Plans      repository.JobPlanReader
	Jobs       Jobs
	Admitter   *admission.Admitter
	Commits    *commit.Commits
	StoreClock clock.StoreClock
	Metrics    EndMetrics
	// Clock and Beating bound how long an unknown answer of the store holds a sweep up, see batch.Blame; without a Clock
	// it has no bound. Beating reports whether the latest beat of the node reached the store; nil always.
	Clock   clock.Clock
	Beating func() bool
	// Steady is the machine's clock where the store's clock is its wall clock: back-offs then go by monotonic time. It is
	// nil elsewhere.
	Steady clock.Clock
}

// Repairer brings what the store holds of waiting runs in line with their jobs:
// it lets scheduled runs start, ends those whose start deadline has passed, and
// repairs slots that a lost transaction left behind. One node at a time sweeps;
// PromoteScheduled may run on all of them.
type Repairer struct {
	RepairDeps
	// swept is where the sweep of the slots goes on.
	swept slotsSweep
	// stayed is, of each span, the last row of the page that the latest look of
	// SweepDeadlines could not end as a whole. It belongs to that task.
	stayed map[entity.ClaimSpan]*entity.Execution
	// sweptSlot is where the next look of SweepLimits goes on, and that task's.
	sweptSlot entity.GroupSlot
	blame     *batch.Blame
	// backOffs are those of this process; nil where the store's clock is steady.
	backOffs *steady.Waits
}

func idOf(exec *entity.Execution) string { return exec.ID }

// NewRepairer returns one that has looked at nothing yet.
func NewRepairer(deps RepairDeps) *Repairer {
	r := &Repairer{RepairDeps: deps, stayed: map[entity.ClaimSpan]*entity.Execution{}}
	if deps.Clock != nil {
		r.blame = batch.NewBlame(deps.Clock, deps.Beating)
	}
	if deps.Steady != nil {
		r.backOffs = steady.New(deps.Steady, entity.ScheduledSpan())
		deps.Commits.OnCommit(func(e commit.PostCommit) { r.backOffs.Add(e.Waits...) })
	}
	return r
}
