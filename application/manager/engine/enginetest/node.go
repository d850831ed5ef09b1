// Package enginetest gives tests of the engine a node to steer: a real store
// and the real managers, a clock that stands still until the test moves it, an
// executor that does what the test says, and a store that fails on demand.
package enginetest

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/detached"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dispatch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/approval"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/fairness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/cache"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Noon is when the clocks of the nodes begin, in UTC.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Options are what a test may want otherwise; zero values take the defaults of
// a node named node-1 in its first epoch, with 64 slots.
type Options struct {
	// StoreTime is the store's clock; nil is the node's own. Measure it first.
	StoreTime repository.TimeSource
	NodeID    string
	Epoch     int64
	Slots     int
	// CommandSlots is how many commands run at once; none run by default.
	CommandSlots int
	// Handlers are the node's own, sorted.
	Handlers  []string
	Labels    map[string]string
	Weight    int
	BatchSize int
	LogLimit  int
	PlanLimit int
	MaxHeld   int
	// Key makes the key of secrets that the node has.
	Key byte
	// Linger is running.Config's, by the test's clock.
	Linger time.Duration
	// Ends observe the ends of executions, behind the outbox.
	Ends []event.EndObserver
	// Clock is shared by the nodes of one test; a new one at Noon when nil.
	Clock *clocktest.Manual
}

// Node is one node's engine, without its intervals: nothing happens by itself
// but what Start begins. A test calls Planner.Scan, Planner.FireDue and the
// sweeps of Repairs, or Fire for the usual round.
type Node struct {
	Store    *persistence.Store
	Faults   *Faults
	Clock    *clocktest.Manual
	Admitter *admission.Admitter
	Jobs     *cache.JobCache
	Planner  *firing.JobManager
	Runner   *running.TaskManager
	// Repairs are swept when the test says; Commits tells what transactions did.
	Repairs *maintenance.Repairer
	Commits *commit.Commits
	// Detached takes reports and is swept when the test says; Tokens issues what
	// targets report with.
	Detached *detached.Manager
	Tokens   *detached.Issuer
	// Vault holds the secrets that the node sees.
	Vault *Vault
	// Dispatch is swept when the test says.
	Dispatch *dispatch.Manager
	// Closer ends what waits.
	Closer *maintenance.Closer
	// Flow lets workflow runs go on when the test says.
	Flow *follow.Follower
	// Electorate says who has a vote in approvals, Ballots take the votes.
	Electorate *approval.Electorate
	Ballots    *approval.Ballots
	// Catalog gives the versions of workflows.
	Catalog *follow.Catalog
	// Openings asks for the rights of who saved a workflow; a test may put others in before Start.
	Openings *follow.Openings
	Script   *Script
	Counts   *Counts

	Schedules *schedule.Compiler
	Time      *storeclock.Clock
	// Lease is the node's right to work, which a test takes away and gives back.
	Lease *Lease
	owned *ownership
	guard *endGuard

	self entity.Node
	view atomic.Pointer[[]entity.Node]
}

// New is a node on a new SQLite store.
func New(t testing.TB, o Options) *Node {
	t.Helper()
	if o.Clock == nil {
		o.Clock = clocktest.NewManual(Noon)
	}
	cfg := dbtest.SQLite(t)
	cfg.Clock = o.Clock
	return On(t, dbtest.Open(t, cfg), o)
}

// On is a node on a store that other nodes may share. Of a MySQL store the
// server's own clock is not asked: time is what the test says.
func On(t testing.TB, store *persistence.Store, o Options) *Node {
	t.Helper()
	if o.Clock == nil {
		o.Clock = clocktest.NewManual(Noon)
	}
	if o.NodeID == "" {
		o.NodeID = "node-1"
	}
	if o.Epoch == 0 {
		o.Epoch = 1
	}
	if o.Slots == 0 {
		o.Slots = 64
	}
	guard := newEndGuard(store, t.Error)
	n := &Node{
		Store: store, guard: guard, Faults: NewFaults(guard), Clock: o.Clock, Script: NewScript(), Counts: &Counts{},
		Vault: &Vault{}, owned: &ownership{}, Lease: &Lease{}, Commits: commit.NewCommits(),
		Jobs: cache.NewJobCache(store.Jobs, 1000), Schedules: schedule.NewCompiler(),
	}
	n.Time = storeclock.New(o.Clock, o.StoreTime)
	n.describe(o)
	fair := fairness.New(0)
	router := dispatch.NewRouter(dispatch.RouterDeps{
		Nodes: n.seen, Jobs: n.Jobs, Runs: store.Executions, Workers: store,
		Groups: store.WorkerGroups, Now: n.Time.Now, Self: n.self,
	})
	catalog := &follow.Catalog{Cached: n.Jobs.Cached, Versions: store.Jobs, Runs: store}
	n.Catalog = catalog
	n.Jobs.Steps(catalog.StepJobs)
	n.Admitter = admission.NewAdmitter(n.Schedules, fair, n.Jobs, router, event.NewEnds(append([]event.EndObserver{
		event.Outbox{
			Readers: entity.EventReaders{Rules: true, Kafka: true}, Jobs: n.Jobs.Latest, Steps: catalog.Known,
		}, guard, follow.Steps{},
	}, o.Ends...)...), n.Time)
	logger := slog.New(slog.DiscardHandler)
	n.Openings = &follow.Openings{
		Next: &follow.Inputs{
			Next: redact.New(opening{n.Script}, n.Vault), Catalog: catalog, Runs: store, Executions: store.Executions,
		},
		Catalog: catalog, Editors: store.Jobs, Rights: everyRight{store},
	}
	keys := Keys(t, o.Key)
	n.Tokens = detached.NewIssuer(n.Faults, keys, o.Clock, n.Time)
	n.Repairs = maintenance.NewRepairer(maintenance.RepairDeps{
		Store: n.Faults, Claims: store, Executions: store.Executions, Plans: store, Jobs: n.Jobs, Admitter: n.Admitter,
		Commits: n.Commits, StoreClock: n.Time, Metrics: n.Counts, Clock: o.Clock, Steady: n.Time.Steady(),
	})
	n.Runner = running.New(running.Deps{
		Store: n.Faults, Claims: store, Executions: store.Executions, Jobs: n.Jobs, Admitter: n.Admitter,
		Fair: fair, Executor: n.Openings, Tokens: n.Tokens, Clock: o.Clock, StoreClock: n.Time, Metrics: n.Counts,
		Lease:   n.Lease,
		Commits: n.Commits, Scheduled: n.Repairs, Random: func() float64 { return 0.5 }, Logger: logger,
		Outputs: catalog,
	}, running.Config{
		NodeID: o.NodeID, Epoch: o.Epoch, Labels: o.Labels, Handlers: o.Handlers, Slots: o.Slots,
		CommandSlots: o.CommandSlots, BatchSize: o.BatchSize,
		LogLimit: o.LogLimit, Linger: o.Linger,
	})
	n.Planner = firing.New(firing.Deps{
		Store: n.Faults, Plans: store, Groups: store, Executions: store.Executions, Admitter: n.Admitter, Definitions: n.Jobs,
		Schedules: n.Schedules, Clock: o.Clock, StoreClock: n.Time, Slots: n.Runner, Runner: n.Runner, Commits: n.Commits,
		Owner: n.owned, Lease: n.Lease,
		Metrics: n.Counts, Logger: logger,
	}, firing.Config{
		BatchSize: o.BatchSize, PlanLimit: o.PlanLimit, MaxHeld: o.MaxHeld, SlotWait: -1,
	})
	n.Detached = detached.New(detached.Deps{
		Store: n.Faults, Tokens: store, Executions: store.Executions, Claims: store, Jobs: n.Jobs, Runner: n.Runner.Ends,
		Sealer: keys,
		Steady: n.Time.Steady(), Commits: n.Commits,
		Clock: n.Time, LogLimit: max(o.LogLimit, entity.LogLimit), Logger: logger,
	})
	n.Closer = &maintenance.Closer{Store: n.Faults, Admitter: n.Admitter, Jobs: n.Jobs, Clock: n.Time}
	n.Dispatch = dispatch.New(dispatch.Deps{
		Store: n.Faults, Claims: store, Registry: store, Workers: store, Router: router, Jobs: n.Jobs,
		Admitter: n.Admitter, Closer: n.Closer, Commits: n.Commits,
		Metrics: n.Counts, Clock: o.Clock, StoreClock: n.Time,
	})
	starts := workflow.New(workflow.Deps{
		Store: n.Faults, Todos: store, Executions: store.Executions, Jobs: n.Jobs, Versions: store.Jobs,
		Admitter: n.Admitter, Commits: n.Commits, Clock: o.Clock, StoreClock: n.Time,
		Leads: func() bool { return true }, Note: func(error) {}, Logger: logger,
	})
	n.Electorate = &approval.Electorate{Users: store, Teams: store, Holds: func(u entity.User, _ string) bool {
		return u.Role == entity.RoleAdmin || u.Role == entity.RoleOperator
	}}
	n.Flow = follow.New(follow.Deps{
		Store: n.Faults, Todos: store, Runs: store, Executions: store.Executions, Catalog: catalog, Jobs: n.Jobs,
		Claims: store, Approvals: store,
		Electorate: n.Electorate,
		Conditions: expression.Whens{}, Readers: entity.EventReaders{Rules: true, Kafka: true}, Starts: starts,
		Admitter: n.Admitter, Slots: n.Runner, Runner: n.Runner, Ends: n.Runner.Ends, Closer: n.Closer,
		Commits: n.Commits, Clock: o.Clock, StoreClock: n.Time,
		Leads: func() bool { return true }, Note: func(error) {}, Logger: logger,
	})
	n.Ballots = &approval.Ballots{Store: n.Faults, Admitter: n.Admitter, Clock: n.Time}
	n.join(t)
	return n
}

// everyRight is of all users alike.
type everyRight struct{ *persistence.Store }

// Allows implements follow.Rights.
func (everyRight) Allows(entity.User, string, string) bool { return true }

// opening opens workflow runs, and leaves all other attempts to the script.
type opening struct{ *Script }

func (o opening) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	if run.Job.Type == entity.JobWorkflow {
		return (&executor.Opener{}).Run(ctx, run, rep)
	}
	if run.Job.Type == wf.WaitType {
		return executor.Waiter{}.Run(ctx, run, rep)
	}
	return o.Script.Run(ctx, run, rep)
}

// Start runs the runner's loops until the test ends: runs are claimed and
// completed as they come. It returns a function that stops them earlier, the
// way a node stops without grace.
func (n *Node) Start(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = n.Runner.Run(ctx)
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		n.Script.End()
		n.Runner.Drain(ctx, 0)
		cancel()
		n.awaitEnd(t, done)
	}
	t.Cleanup(stop)
	return stop
}

// Fire scans and fires until nothing is due any more.
func (n *Node) Fire(t testing.TB) {
	t.Helper()
	_, err := n.Planner.Scan(t.Context())
	require.NoError(t, err)
	for {
		jobs, err := n.Planner.FireDue(t.Context())
		require.NoError(t, err)
		if jobs == 0 {
			return
		}
	}
}

// FireAt moves the clock to a moment and fires what is due then.
func (n *Node) FireAt(t testing.TB, at time.Time) {
	t.Helper()
	n.Clock.Advance(at.Sub(n.Clock.Now()))
	n.Fire(t)
}

// awaitEnd waits for the runner's loops. Time goes on meanwhile: an end that the
// store has refused is sent again after an interval.
func (n *Node) awaitEnd(t testing.TB, done <-chan struct{}) {
	t.Helper()
	n.Pass(t, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}, "the runner's loops end")
}

// ownership is the partitions of a node; nil until the test divides them.
type ownership struct {
	mu   sync.Mutex
	mine []int
}

// Partitions implements firing.Owner.
func (o *ownership) Partitions() []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mine
}

// Own gives the node these partitions and no others.
func (n *Node) Own(partitions ...int) {
	n.owned.mu.Lock()
	defer n.owned.mu.Unlock()
	n.owned.mine = append([]int{}, partitions...)
}
