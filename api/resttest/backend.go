// Package resttest gives tests of the REST edge the real services over a SQLite store of
// their own, which holds accounts. The test moves the clock. No loop of the engine runs unless the test starts it.
package resttest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/approval"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/idempotency"
	"github.com/platform-scheduler/platform-scheduler/application/service/live"
	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/auth"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Noon is when the clock of a Backend begins, unless the test gives one.
var Noon = enginetest.Noon

// Handler is the class of the node's own handler, which takes any data.
const Handler = "settle"

// Backend is a node with the services in front of it. Its Faults fail the writes of jobs,
// executions and backfills on demand.
type Backend struct {
	*servicetest.Desk
	Definitions *definition.DefinitionService
	// Gateway answers workers.
	Gateway *Gateway
	checker *executor.DistributedExecutor
}

// New makes a Backend over a store of its own.
func New(t *testing.T, o enginetest.Options) *Backend {
	t.Helper()
	data, err := seeded()
	require.NoError(t, err)
	if o.Clock == nil {
		o.Clock = clocktest.NewManual(Noon)
	}
	if o.Handlers == nil {
		o.Handlers = []string{Handler}
	}
	cfg := dbtest.SQLiteFrom(t, data)
	cfg.Clock = o.Clock
	n := enginetest.On(t, dbtest.Open(t, cfg), o)
	registry := custom.New(n.Clock)
	require.NoError(t, registry.Register(Handler, sdk.HandlerFunc(func(context.Context, *sdk.Run) error { return nil })))
	checker := executor.New(
		map[entity.JobType]executor.Executor{
			entity.JobCustom: registry,
			entity.JobHTTP:   httpcall.New(n.Clock, httpcall.Settings{Reports: true}),
		},
		map[entity.JobType]executor.Checker{entity.JobCommand: command.New(n.Clock, nil, command.Settings{})},
	)
	b := &Backend{Desk: servicetest.With(t, n, checker), Gateway: &Gateway{}, checker: checker}
	channels := b.channels(slog.New(slog.DiscardHandler))
	b.Alerting = b.SettingsOf(channels.opener, channels.seals, channels.renderer)
	b.Definitions = definition.NewDefinitionService(n.Store.Jobs, b.Jobs.ForDocuments(), b.Groups, b.Secrets, b.Alerting)
	return b
}

// Deps are the parts of a Router over these services.
func (b *Backend) Deps(log *slog.Logger) api.Deps {
	hasher := auth.NewArgon2(2)
	language := expression.Language{}
	entries := audit.NewAuditService(b.Store, b.Clock)
	channels := b.channels(log)
	health := monitor.NewMonitorService(b.Store, NoTasks{}, b.Clock)
	tokens := worker.NewAuthenticator(b.Store.WorkerGroups, b.Clock)
	return api.Deps{
		Jobs: b.Jobs, Executions: b.Executions, Groups: b.Groups, Definitions: b.Definitions,
		Approvals: &approval.ApprovalService{
			Approvals: b.Store, Executions: b.Store.Executions, Jobs: b.Store.Jobs, Ballots: b.Ballots,
		},
		Backfills: b.Backfills, WorkflowRuns: b.WorkflowRuns, Secrets: b.Secrets,
		Auth:  access.NewAuthService(b.Store, b.Store, b.Store, entries, hasher, b.Clock),
		Users: access.NewUserService(b.Store, b.Store, hasher, b.Clock), Tokens: access.NewTokenService(b.Store, b.Clock),
		Monitor: health, Nodes: node.NewNodeService(b.Store, ""),
		Calls: idempotency.NewCallKeeper(b.Store, b.Clock), Audit: entries,
		Reports: b.Detached, Checker: b.checker, Clock: b.Clock, Logger: log, TimeZone: "UTC",
		Overview: b.Overview(health, nil),
		Statistics: &statistics.StatisticsService{
			Sums: b.Store.Statistics, Baselines: b.Store.Statistics, Jobs: b.Store.Jobs, Clock: b.Time, Zone: time.UTC,
		},
		Loads: monitor.NewLoadService(monitor.LoadDeps{
			Jobs: b.Store, Schedules: b.Schedules, Clock: b.Time,
			Machine: b.Clock,
		}),
		Worker: api.WorkerDeps{
			Workers: worker.NewWorkerService(worker.Deps{
				Workers: b.Store, Groups: b.Store.WorkerGroups, Timing: b.Gateway.Timing, Clock: b.Clock, Logger: log,
			}),
			Groups: worker.NewGroupService(worker.GroupDeps{
				Groups: b.Store.WorkerGroups, Nodes: b.Store, Auth: tokens, Clock: b.Clock,
			}), Tokens: tokens, Gateway: b.Gateway,
			AllowPlain: true,
		},
		Series: metric.NewMetricService(b.Store, b.Time),
		Live:   b.Feed(b.Clock),
		Alerts: &alerting.AlertService{
			Store: b.Store, Alerts: b.Store, Deliveries: b.Store, Clock: b.Time,
		},
		Alerting: b.Alerting,
		Drafts: trial.New(trial.Deps{
			Checker: b.Jobs, Runner: b.checker, Clock: b.Clock, StoreClock: b.Time, NodeID: "node-1",
		}),
		Trials:   channel.NewTrials(b.Store, channels.notifier, b.Clock),
		Previews: alerting.NewPreviews(channels.renderer.Quick(), notify.Types(), b.Clock, nil),
		DryRuns: alerting.NewDryRunService(dryrun.New(dryrun.Deps{
			Runs: b.Store.Executions, Jobs: b.Store, Metrics: b.Store, Expressions: language, Clock: b.Time,
			Zone: time.UTC, Grace: time.Minute,
		}), nil),
		Explain: &explain.ExplainService{
			Ledger:     b.Executions.Fires,
			Jobs:       b.Store.Jobs,
			Standing:   explain.StandingOf(b.WorkflowRuns.Standing),
			Executions: b.Store.Executions,
			Groups:     b.Store,
			Nodes:      b.Store,
			Workers:    b.Store, WorkerGroups: b.Store.WorkerGroups,
			Alerts:    b.Store,
			Chains:    b.Store,
			Schedules: b.Schedules,
			Clock:     b.Time,
		},
	}
}

// Feed tells what changes in the store, by a clock of the machine.
func (b *Backend) Feed(machine clock.Clock) *live.Feed { return b.FeedOf(machine, b.Store.Statistics) }

// FeedOf is Feed with another reader of changes.
func (b *Backend) FeedOf(machine clock.Clock, changes repository.Changes) *live.Feed {
	return live.NewFeed(live.Deps{
		Changes: changes, Audit: b.Store, Alerts: b.Store, Clock: b.Time, Machine: machine,
		Nodes: func() []entity.Node { return nil }, Logger: slog.New(slog.DiscardHandler),
	})
}

// Lateness is how late runs started on this node; none has when it is nil.
type Lateness func() (p50, p99 time.Duration)

// Lateness implements the measure of monitor.OverviewDeps.
func (l Lateness) Lateness() (p50, p99 time.Duration, known bool) {
	if l == nil {
		return 0, 0, false
	}
	p50, p99 = l()
	return p50, p99, true
}

// Overview shows the troubles of a monitor. This node is the leader.
func (b *Backend) Overview(health *monitor.MonitorService, late Lateness) *monitor.OverviewService {
	return monitor.NewOverviewService(monitor.OverviewDeps{
		Counts: b.Store, Nodes: b.Store, Leader: func(context.Context) (string, error) { return b.ID(), nil },
		Monitor: health, Lateness: late, Clock: b.Time, Machine: b.Clock,
	})
}

// NoTasks are the periodic tasks of a node on which nothing runs by itself.
type NoTasks struct{}

// Statuses implements monitor.Tasks.
func (NoTasks) Statuses() []periodic.Status { return nil }
