// Package gateway connects workers with the store: it parks their polls, claims runs for them, delivers these, stores
// their beats, and takes their reports (docs/workers). Each node is a gateway; none of them owns a worker. What decides
// is in the rows: a gateway that dies loses nothing but time. Rules 18 and 19 of docs/rules.md hold for workers as
// well.
package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Jobs gives current definitions.
type Jobs interface {
	// For returns what executions go by, see entity.Definitions.
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// Ends stores ends.
type Ends interface {
	// Report returns the receipt of an end, or RETRY when ctx ends first.
	Report(ctx context.Context, f *completion.Result) delivery.Receipt
}

// Workers reads rows of workers and renews their leases.
type Workers interface {
	// WorkersByID are those of the ids that there are.
	WorkersByID(ctx context.Context, ids []string) ([]worker.Worker, error)
	BeatWorkers(ctx context.Context, gateway string, beats []repository.WorkerBeat) (refused []string, err error)
	// WorkersAlive counts those that are not DOWN, and names those that drain.
	WorkersAlive(ctx context.Context) (alive int, draining []string, err error)
}

// Groups lists all worker groups.
type Groups interface {
	WorkerGroups(ctx context.Context) ([]worker.Group, error)
}

// Claims answers questions to the claim index.
type Claims interface {
	First(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error)
	Range(ctx context.Context, r repository.ClaimRange) ([]*entity.Execution, error)
	// HeldByAll are the runs that any of the holders has, as Held gives them.
	HeldByAll(ctx context.Context, holders []string) ([]*entity.Execution, error)
}

// Logs says how far the logs go that the store has.
type Logs interface {
	LogEnds(ctx context.Context, executionIDs []string) ([]repository.LogEnd, error)
}

// Sealed knows which secrets attempts have opened, wherever they were delivered.
type Sealed interface {
	Hidings(ctx context.Context, execs []*entity.Execution) (map[string]redact.Hiding, error)
}

// Lease is the node's right to work.
type Lease interface {
	Holds() bool
}

// Expand fills the placeholders of a run's data. refused is the end of a run whose data are wrong.
type Expand func(run entity.Run) (data string, refused *entity.Outcome)

// Deps are the parts of a Gateway.
type Deps struct {
	NodeID     string
	Store      repository.Store
	Claims     Claims
	Executions repository.ExecutionReader
	Jobs       Jobs
	Logs       Logs
	Workers    Workers
	Groups     Groups
	Ends       Ends
	// Secrets opens those that jobs name, Tokens keeps what an attempt has opened, and Sealed tells of it.
	Secrets redact.Opener
	Tokens  entity.RunTokens
	Sealed  Sealed
	Expand  Expand
	Lease   Lease
	// HoldUntil is until when leases may be renewed without the store; zero while the store is there.
	HoldUntil  func() time.Duration
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Elapsed is a clock that nobody sets and that goes on while the machine sleeps.
	Elapsed func() time.Duration
	// Random is in [0, 1).
	Random func() float64
	// Watch has the node's tasks watch a loop of that name: note takes the result of each of its turns.
	Watch func(name string, interval time.Duration) (note func(err error))
	// LogLimit is the most bytes kept of one attempt's log.
	LogLimit int
	Logger   *slog.Logger
}

const (
	// claimInterval is how often the store is asked for runs although nobody told of any.
	claimInterval = time.Second
	// beatInterval is how often beats are stored: one statement for all.
	beatInterval = time.Second
	// lookInterval is how often what the workers hold is read, for cancels and for what other gateways claimed late.
	lookInterval = 3 * time.Second
	// flushInterval is how often lines, progress and checkpoints are stored.
	flushInterval = 500 * time.Millisecond
	// flushPause is the least time between two flushes: reports ask for one at once.
	flushPause = 100 * time.Millisecond
	// receiptWait is the longest wait for the receipts of a report.
	receiptWait = 2 * time.Second
	// forgetAfter is how long a session without a call is kept.
	forgetAfter = 2 * time.Minute
	// repeatTimeout is how long after its time-out an attempt is asked again to stop: its worker counts by itself.
	repeatTimeout = 10 * time.Second
	// spread is over how long the workers of a node that stops go elsewhere.
	spread = 10 * time.Second
)

// Gateway is safe for concurrent use. Run does its work until ctx ends.
type Gateway struct {
	Deps
	mu       sync.Mutex
	sessions map[life]*session
	// all are the sessions as a list, which the loops go through each second; nil when they have changed since.
	all []*session
	// epochs are those of the lives that the store has confirmed, by worker.
	epochs map[string]int64
	// leaving: the node stops, and its workers are to go elsewhere.
	leaving bool
	// closed: no report is taken any more; reports are those under way.
	closed  bool
	reports sync.WaitGroup
	timing  delivery.Timing
	// waits are the worker groups for which runs wait, as far as this node knows: a poll of another group has nothing to
	// wake the loops for. The look of each second finds the others.
	waits map[string]bool
	// groups are the worker groups as they were read last.
	groups map[string]worker.Group
	wake   chan struct{}
	blame  *batch.Blame
	loops  []loop
	// flushNow asks for a flush; flushed is closed, and made anew, after each. flushedAt is when the last one ended.
	flushNow  chan struct{}
	flushed   chan struct{}
	flushedAt time.Duration
	// lookedAt is when what the workers hold was read last; lookNow asks for it at once.
	lookedAt time.Duration
	lookNow  bool
}

// New wires the parts.
func New(d Deps) *Gateway {
	g := &Gateway{
		Deps: d, sessions: map[life]*session{}, epochs: map[string]int64{}, waits: map[string]bool{},
		wake: make(chan struct{}, 1), blame: batch.NewBlame(d.Clock, nil),
		timing: delivery.TimingFor(0), flushNow: make(chan struct{}, 1), flushed: make(chan struct{}),
	}
	for _, l := range []loop{
		{"worker-claims", claimInterval, g.wake, g.work, nil},
		{"worker-beats", beatInterval, nil, g.beat, nil},
		{"worker-logs", flushInterval, g.flushNow, g.flush, nil},
	} {
		l.note = g.Watch(l.name, l.interval)
		g.loops = append(g.loops, l)
	}
	return g
}

// loop takes a turn at intervals, and when it is woken.
type loop struct {
	name     string
	interval time.Duration
	wake     <-chan struct{}
	turn     func(ctx context.Context) error
	note     func(err error)
}

// Run works until ctx ends.
func (g *Gateway) Run(ctx context.Context) {
	var loops sync.WaitGroup
	for _, l := range g.loops {
		loops.Go(func() { l.run(ctx, g.Clock) })
	}
	loops.Wait()
}

func (l loop) run(ctx context.Context, c clock.Clock) {
	timer := c.NewTimer(l.interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-timer.C():
		}
		if err := batch.Guard(func() error { return l.turn(ctx) }); err == nil || ctx.Err() == nil {
			l.note(err)
		}
		timer.Reset(l.interval)
	}
}

// Timing is what workers are told: how often to call, and how long their lease is.
func (g *Gateway) Timing() delivery.Timing {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.timing
}
