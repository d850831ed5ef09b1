// Package app is the composition root: it wires the parts of a node, and starts and
// stops them.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	commits "github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/membership"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/detached"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dispatch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring/missed"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/application/service/idempotency"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/live"
	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/fairness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/boottime"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/cache"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	keyring "github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/ticker"
)

// Options are what a program gives the engine beside the configuration.
type Options struct {
	// Clock is the machine's when nil.
	Clock clock.Clock
	// Executor runs attempts and checks definitions.
	Executor Executor
	// Processes are helper processes of the executors; may be nil.
	Processes Processes
	// Observer receives ended runs; may be nil.
	Observer completion.Observer
	// Publisher receives what the outbox holds for the brokers; nil is Kafka, where
	// brokers are configured.
	Publisher maintenance.Publisher
	// Startup receives what the start waits for; may be nil.
	Startup *StartupStatus
	Logger  *slog.Logger
	// Port is where a server answers the other nodes; 0 is an engine alone, which
	// opens its own peerServer.
	Port int
}

// Executor runs attempts and checks the executor's part of definitions. What it
// can stays as it is from NewEngine on.
type Executor interface {
	running.Executor
	job.DefinitionChecker
	// Handlers are its own handlers, sorted; those that are built in are not
	// among them.
	Handlers() []string
	// CommandSlots is how many commands it runs at once; 0 where it runs none.
	CommandSlots() int
}

// Processes are helpers of executors.
type Processes interface {
	// Prepare ends what a former life of the node left.
	Prepare()
	// Isolation is what holds for them; ok is false when there are none.
	Isolation() (i metrics.Isolation, ok bool)
	// Off says why there are none on a node that should have them, or nothing.
	Off() string
	// Exposed: they run as the server's own user.
	Exposed() bool
	// Close ends the helpers, when nothing runs any more.
	Close() error
}

// Engine is a node without its REST edge: the store, the use cases and the
// loops. Make it with NewEngine, then Start, then Stop.
type Engine struct {
	Store      *persistence.Store
	Jobs       *job.JobService
	Executions *execution.ExecutionService
	Monitor    *monitor.MonitorService
	Secrets    *secret.SecretService
	Groups     *group.GroupService
	Backfills  *execution.BackfillService
	Overview   *monitor.OverviewService
	Loads      *monitor.LoadService
	Statistics *statistics.StatisticsService
	Series     *metric.MetricService
	Live       *live.Feed
	Alerting   Alerting
	Explain    *explain.ExplainService
	Drafts     *trial.Trials
	Nodes      *node.NodeService
	Calls      *idempotency.CallKeeper
	Audit      *audit.AuditService
	Metrics    *metrics.MetricsCollector
	Clock      *storeclock.Clock
	Planner    *firing.JobManager
	Runner     *running.TaskManager
	// Repairs mends what waits; Commits tells what transactions did.
	Repairs *maintenance.Repairer
	Commits *commits.Commits
	// Detached takes the reports of targets and ends what runs without a node.
	Detached *detached.Manager
	Member   *membership.Member
	// Definitions exchanges jobs as documents.
	Definitions *definition.DefinitionService

	cfg       config.Config
	processes Processes
	machine   clock.Clock
	logger    *slog.Logger
	checker   job.DefinitionChecker
	folder    *datafolder.Folder
	keys      *keyring.Keyring
	cluster   *cluster
	events    *events
	alerts    *alerts
	reactions *reactions
	usual     *monitoring.Usual
	slow      *monitoring.Slow
	zone      *time.Location
	notifying *notifying
	host      *hostmetrics.Host
	collector *monitoring.Collector
	beats     *registry.Beats
	ticker    *ticker.Ticker
	backfills *backfill.Manager
	retention *maintenance.Retention
	fold      *monitoring.Fold
	missed    *missed.Search
	dispatch  *dispatch.Manager
	// exposure is nil unless commands run as the server's own user.
	exposure *monitor.CommandExposure
	lost     chan error
	// members are the loops of the member, which go on until the very last.
	members     sync.WaitGroup
	peerServers sync.WaitGroup
	stopMembers context.CancelFunc
	// stopped is since when the node is on its way down, nil before.
	stopped atomic.Pointer[time.Time]
	startup *StartupStatus
	loops   sync.WaitGroup
	// planning is the planner's loop. It ends before the runner drains: a fire
	// transaction in progress may still start runs.
	planning sync.WaitGroup
	// leading is the loop that stands for election.
	leading  sync.WaitGroup
	stopLead context.CancelFunc
	stopPlan context.CancelFunc
	stopRun  context.CancelFunc
}

// fireWorkers is how many fire transactions are prepared at once.
const fireWorkers = 2

// lingerForEnds is how long ends of runs wait for others while nothing presses.
// Three nodes that fire 1,000 runs a second on one store: p50 of the lateness
// 10 ms without, 5.8 ms with 10, 4.4 ms with 20, 4.6 ms with 25 ms.
const lingerForEnds = 20 * time.Millisecond

// cachedJobs bounds the definitions kept in memory.
const cachedJobs = 20_000

// NewEngine opens the store and wires the parts. Nothing runs before Start.
func NewEngine(ctx context.Context, cfg config.Config, o Options) (e *Engine, err error) {
	if o.Clock == nil {
		o.Clock = clock.NewSystem()
	}
	if o.Startup == nil {
		o.Startup = &StartupStatus{}
	}
	e = &Engine{
		startup: o.Startup, cfg: cfg, processes: o.Processes, machine: o.Clock, logger: o.Logger, checker: o.Executor,
		Metrics: metrics.New(o.Clock, jobLabels(cfg)),
		lost:    make(chan error, 1),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.folder, err = datafolder.Open(cfg.DataDir); err != nil {
		return e, err
	}
	for _, what := range e.folder.Mended {
		o.Logger.Warn(what)
	}
	if e.events, err = openEvents(e, o); err != nil {
		return e, err
	}
	err = e.retryUntilReady(ctx, "the store", func(ctx context.Context) (err error) {
		e.Store, err = persistence.Open(ctx, storeConfig(cfg, e.folder, o, e.Metrics, e.events.added))
		return err
	}, connect.Waitable)
	if err != nil {
		return e, err
	}
	if err = e.openCluster(ctx, cfg); err != nil {
		return e, err
	}
	e.host = hostmetrics.NewHost(o.Clock, "/", cfg.DataDir)
	e.Clock = storeclock.New(o.Clock, e.timeSource())
	if err = e.Clock.Measure(ctx); err != nil {
		return e, err
	}
	if e.beats, err = e.Store.Beats(cfg.Node.ID, e.timing().Lease/3, e.timing().Lease); err != nil {
		return e, err
	}
	if err = e.cluster.open(ctx, e, o.Port); err != nil {
		return e, err
	}
	node, err := e.nodeOf(cfg, o.Executor)
	if err != nil {
		return e, err
	}
	if err = e.acquireNodeID(ctx, node.ID); err != nil {
		return e, err
	}
	if o.Processes != nil {
		o.Processes.Prepare()
		e.showIsolation(o.Processes)
		if o.Processes.Exposed() {
			e.exposure = monitor.NewCommandExposure(e.Store, o.Logger)
		}
	}
	if node.Epoch, err = e.Store.Register(ctx, node); err != nil {
		return e, fmt.Errorf("enter the node %s into the registry: %w", node.ID, err)
	}
	if err = e.openSecrets(ctx, cfg); err != nil {
		return e, err
	}
	if e.ticker, err = ticker.New(); err != nil {
		return e, err
	}
	e.cluster.elect(e, node)
	tasks := periodic.NewTasks(o.Clock, e.ticker, e.cluster.leadership(), o.Logger)
	lease, view := membership.NewLease(boottime.Of(o.Clock)), membership.NewView()
	compiler := schedule.NewCompiler()
	fair := fairness.New(0)
	jobs := cache.NewJobCache(e.Store.Jobs, cachedJobs)
	router := dispatch.NewRouter(dispatch.RouterDeps{
		Nodes: view.Nodes, Jobs: jobs, Runs: e.Store.Executions, Self: node,
	})
	ends := event.NewEnds(event.Outbox{Readers: e.events.readers}, monitoring.NewDigests(o.Logger))
	admitter := admission.NewAdmitter(compiler, fair, jobs, router, ends)
	parallel := 1
	if cfg.Store.Driver == config.DriverMySQL {
		parallel = 2
	}
	secrets := e.events.traced(redact.New(o.Executor, e.Secrets))
	e.Commits = commits.NewCommits()
	e.Repairs = maintenance.NewRepairer(maintenance.RepairDeps{
		Store: e.Store, Claims: e.Store, Plans: e.Store, Jobs: jobs, Admitter: admitter, Commits: e.Commits,
		StoreClock: e.Clock, Metrics: e.Metrics,
	})
	e.Runner = running.New(running.Deps{
		Store: e.Store, Claims: e.Store, Executions: e.Store.Executions, Jobs: jobs, Admitter: admitter,
		Fair: fair, Executor: secrets, Tokens: detached.NewIssuer(e.Store, e.keys, o.Clock, e.Clock), Clock: o.Clock,
		StoreClock: e.Clock, Metrics: e.Metrics,
		Observer: e.events.observer(o.Observer), Commits: e.Commits, Scheduled: e.Repairs, Lease: lease,
		Random: rand.Float64, AsksSuccess: e.asksSuccess, Logger: o.Logger,
	}, running.Config{
		NodeID: node.ID, Epoch: node.Epoch, Labels: node.Labels, Handlers: node.Handlers, Slots: node.Slots,
		CommandSlots: node.CommandSlots,
		Completers:   parallel, Linger: lingerForEnds, BatchSize: cfg.Engine.BatchSize, Idle: !node.Has(entity.RoleExecutor),
	})
	e.Detached = detached.New(detached.Deps{
		Store: e.Store, Tokens: e.Store, Executions: e.Store.Executions, Claims: e.Store, Jobs: jobs, Runner: e.Runner.Ends,
		Sealer: e.keys,
		Clock:  e.Clock, LogLimit: entity.LogLimit, Logger: o.Logger,
	})
	closer := &maintenance.Closer{Store: e.Store, Admitter: admitter, Jobs: jobs, Clock: e.Clock}
	e.dispatch = dispatch.New(dispatch.Deps{
		Store: e.Store, Claims: e.Store, Registry: e.Store, Jobs: jobs, Admitter: admitter, Closer: closer,
		Commits: e.Commits,
		Metrics: e.Metrics, Clock: o.Clock, StoreClock: e.Clock,
	})
	// Two workers everywhere: while one batch is being written, the next is
	// planned, although SQLite writes one after the other.
	workers := fireWorkers
	if cfg.Engine.FireWorkers > 0 {
		workers = cfg.Engine.FireWorkers
	}
	e.Planner = firing.New(firing.Deps{
		Store: e.Store, Plans: e.Store, Groups: e.Store, Executions: e.Store.Executions, Admitter: admitter,
		Definitions: jobs, Schedules: compiler,
		Clock: o.Clock, StoreClock: e.Clock, Slots: e.Runner, Runner: e.Runner, Commits: e.Commits, Owner: view, Lease: lease,
		Metrics: e.Metrics, Logger: o.Logger,
	}, firing.Config{
		Horizon:   time.Duration(cfg.Engine.HorizonMs) * time.Millisecond,
		BatchSize: cfg.Engine.BatchSize, Workers: workers,
	})
	e.Member = e.member(node, lease, view, tasks.Watch("heartbeat", e.timing().Beat))
	e.cluster.answer(e)
	e.retention = maintenance.NewRetention(maintenance.RetentionDeps{
		Store: e.Store, Clock: o.Clock, StoreClock: e.Clock, Logger: o.Logger, JobVersions: cfg.Retention.JobVersions,
		Days: maintenance.RetentionDays{
			Executions: cfg.Retention.ExecutionsDays, Logs: cfg.Retention.LogsDays, Metrics: cfg.Retention.MetricsDays,
			Audit: cfg.Retention.AuditDays, Nodes: cfg.Retention.NodesDays, Alerts: cfg.Retention.AlertsDays,
		},
	})
	if err := e.openNotifying(ctx, tasks); err != nil {
		return e, err
	}
	if err := e.addUp(); err != nil {
		return e, err
	}
	if e.reactions, err = newReactions(e, e.notifying.planned); err != nil {
		return e, err
	}
	e.alerts = newAlerts(e, tasks, e.notifying.planned)
	e.events.wire(e, tasks)
	e.wireServices(admitter, compiler, closer, o.Executor, tasks, jobs)
	e.Drafts = e.newTrials(secrets, node)
	return e, e.addTasks(tasks)
}

// wireServices makes the use cases.
func (e *Engine) wireServices(admitter *admission.Admitter, compiler *schedule.Compiler, closer *maintenance.Closer,
	checker job.DefinitionChecker, tasks *periodic.Tasks, jobs *cache.JobCache,
) {
	events := engineEvents{e}
	e.Jobs = job.NewJobService(job.JobDeps{
		Store: e.Store, Jobs: e.Store.Jobs, Plans: e.Store, Claims: e.Store, Admitter: admitter, Schedules: compiler,
		Checker: checker, Secrets: e.Secrets,
		Engine: events, Channels: e.Store, Clock: e.Clock, TimeZone: e.cfg.Server.TimeZone, Logger: e.logger,
		Latest: jobs.Latest, EventReaders: entity.EventReaders{Kafka: e.events.readers.Kafka},
	})
	e.Groups = group.NewGroupService(e.Store, e.Jobs, e.Planner, e.Clock, e.logger)
	e.backfills = backfill.New(backfill.Deps{
		Store: e.Store, Backfills: e.Store, Admitter: admitter, Schedules: compiler, Commits: e.Commits, Clock: e.machine,
		StoreClock: e.Clock,
	})
	e.Backfills = execution.NewBackfillService(execution.BackfillDeps{
		Store: e.Store, Backfills: e.Store, Jobs: e.Store.Jobs, Admitter: admitter, Schedules: compiler, Starter: e.backfills,
		Clock: e.Clock, Logger: e.logger,
	})
	e.Definitions = definition.NewDefinitionService(e.Store.Jobs, e.Jobs, e.Groups, e.Secrets, e.Store)
	e.Executions = execution.NewExecutionService(execution.ExecutionDeps{
		FailureRows: e.Store.Executions,
		Store:       e.Store, Executions: e.Store.Executions, Records: e.Store, Jobs: e.Store.Jobs, Firer: e.Jobs,
		Schedules: compiler, Closer: closer, Detached: e.Detached, Engine: events, Clock: e.Clock,
	})
	e.Explain = e.explainer(compiler)
	e.Nodes = node.NewNodeService(e.Store)
	e.Calls = idempotency.NewCallKeeper(e.Store, e.StoreTime())
	e.Audit = audit.NewAuditService(e.Store, e.StoreTime())
	e.Monitor = monitor.NewMonitorService(e.Store, tasks, e.machine, e.parts()...)
	e.Overview = monitor.NewOverviewService(monitor.OverviewDeps{
		Counts: e.Store, Nodes: e.Store, Leader: e.leader, Monitor: e.Monitor, Lateness: e.Metrics, Clock: e.Clock,
		Machine: e.machine,
	})
	e.Loads = monitor.NewLoadService(monitor.LoadDeps{
		Jobs: e.Store, Schedules: compiler, Clock: e.Clock,
		Machine: e.machine,
	})
	e.Series = metric.NewMetricService(e.Store, e.Clock)
	e.Live = live.NewFeed(live.Deps{
		Changes: e.Store.Statistics, Audit: e.Store, Alerts: e.Store, Nodes: e.Member.Nodes, Clock: e.Clock,
		Machine: e.machine, Logger: e.logger,
	})
	e.Alerting = newAlerting(e, e.fold.Zone)
	e.watchMetrics(tasks)
}
