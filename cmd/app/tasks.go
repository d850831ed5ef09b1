package app

import (
	"context"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The intervals of the tasks.
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

// task is something that a node does at intervals.
type task struct {
	name     string
	interval time.Duration
	run      func(ctx context.Context) error
}

// addTasks adds the tasks that each node does, and those that only the leader does.
func (e *Engine) addTasks(d *periodic.Tasks) error {
	for _, t := range e.nodeTasks() {
		if err := d.Every(t.name, t.interval, t.run); err != nil {
			return err
		}
	}
	for _, t := range e.leaderTasks() {
		if err := d.LeaderOnly(t.name, t.interval, t.run); err != nil {
			return err
		}
	}
	return nil
}

// nodeTasks returns what each node does by itself.
func (e *Engine) nodeTasks() []task {
	watch := periodic.NewClockWatch(e.Clock, e.logger, func(time.Duration) { e.Planner.Wake() })
	tasks := []task{
		{"clock", clockInterval, watch.RunOnce},
		{"scan", time.Duration(e.cfg.Engine.ScanIntervalMs) * time.Millisecond, e.scan},
		{"health", healthInterval, e.Monitor.Watch},
		{"calls", callsInterval, e.Calls.RunOnce},
		{"secrets", secretsInterval, ignoreResult(e.Secrets.Refresh)},
		{"audit", auditInterval, func(ctx context.Context) error { return e.Audit.Flush(ctx, false) }},
		{"reconcile", reconcileInterval, e.Runner.Reconcile},
		{"dispatch", dispatchInterval, e.sweepQueues},
		{"leader", e.timing().Lease, e.seekLeader},
	}
	if e.exposure != nil {
		tasks = append(tasks, task{"exposure", exposureInterval, e.exposure.RunOnce})
	}
	return tasks
}

// leaderTasks returns what one node does for all (docs/cluster.md says why). Two
// nodes may do a task at once for a while.
func (e *Engine) leaderTasks() []task {
	relay := maintenance.NewRelay(e.Store, e.Bus)
	return []task{
		{"deadlines", deadlineInterval, ignoreCount(e.Repairs.SweepDeadlines)},
		{"detached", detachedInterval, ignoreCount(e.Detached.SweepDeadlines)},
		{"detached-cancels", cancelsInterval, ignoreCount(e.Detached.SweepCancels)},
		{"places", placesInterval, ignoreCount(e.Repairs.SweepSlots)},
		{"limits", limitsInterval, ignoreCount(e.Repairs.SweepLimits)},
		{"groups", groupsInterval, e.Groups.Sweep},
		{"pauses", pausesInterval, e.endPauses},
		{"backfills", backfillInterval, e.backfills.RunOnce},
		{"relay", relayInterval, ignoreCount(relay.RunOnce)},
		{"retention", retentionInterval, ignoreCount(e.retention.RunOnce)},
	}
}

// scan finds the due jobs in the partitions of this node.
func (e *Engine) scan(ctx context.Context) error {
	if len(e.Member.Partitions()) == 0 {
		return periodic.ErrIdle
	}
	_, err := e.Planner.Scan(ctx)
	return err
}

// sweepQueues sweeps the queues of nodes on each scheduler. The other nodes only
// count the runs that no node can take.
func (e *Engine) sweepQueues(ctx context.Context) error {
	self := e.Member.Self()
	return e.dispatch.RunOnce(ctx, self.Has(entity.RoleScheduler))
}

// endPauses resumes the groups and jobs whose pause ends now.
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
