// Package running carries executions from WAITING to their final state: it
// claims what is ready, runs it, and records how it ended, each write guarded
// by node, epoch and fencing token (engine rules 15–24, see docs/rules.md).
package running

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/slots"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/fairness"
)

// Executor runs one attempt. It returns when the attempt has really ended,
// also after its context was cancelled; the cause of the cancellation is one
// of the entity.ErrStop… errors.
type Executor interface {
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

// Jobs gives current definitions.
type Jobs interface {
	// For returns what executions go by, see entity.Definitions.
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// Scheduled lets scheduled runs start.
type Scheduled interface {
	// PromoteScheduled returns when the next one comes; zero when none is known.
	PromoteScheduled(ctx context.Context) (next time.Time, err error)
}

// Metrics observes runs. Implementations are safe for concurrent use.
type Metrics interface {
	completion.Metrics
	// Started observes a run's entry.
	Started(start entity.AttemptStart)
	// Recovered counts runs whose node was lost.
	Recovered(n int)
}

// Lease is the node's right to work, see membership.Lease.
type Lease interface {
	Holds() bool
}

// Config tunes a TaskManager; zero values take the defaults.
type Config struct {
	NodeID string
	// Epoch is the first life's; Adopt begins another.
	Epoch  int64
	Labels map[string]string
	// Handlers are the node's own handlers, sorted; those that are built in are
	// not among them.
	Handlers []string
	// Slots is the most runs at once that are no commands. Default 512.
	Slots int
	// CommandSlots is the most commands at once; 0 where the node runs none.
	CommandSlots int
	// Idle: the node is no executor. It starts nothing, but still ends what
	// others lost.
	Idle bool
	// Completers and Linger are those of completion.Config; Completers is 1 by default.
	Completers int
	Linger     time.Duration
	// BatchSize is the most completions or claims of one transaction. Default 500.
	BatchSize int
	// LogLimit is the most bytes kept of one attempt's log. Default 1 MiB.
	LogLimit int
}

func (c Config) withDefaults() Config {
	if c.Slots <= 0 {
		c.Slots = 512
	}
	if c.Completers <= 0 {
		c.Completers = 1
	}
	if c.BatchSize <= 0 {
		c.BatchSize = 500
	}
	if c.LogLimit <= 0 {
		c.LogLimit = entity.LogLimit
	}
	return c
}

// Deps are the parts a TaskManager works with.
type Deps struct {
	Store      repository.Store
	Claims     repository.ClaimReader
	Executions repository.ExecutionReader
	Jobs       Jobs
	Admitter   *admission.Admitter
	Fair       *fairness.Queue
	Executor   Executor
	// Tokens lets the targets of asynchronous calls report; nil where nobody can.
	Tokens     entity.RunTokens
	Clock      clock.Clock
	StoreClock clock.StoreClock
	Metrics    Metrics
	Observer   completion.Observer
	// AsksSuccess: see completion.Deps.
	AsksSuccess func(job *entity.Job) bool
	// Outputs: see completion.Deps.
	Outputs completion.Outputs
	// Commits are told of what a transaction did, and tell of those of others.
	Commits   *commit.Commits
	Scheduled Scheduled
	// Lease is asked before each claim, start and batch of ends; nil always holds.
	Lease Lease
	// Beating reports whether the latest beat of the node reached the store; nil always.
	Beating func() bool
	Random  func() float64
	Logger  *slog.Logger
}

// TaskManager runs executions on this node.
type TaskManager struct {
	Deps
	cfg   Config
	epoch atomic.Int64
	slots *slots.Set
	// self is what the node can.
	self entity.Node

	mu      sync.Mutex
	runs    map[string]*active
	orphans map[string]orphanCandidate // executions seen RUNNING for us that we do not run
	// expected holds the tokens of attempts that a transaction in progress commits
	// to this node, see Expect.
	expected map[string]int64
	// recovering holds the tokens of lost attempts whose end is being stored.
	recovering map[string]int64

	// fitQueues is what the claim loop has found out about the queues of classes:
	// whether this node may take from them.
	fitQueues map[entity.Queue]bool

	// blame and passed remember runs that the store does not let this node take.
	blame  *batch.Blame
	passed *passed

	// Ends stores the ends of runs.
	Ends *completion.Completer

	wake      chan struct{}
	scheduled chan time.Time

	// executing is how many attempts are at work, without those that only wait
	// for their end to be stored.
	executing atomic.Int64
	// quiet is told when the last of them has ended.
	quiet    chan struct{}
	base     context.Context
	stopRuns context.CancelCauseFunc
	inFlight *inFlight
}

// New returns a manager for one life of a node.
func New(deps Deps, cfg Config) *TaskManager {
	cfg = cfg.withDefaults()
	if deps.Lease == nil {
		deps.Lease = always{}
	}
	base, stop := context.WithCancelCause(entity.WithRight(context.Background(), deps.Lease.Holds))
	t := &TaskManager{
		Deps: deps, cfg: cfg, slots: slots.New(entity.Slots{
			entity.SlotGeneral: cfg.Slots,
			entity.SlotCommand: cfg.CommandSlots,
		}),
		self: entity.Node{
			ID: cfg.NodeID, Labels: cfg.Labels, Slots: cfg.Slots, CommandSlots: cfg.CommandSlots,
			Handlers: cfg.Handlers, HandlersHash: entity.HandlersHash(cfg.Handlers),
		},
		runs: map[string]*active{}, orphans: map[string]orphanCandidate{}, expected: map[string]int64{},
		recovering: map[string]int64{},
		blame:      batch.NewBlame(deps.Clock, deps.Beating), passed: newPassed(deps.Clock, deps.Logger),
		fitQueues: map[entity.Queue]bool{}, inFlight: newInFlight(),
		wake:      make(chan struct{}, 1),
		quiet:     make(chan struct{}, 1),
		scheduled: make(chan time.Time, 16),
		base:      base, stopRuns: stop,
	}
	t.epoch.Store(cfg.Epoch)
	t.Ends = completion.New(completion.Deps{
		Store: deps.Store, Executions: deps.Executions, Jobs: deps.Jobs, Admitter: deps.Admitter, Clock: deps.Clock,
		StoreClock: deps.StoreClock, Metrics: deps.Metrics, Observer: deps.Observer, Commits: deps.Commits, Lease: deps.Lease,
		AsksSuccess: deps.AsksSuccess, Outputs: deps.Outputs, Beating: deps.Beating,
		Node: endings{t}, Random: deps.Random, Logger: deps.Logger,
	}, completion.Config{
		Completers: cfg.Completers, Linger: cfg.Linger, BatchSize: cfg.BatchSize,
		Capacity: cfg.Slots + cfg.CommandSlots + cfg.BatchSize,
	})
	if cfg.Idle {
		t.slots.Drain()
	}
	deps.Commits.OnCommit(t.afterCommit)
	return t
}

// always is the right of a node that nobody takes over.
type always struct{}

// Holds implements Lease.
func (always) Holds() bool { return true }

// Run claims, completes and sweeps until ctx ends, and then until every result
// that is held has been stored or refused. Call Drain before ending ctx.
func (t *TaskManager) Run(ctx context.Context) error {
	var loops, ends sync.WaitGroup
	ends.Go(t.Ends.Run)
	if !t.cfg.Idle {
		loops.Go(func() { t.claimLoop(ctx) })
	}
	loops.Go(func() { t.promoteLoop(ctx) })
	loops.Go(func() { t.flushLoop(ctx) })
	loops.Wait()
	t.inFlight.close()
	t.Ends.Close()
	ends.Wait()
	return nil
}

// Drain ends the life of this node's runs (engine rule 28): nothing new
// starts; what runs may go on for grace, then it is asked to stop and its
// attempts end as SHUTDOWN. It returns when nothing runs any more, or when ctx
// ends.
func (t *TaskManager) Drain(ctx context.Context, grace time.Duration) {
	t.slots.Drain()
	// A claim that was committed while this began must not outlive it.
	defer t.stopRuns(entity.ErrStopShutdown)
	timer := t.Clock.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-t.inFlight.idle():
		return
	case <-ctx.Done():
	case <-timer.C():
	}
	t.stopRuns(entity.ErrStopShutdown)
	select {
	case <-t.inFlight.idle():
	case <-ctx.Done():
	}
}

// NodeIdentity implements direct.Runner.
func (t *TaskManager) NodeIdentity() (nodeID string, epoch int64) {
	return t.cfg.NodeID, t.epoch.Load()
}

// Suspend keeps new runs away from the node, or lets them in again; what runs
// goes on (see entity.NodeDraining).
func (t *TaskManager) Suspend(draining bool) {
	if t.slots.Suspend(draining) && !draining {
		t.wakeClaim()
	}
}

// WaitForSlots implements firing.Slots.
func (t *TaskManager) WaitForSlots(ctx context.Context, slotWait time.Duration) int {
	return t.slots.WaitFree(ctx, t.Clock, slotWait, t.Ends.Pending)
}

// Reserve implements firing.Slots.
func (t *TaskManager) Reserve(wanted entity.Slots) entity.Slots { return t.slots.Reserve(wanted) }

// Release implements firing.Slots.
func (t *TaskManager) Release(given entity.Slots) { t.slots.Release(given) }

// afterCommit acts on what a transaction made ready, scheduled or asked to stop.
func (t *TaskManager) afterCommit(e commit.PostCommit) {
	for _, exec := range e.Stopping {
		t.stop(exec.ID, entity.ErrStopCancel, exec.Reason)
	}
	if !e.NextScheduled.IsZero() {
		t.expectScheduled(e.NextScheduled)
	}
	if e.Ready > e.ReadyCommands {
		t.RunsReady(entity.SlotGeneral)
	}
	if e.ReadyCommands > 0 {
		t.RunsReady(entity.SlotCommand)
	}
}

// Load is how many slots of a kind are taken on this node, and how many there
// are; a node that is no executor, or on its way down, has none to offer.
func (t *TaskManager) Load(kind entity.SlotKind) (running, slots int) { return t.slots.Load(kind) }

func (t *TaskManager) wakeClaim() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *TaskManager) expectScheduled(at time.Time) {
	select {
	case t.scheduled <- at:
	default: // the sweep looks by itself
	}
}
