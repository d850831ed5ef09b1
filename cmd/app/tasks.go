package app

import (
	"context"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/workers"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring/missed"
	"github.com/platform-scheduler/platform-scheduler/application/service/report"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
)

// The intervals of the tasks.
const (
	clockInterval     = 2 * time.Second
	healthInterval    = time.Second
	reconcileInterval = 3 * time.Second
	deadlineInterval  = 2 * time.Second
	detachedInterval  = time.Second
	cancelsInterval   = 30 * time.Second
	slotsInterval     = 10 * time.Second
	limitsInterval    = 5 * time.Second
	groupsInterval    = 3 * time.Second
	pausesInterval    = 500 * time.Millisecond
	backfillInterval  = 500 * time.Millisecond
	dispatchInterval  = 500 * time.Millisecond
	callsInterval     = time.Second
	auditInterval     = 5 * time.Second
	secretsInterval   = time.Minute
	unreadInterval    = 10 * time.Second
	forgetInterval    = 10 * time.Second
	retentionInterval = time.Minute
	exposureInterval  = time.Minute
	foldInterval      = 500 * time.Millisecond
	periodsInterval   = time.Minute
	rollUpInterval    = time.Minute
	actionsInterval   = time.Second
	levelsInterval    = alerting.Interval
	recoveryInterval  = time.Minute
	successesInterval = 5 * time.Second
)

// task is something that a node does at intervals.
type task struct {
	name     string
	interval time.Duration
	run      func(ctx context.Context) error
}

// addTasks adds the tasks that each node does, and those that only the leader does.
func (e *Engine) addTasks() error {
	for _, t := range e.whileOpen(e.nodeTasks()) {
		if err := e.tasks.Every(t.name, t.interval, t.run); err != nil {
			return err
		}
	}
	for _, t := range e.leaderTasks() {
		if err := e.tasks.LeaderOnly(t.name, t.interval, t.run); err != nil {
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
		{"scan", e.scanInterval(), e.scan},
		{"health", healthInterval, e.Monitor.Watch},
		{"standby", modeInterval, e.followMode},
		{"calls", callsInterval, e.Calls.RunOnce},
		{"secrets", secretsInterval, ignoreResult(e.Secrets.Refresh)},
		{"audit", auditInterval, func(ctx context.Context) error { return e.Audit.Flush(ctx, false) }},
		{"reconcile", reconcileInterval, e.Runner.Reconcile},
		{"dispatch", dispatchInterval, e.sweepQueues},
		{"leader", e.timing().Lease, e.seekLeader},
		{"slow-runs", monitoring.SlowInterval, e.slow.RunOnce},
		{"troubles", alerting.Interval, newTroubles(e.Store, e.Runner, e.Monitor).RunOnce},
		{"alert-events", unreadInterval, e.events.unread.RunOnce},
		{"alert-successes", successesInterval, e.successes.RunOnce},
		{"metrics", time.Duration(e.cfg.Monitoring.CollectIntervalSec) * time.Second, e.collector.RunOnce},
	}
	if e.events.excess != nil {
		tasks = append(tasks, task{"kafka-events", unreadInterval, e.events.excess.RunOnce})
	}
	if e.room.read != nil {
		tasks = append(tasks, task{"disk", diskInterval, e.room.RunOnce})
	}
	if e.exports.client != nil {
		tasks = append(tasks, task{"kafka", kafka.CheckInterval, e.exports.check})
	}
	if e.watchdog != nil {
		tasks = append(tasks, task{"alert-watchdog", watching.WatchInterval, e.watchdog.RunOnce})
	}
	if e.exposure != nil {
		tasks = append(tasks, task{"exposure", exposureInterval, e.exposure.RunOnce})
	}
	return tasks
}

// leaderTasks returns what one node does for all (docs/cluster.md says why). Two
// nodes may do a task at once for a while.
func (e *Engine) leaderTasks() []task {
	tasks := []task{
		{"deadlines", deadlineInterval, ignoreResult(e.Repairs.SweepDeadlines)},
		{"detached", detachedInterval, ignoreResult(e.Detached.SweepDeadlines)},
		{"detached-cancels", cancelsInterval, ignoreResult(e.Detached.SweepCancels)},
		{"places", slotsInterval, ignoreResult(e.Repairs.SweepSlots)},
		{"limits", limitsInterval, ignoreResult(e.Repairs.SweepLimits)},
		{"groups", groupsInterval, e.Groups.Sweep},
		{"pauses", pausesInterval, e.endPauses},
		{"backfills", backfillInterval, e.backfills.RunOnce},
		{"forget", forgetInterval, e.forget},
		{"retention", retentionInterval, ignoreResult(e.retention.RunOnce)},
		{"fold", foldInterval, ignoreResult(e.fold.RunOnce)},
		{"missed-ends", missed.Interval, e.missed.RunOnce},
		{"periods", periodsInterval, ignoreResult(e.fold.Periods)},
		{"alert-levels", levelsInterval, e.alerts.levels},
		{"alert-deadlines", levelsInterval, e.alerts.deadlines},
		{"alert-recovery", recoveryInterval, e.alerts.recover},
		{"alert-actions", actionsInterval, ignoreResult(e.actor.RunOnce)},
		{"alert-heartbeat", watching.HeartbeatInterval, e.pulse.RunOnce},
		{"workers", workers.Interval, e.watchWorkers().RunOnce},
		{"metrics-roll-up", rollUpInterval, monitoring.NewRollUp(e.Store, e.Clock).RunOnce},
	}
	if e.report != nil {
		tasks = append(tasks, task{"weekly-report", report.Interval, e.report.RunOnce})
	}
	return tasks
}

// scan finds the due jobs in the partitions of this node.
func (p *parts) scan(ctx context.Context) error {
	if len(p.Member.Partitions()) == 0 {
		return periodic.ErrIdle
	}
	_, err := p.Planner.Scan(ctx)
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

func ignoreResult[T any](run func(ctx context.Context) (T, error)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := run(ctx)
		return err
	}
}
