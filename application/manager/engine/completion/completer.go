// Package completion stores the ends of attempts: in batches, each guarded by node,
// epoch and fencing token, with the retries and all that follows from them (engine
// rules 9, 10, 17–19 and 23, see docs/rules.md).
package completion

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Jobs gives current definitions.
type Jobs interface {
	// For returns what executions go by, see entity.Definitions.
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// Metrics observes ends. Implementations are safe for concurrent use.
type Metrics interface {
	// Ended counts an end of an attempt.
	Ended(end entity.AttemptEnd)
	// CompleteBatch observes one completion transaction.
	CompleteBatch(runs int, took time.Duration)
	// RefusedReport counts results that came too late to count.
	RefusedReport()
}

// Observer is told of final states after they were committed, at best effort.
// It must not block.
type Observer func(job *entity.Job, exec *entity.Execution)

// Lease is the node's right to work, see membership.Lease.
type Lease interface {
	Holds() bool
}

// Node is the node whose attempts end.
type Node interface {
	// Draining reports whether the node is on its way down.
	Draining() bool
	// HasSpare reports whether nobody waits for a slot that the job takes, nor will
	// soon.
	HasSpare(job *entity.Job) bool
	// Done frees what attempts hold whose ends the store took or refused.
	Done(results []*Result)
}

// Config tunes a Completer.
type Config struct {
	// Completers is how many completion transactions run at once.
	Completers int
	// Linger is how long a completer waits for more ends to store together, while
	// none is urgent. Zero: it does not.
	Linger time.Duration
	// BatchSize is the most completions of one transaction.
	BatchSize int
	// Capacity is how many ends may wait before Add blocks.
	Capacity int
}

// Deps are the parts a Completer works with.
type Deps struct {
	Store      repository.Store
	Executions repository.ExecutionReader
	Jobs       Jobs
	Admitter   *admission.Admitter
	Clock      clock.Clock
	StoreClock clock.StoreClock
	Metrics    Metrics
	Observer   Observer
	// AsksSuccess reports whether somebody is to be told that a run of the job has
	// succeeded; nil asks the job alone.
	AsksSuccess func(job *entity.Job) bool
	// Outputs says which results of steps cannot be handed on; nil asks nobody.
	Outputs Outputs
	// Commits are told of what a transaction did.
	Commits *commit.Commits
	Lease   Lease
	// Beating reports whether the latest beat of the node reached the store; nil always.
	Beating func() bool
	Node    Node
	Random  func() float64
	Logger  *slog.Logger
}

// Outputs knows what steps of workflows read of one another.
type Outputs interface {
	// TooLong says why no other step can read the result of a step; empty: it can be read, or nobody reads it. It must
	// not wait.
	TooLong(e *entity.Execution, result string, cut bool) string
}

// Completer stores the ends of a node's attempts, and those of attempts that nobody is
// at work on. Safe for concurrent use.
type Completer struct {
	Deps
	cfg      Config
	results  chan *Result
	held     *held
	blame    *batch.Blame
	batching sync.Mutex
	// storing is how many completers send a batch for the first time; one that
	// failed says nothing about when its slots will be free.
	storing atomic.Int32
}

// New returns a completer that stores nothing before Run.
func New(deps Deps, cfg Config) *Completer {
	return &Completer{
		Deps: deps, cfg: cfg, results: make(chan *Result, cfg.Capacity), held: newHeld(),
		blame: batch.NewBlame(deps.Clock, deps.Beating),
	}
}

// Add hands in an end to be stored. It must not be called after Close.
func (m *Completer) Add(f *Result) { m.results <- f }

// Pending reports whether ends are on their way to the store.
func (m *Completer) Pending() bool { return len(m.results) > 0 || m.storing.Load() > 0 }

// Close says that no more ends come. Run then stores those that wait, and returns.
func (m *Completer) Close() { close(m.results) }

// Run stores ends until Close was called and every end has been stored or refused.
func (m *Completer) Run() {
	var completers, holding sync.WaitGroup
	completed := make(chan struct{})
	holding.Go(func() { m.heldLoop(completed) })
	for range m.cfg.Completers {
		completers.Go(func() { m.completeLoop() })
	}
	completers.Wait()
	close(completed)
	holding.Wait()
}

// Result is an attempt that has ended and whose end must be stored.
type Result struct {
	Run     entity.Run
	Outcome entity.Outcome
	Start   time.Time
	End     time.Time
	Took    time.Duration
	// Log is what the attempt said and the store does not have; nil without an attempt.
	Log *logbuffer.Buffer
	// Slots are those that the run holds on this node.
	Slots entity.Slots
	// Slotless: the attempt waited on this node without a slot, and ended without one.
	Slotless bool
	// hold: the attempt did not begin, because its call is held back for so long.
	hold entity.Hold
	// unanswered: a transaction with this end got no answer, and may have
	// stored it. stored: no more transactions are needed.
	unanswered bool
	stored     bool
	// cause is why the store did not take this end, for a reason of its own;
	// next is when it is tried again, in monotonic time, and tries how often it was.
	cause error
	next  time.Duration
	tries int
	// reduced: without texts from outside. endOnly: this try stores the end without what follows from it.
	reduced bool
	endOnly bool
	// external: somebody else was at work on the attempt, and waits for the answer
	// whether its end was refused. also runs in the transaction that takes the end.
	external bool
	refused  bool
	also     func(ctx context.Context, tx repository.Tx) error
	// report: a worker sent the end, and waits for the receipt.
	report  *report
	receipt delivery.Receipt
}

// coordinated: its end has to do with other fires of its job.
func (f *Result) coordinated() bool { return f.Run.Job.Coordinated() && !f.endOnly }
