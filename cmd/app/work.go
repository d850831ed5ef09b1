package app

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	commits "github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/detached"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dispatch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/fairness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/boottime"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/cache"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
)

// fireWorkers is how many fire transactions are prepared at once.
const fireWorkers = 2

// lingerForEnds is how long ends of runs wait for others while nothing presses.
// Three nodes that fire 1,000 runs a second on one store: p50 of the lateness
// 10 ms without, 5.8 ms with 10, 4.4 ms with 20, 4.6 ms with 25 ms.
const lingerForEnds = 20 * time.Millisecond

// cachedJobs bounds the definitions kept in memory.
const cachedJobs = 20_000

// work is what fires and runs, and the member that decides which part of it is this node's.
type work struct {
	core
	Planner *firing.JobManager
	Runner  *running.TaskManager
	Member  *membership.Member
	// Detached takes the reports of targets and ends what runs without a node.
	Detached *detached.Manager
	// Gateway gives workers their runs.
	Gateway *gateway.Gateway

	dispatch  *dispatch.Manager
	retention *maintenance.Retention
	host      *hostmetrics.Host
	// follower starts the jobs that follow others.
	follower *workflow.Follower
	// workflows lets workflow runs go on.
	workflows *follow.Follower
	// room is what is left for the store.
	room *room
	// attempts runs attempts, of stored jobs and of drafts.
	attempts running.Executor
	// successes are the jobs whose successes a rule asks for.
	successes *alerting.Successes
	// peers answers other nodes; nil where there are none.
	peers http.Handler
}

// core is what firing and running share.
type core struct {
	// Repairs mends what waits; Commits tells what transactions did.
	Repairs *maintenance.Repairer
	Commits *commits.Commits

	lease    *membership.Lease
	view     *membership.View
	compiler *schedule.Compiler
	fair     *fairness.Queue
	jobs     *cache.JobCache
	catalog  *follow.Catalog
	router   *dispatch.Router
	admitter *admission.Admitter
	closer   *maintenance.Closer
}

func newCore(b base, s storage, x *exports, n self) core {
	lease, view := membership.NewLease(boottime.Of(b.machine)), membership.NewView()
	compiler, fair := schedule.NewCompiler(), fairness.New(0)
	jobs, committed := cache.NewJobCache(s.Store.Jobs, cachedJobs), commits.NewCommits()
	catalog := &follow.Catalog{Cached: jobs.Cached, Versions: s.Store.Jobs, Runs: s.Store}
	jobs.Steps(catalog.StepJobs)
	router := dispatch.NewRouter(dispatch.RouterDeps{
		Nodes: view.Nodes, Jobs: jobs, Runs: s.Store.Executions, Workers: s.Store,
		Groups: s.Store.WorkerGroups, Now: s.Clock.Now, Self: n.node,
	})
	ends := event.NewEnds(event.Outbox{Readers: x.readers, Jobs: jobs.Latest, Steps: catalog.Known},
		monitoring.NewDigests(b.logger),
		workflow.Owed{Cached: jobs.Cached}, follow.Steps{})
	admitter := admission.NewAdmitter(compiler, fair, jobs, router, ends, s.Clock)
	return core{
		maintenance.NewRepairer(maintenance.RepairDeps{
			Store: s.Store, Claims: s.Store, Executions: s.Store.Executions, Plans: s.Store, Jobs: jobs, Admitter: admitter,
			Commits: committed, StoreClock: s.Clock, Metrics: b.Metrics, Clock: b.machine, Beating: lease.Beating,
			Steady: s.Clock.Steady(),
		}),
		committed, lease, view, compiler, fair, jobs, catalog, router, admitter,
		&maintenance.Closer{Store: s.Store, Admitter: admitter, Jobs: jobs, Clock: s.Clock},
	}
}

func newWork(b base, s storage, c *cluster, x *exports, n self, tasks *periodic.Tasks) work {
	k := newCore(b, s, x, n)
	inputs := &follow.Inputs{
		Next: redact.New(b.options.Executor, n.Secrets), Catalog: k.catalog, Runs: s.Store, Executions: s.Store.Executions,
	}
	attempts := guarded{n.gate, x.traced(&follow.Openings{
		Next: inputs, Catalog: k.catalog, Editors: s.Store.Jobs, Rights: rights{s.Store},
	})}
	successes := alerting.NewSuccesses(s.Store, expression.Language{}, b.logger)
	runner := newRunner(b, s, x, n, k, attempts, successes)
	planner := newPlanner(b, s, k, runner)
	dispatcher := dispatch.New(dispatch.Deps{
		Store: s.Store, Claims: s.Store, Registry: s.Store, Workers: s.Store, Router: k.router, Jobs: k.jobs,
		Admitter: k.admitter, Closer: k.closer,
		Commits: k.Commits, Metrics: b.Metrics, Clock: b.machine, StoreClock: s.Clock,
	})
	host, days := hostmetrics.NewHost(b.machine, "/", b.cfg.DataDir), b.cfg.Retention
	d := membership.Deps{
		Registry: s.beats, Worker: runner, Planner: planner, View: k.view, Load: loadReporter{host, s.Clock},
		Metrics: b.Metrics, Lease: k.lease, Gate: n.gate, Clock: b.machine, Logger: b.logger,
		Peers: b.options.Peers, OnChange: dispatcher.Wake, OnBeat: tasks.Watch("heartbeat", b.timing().Beat), OnLost: b.end,
	}
	if c != nil {
		c.join(b, &d, n.node)
		k.Commits.OnCommit(c.notifier.AfterCommit)
	}
	member := membership.New(d, n.node, b.timing())
	n.gate.OnChange(func(open bool) {
		member.GateTurned()
		if open {
			planner.Wake()
		}
	})
	detachedRuns := detached.New(detached.Deps{
		Store: s.Store, Tokens: s.Store, Executions: s.Store.Executions, Claims: s.Store, Jobs: k.jobs,
		Runner: runner.Ends, Sealer: s.keys, Clock: s.Clock, Steady: s.Clock.Steady(), Commits: k.Commits,
		LogLimit: entity.LogLimit, Logger: b.logger,
	})
	follower := newFollower(b, s, k, tasks)
	return work{
		k, planner, runner, member, detachedRuns, newGateway(b, s, n, k, tasks, runner, member, detachedRuns), dispatcher,
		maintenance.NewRetention(maintenance.RetentionDeps{
			Store: s.Store, Clock: b.machine, StoreClock: s.Clock, Logger: b.logger, JobVersions: days.JobVersions,
			Days: maintenance.RetentionDays{
				Executions: days.ExecutionsDays, Logs: days.LogsDays, Metrics: days.MetricsDays,
				Audit: days.AuditDays, Nodes: days.NodesDays, Alerts: days.AlertsDays,
			},
		}),
		host, follower, newWorkflows(b, s, k, x, tasks, runner, follower), newRoom(b, s, host), attempts, successes,
		c.answer(b, s, member),
	}
}

func newRunner(b base, s storage, x *exports, n self, c core, attempts running.Executor, successes *alerting.Successes,
) *running.TaskManager {
	completers := 1
	if b.cfg.Store.Driver == config.DriverMySQL {
		completers = 2
	}
	return running.New(running.Deps{
		Store: s.Store, Claims: s.Store, Executions: s.Store.Executions, Jobs: c.jobs, Admitter: c.admitter,
		Fair: c.fair, Executor: attempts, Tokens: detached.NewIssuer(s.Store, s.keys, b.machine, s.Clock),
		Clock: b.machine, StoreClock: s.Clock, Metrics: b.Metrics, Observer: x.observer(b.options.Observer),
		Commits: c.Commits, Scheduled: c.Repairs, Lease: c.lease, Beating: c.lease.Beating,
		Random: rand.Float64, AsksSuccess: successes.Asked, Outputs: c.catalog, Logger: b.logger,
	}, running.Config{
		NodeID: n.node.ID, Epoch: n.node.Epoch, Labels: n.node.Labels, Handlers: n.node.Handlers, Slots: n.node.Slots,
		CommandSlots: n.node.CommandSlots, Completers: completers, Linger: lingerForEnds,
		BatchSize: b.cfg.Engine.BatchSize, Idle: !n.node.Has(entity.RoleExecutor),
	})
}

func newFollower(b base, s storage, c core, tasks *periodic.Tasks) *workflow.Follower {
	return workflow.New(workflow.Deps{
		Store: s.Store, Todos: s.Store, Executions: s.Store.Executions, Jobs: c.jobs, Versions: s.Store.Jobs,
		Admitter: c.admitter, Commits: c.Commits, Clock: b.machine, StoreClock: s.Clock, Leads: tasks.Leads,
		Beating: c.lease.Beating, Note: tasks.Watch("follow", workflow.Interval), Logger: b.logger,
	})
}

func newWorkflows(b base, s storage, c core, x *exports, tasks *periodic.Tasks, runner *running.TaskManager,
	starts *workflow.Follower,
) *follow.Follower {
	return follow.New(follow.Deps{
		Store: s.Store, Todos: s.Store, Runs: s.Store, Executions: s.Store.Executions, Catalog: c.catalog, Jobs: c.jobs,
		Claims: s.Store, Approvals: s.Store, Electorate: electorate(s),
		Conditions: expression.Whens{}, Readers: x.readers, Starts: starts, Admitter: c.admitter,
		Slots: runner, Runner: runner, Ends: runner.Ends, Closer: c.closer,
		Commits: c.Commits, Clock: b.machine, StoreClock: s.Clock, Leads: tasks.Leads, Beating: c.lease.Beating,
		Note: tasks.Watch("follow-runs", follow.Interval), Logger: b.logger,
	})
}

func newPlanner(b base, s storage, c core, runner *running.TaskManager) *firing.JobManager {
	// Two workers everywhere: while one batch is being written, the next is
	// planned, although SQLite writes one after the other.
	workers := fireWorkers
	if b.cfg.Engine.FireWorkers > 0 {
		workers = b.cfg.Engine.FireWorkers
	}
	return firing.New(firing.Deps{
		Store: s.Store, Plans: s.Store, Groups: s.Store, Executions: s.Store.Executions, Admitter: c.admitter,
		Definitions: c.jobs, Schedules: c.compiler, Clock: b.machine, StoreClock: s.Clock, Slots: runner, Runner: runner,
		Commits: c.Commits, Owner: c.view, Lease: c.lease, Beating: c.lease.Beating, Metrics: b.Metrics, Logger: b.logger,
	}, firing.Config{
		Horizon:   time.Duration(b.cfg.Engine.HorizonMs) * time.Millisecond,
		BatchSize: b.cfg.Engine.BatchSize, Workers: workers,
	})
}
