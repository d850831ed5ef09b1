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
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/idempotency"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/auth"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
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
	checker     *executor.DistributedExecutor
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
	b := &Backend{Desk: servicetest.With(t, n, checker), checker: checker}
	b.Definitions = definition.NewDefinitionService(n.Store.Jobs, b.Jobs, b.Groups, b.Secrets)
	return b
}

// Deps are the parts of a Router over these services.
func (b *Backend) Deps(log *slog.Logger) api.Deps {
	hasher := auth.NewArgon2(2)
	entries := audit.NewAuditService(b.Store, b.Clock)
	health := monitor.NewMonitorService(b.Store, NoTasks{}, b.Clock)
	return api.Deps{
		Jobs: b.Jobs, Executions: b.Executions, Groups: b.Groups, Definitions: b.Definitions, Backfills: b.Backfills,
		Secrets: b.Secrets,
		Auth:    access.NewAuthService(b.Store, b.Store, b.Store, entries, hasher, b.Clock),
		Users:   access.NewUserService(b.Store, b.Store, hasher, b.Clock), Tokens: access.NewTokenService(b.Store, b.Clock),
		Monitor: health, Nodes: node.NewNodeService(b.Store), Calls: idempotency.NewCallKeeper(b.Store, b.Clock),
		Audit:   entries,
		Reports: b.Detached, Checker: b.checker, Clock: b.Clock, Logger: log, TimeZone: "UTC",
		Overview: b.Overview(health, nil),
		Loads: monitor.NewLoadService(monitor.LoadDeps{
			Jobs: b.Store, Schedules: b.Schedules, Clock: b.Time,
			Machine: b.Clock,
		}),
	}
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
