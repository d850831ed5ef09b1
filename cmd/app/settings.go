package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// DatabaseFile is the name of the SQLite file in the data folder.
const DatabaseFile = "platform-scheduler.db"

func storeConfig(cfg config.Config, folder *dataFolder, o Options, m *metrics.MetricsCollector) persistence.Config {
	return persistence.Config{
		Config: sqldb.Config{
			Driver: cfg.Store.Driver, DSN: cfg.Store.DSN, Path: folder.file(DatabaseFile), Synchronous: cfg.Store.Synchronous,
			Clock: o.Clock, Logger: o.Logger, Observe: m.Query, Unreadable: m.UnreadableRow, MaxConns: maxConns(cfg),
		},
		AutoMigrate: cfg.Store.AutoMigrate,
	}
}

// maxConns is for a server: an SQLite file has readers of its own number.
func maxConns(cfg config.Config) int {
	if cfg.Store.Driver == config.DriverMySQL {
		return cfg.Store.MaxConns
	}
	return 0
}

// nodeOf is the registry row of this process.
func (e *Engine) nodeOf(cfg config.Config, x Executor) (entity.Node, error) {
	handlers := x.Handlers()
	if n := len(strings.Join(handlers, "\n")); n > entity.MaxHandlers {
		return entity.Node{}, fmt.Errorf("the names of the %d handlers have %d bytes together, and may have %d: give them shorter names, or divide them among several programs", len(handlers), n, entity.MaxHandlers)
	}
	_, port, _ := net.SplitHostPort(cfg.Server.Addr) // checked by the configuration
	number, _ := strconv.Atoi(port)
	if e.cluster != nil {
		number = e.cluster.port
	}
	if cfg.Node.Port != 0 {
		number = cfg.Node.Port
	}
	return entity.Node{
		ID: cfg.Node.ID, IP: cfg.Node.IP, Port: number, Status: entity.NodeUp, Roles: cfg.Server.Roles,
		Labels: cfg.Node.Labels, Version: Version(), Slots: cfg.Executor.Slots, Weight: cfg.Node.Weight,
		Life:         entity.NodeLife{Lease: e.timing().Lease, Boot: rand.Text()},
		CommandSlots: x.CommandSlots(), Handlers: handlers, HandlersHash: entity.HandlersHash(handlers),
	}, nil
}

// The intervals of the duties.
const (
	clockInterval     = 2 * time.Second
	healthInterval    = time.Second
	reconcileInterval = 3 * time.Second
	deadlineInterval  = 2 * time.Second
	detachedInterval  = time.Second
	cancelsInterval   = 30 * time.Second
	placesInterval    = 10 * time.Second
	limitsInterval    = 5 * time.Second
	groupsInterval    = 3 * time.Second
	pausesInterval    = 500 * time.Millisecond
	backfillInterval  = 500 * time.Millisecond
	dispatchInterval  = 500 * time.Millisecond
	callsInterval     = time.Second
	auditInterval     = 5 * time.Second
	secretsInterval   = time.Minute
	relayInterval     = time.Second
	retentionInterval = time.Minute
	exposureInterval  = time.Minute
)

// duty is something that is done at intervals.
type duty struct {
	name     string
	interval time.Duration
	run      func(ctx context.Context) error
}

// addDuties lists everything that is done at intervals: by every node, and by
// one of them (docs/cluster.md says why).
func (e *Engine) addDuties(d *periodic.Duties) error {
	relay := maintenance.NewRelay(e.Store, e.Bus)
	if e.exposure != nil {
		if err := d.Every("exposure", exposureInterval, e.exposure.RunOnce); err != nil {
			return err
		}
	}
	watch := periodic.NewClockWatch(e.Clock, e.logger, func(time.Duration) { e.Planner.Poke() })
	for _, part := range []struct {
		add    func(name string, interval time.Duration, run func(ctx context.Context) error) error
		duties []duty
	}{
		{d.Every, []duty{
			{"clock", clockInterval, watch.RunOnce},
			{"scan", time.Duration(e.cfg.Engine.ScanIntervalMs) * time.Millisecond, e.scan},
			{"health", healthInterval, e.Monitor.Watch},
			{"calls", callsInterval, e.Calls.RunOnce},
			{"secrets", secretsInterval, ignoreResult(e.Secrets.Look)},
			{"audit", auditInterval, func(ctx context.Context) error { return e.Audit.Flush(ctx, false) }},
			{"reconcile", reconcileInterval, e.Runner.Reconcile},
			{"dispatch", dispatchInterval, e.sweepQueues},
			{"leader", e.timing().Lease, e.seekLeader},
		}},
		{d.OfCluster, []duty{
			{"deadlines", deadlineInterval, ignoreCount(e.Runner.SweepDeadlines)},
			{"detached", detachedInterval, ignoreCount(e.Detached.SweepDeadlines)},
			{"detached-cancels", cancelsInterval, ignoreCount(e.Detached.SweepCancels)},
			{"places", placesInterval, ignoreCount(e.Runner.SweepPlaces)},
			{"limits", limitsInterval, ignoreCount(e.Runner.SweepLimits)},
			{"groups", groupsInterval, e.Groups.Sweep},
			{"pauses", pausesInterval, e.endPauses},
			{"backfills", backfillInterval, e.backfills.RunOnce},
			{"relay", relayInterval, ignoreCount(relay.RunOnce)},
			{"retention", retentionInterval, ignoreCount(e.retention.RunOnce)},
		}},
	} {
		for _, duty := range part.duties {
			if err := part.add(duty.name, duty.interval, duty.run); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan looks for what is due in the partitions of this node.
func (e *Engine) scan(ctx context.Context) error {
	if len(e.Member.Partitions()) == 0 {
		return periodic.ErrIdle
	}
	_, err := e.Planner.Scan(ctx)
	return err
}

// sweepQueues is done by every scheduler; the other nodes look, to tell what has
// no node.
func (e *Engine) sweepQueues(ctx context.Context) error {
	self := e.Member.Self()
	return e.dispatch.RunOnce(ctx, self.Has(entity.RoleScheduler))
}

// endPauses resumes what was paused until now.
func (e *Engine) endPauses(ctx context.Context) error {
	return errors.Join(e.Groups.ResumeDue(ctx), e.Jobs.ResumeDue(ctx))
}

func ignoreCount(run func(ctx context.Context) (int, error)) func(ctx context.Context) error {
	return ignoreResult(run)
}

func ignoreResult[T any](run func(ctx context.Context) (T, error)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := run(ctx)
		return err
	}
}
