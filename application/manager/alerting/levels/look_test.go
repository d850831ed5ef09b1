package levels_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// levels makes a rule of each type about a level, as sharp as it can be.
func (d *desk) levels() {
	for _, kind := range alert.RuleTypes() {
		if !kind.IsLevel() || kind == alert.Watchdog {
			continue
		}
		d.Rule(kind, func(r *alert.Rule) {
			switch kind {
			case alert.QueueDepth, alert.Lateness, alert.WorkersFew:
				r.Threshold = 1
			case alert.NothingRan:
				r.WindowSec = 60
			}
		})
	}
}

// wait stores a run that waits since a moment.
func (d *desk) wait(job *entity.Job, key entity.ClaimKey, since time.Time) *entity.Execution {
	d.T.Helper()
	e := &entity.Execution{
		ID: identity.RandomID(since), JobID: job.ID, FireKey: identity.RandomID(since), ScheduledTime: since, DueTime: since,
		Priority: 5,
		Trigger:  entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Status: entity.StatusWaiting, Claim: key,
		CreateTime: since, UpdateTime: since,
	}
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, []*entity.Execution{e})
	})
	return e
}

func (d *desk) node(id string, change func(n *entity.Node)) {
	d.T.Helper()
	n := entity.Node{ID: id, Roles: []string{entity.RoleScheduler}}
	if change != nil {
		change(&n)
	}
	_, err := d.Store.Register(d.T.Context(), n)
	require.NoError(d.T, err)
}

// A cluster that is well raises nothing, whatever it has that looks idle or waits for good
// reason, and however long that lasts.
func TestAHealthyClusterIsSilent(t *testing.T) {
	d := newDesk(t)
	d.levels()
	far := func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.At = schedule.Once, enginetest.Noon.Add(300*24*time.Hour)
	}
	d.Add(t, enginetest.Job("on demand", nil))
	d.Add(t, enginetest.Job("far", far))
	hold := func(j *entity.Job) { j.Status, j.NextFireTime, j.DueTime = entity.JobPaused, time.Time{}, time.Time{} }
	d.Change(t, d.Add(t, enginetest.Job("paused", enginetest.Every(time.Minute))).ID, hold)
	for name, status := range map[string]entity.JobStatus{
		"finished": entity.JobFinished, "never enabled": entity.JobCreated,
	} {
		d.Change(t, d.Add(t, enginetest.Job(name, enginetest.Every(time.Minute))).ID, func(j *entity.Job) {
			hold(j)
			j.Status = status
		})
	}
	delayed := d.Add(t, enginetest.Job("delayed", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 1000
	}))
	d.Change(t, delayed.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} })
	// A group that was paused a moment ago: its jobs are not changed yet.
	d.Add(t, enginetest.Job("of a paused group", func(j *entity.Job) {
		enginetest.Every(time.Hour)(j)
		j.Group = "night"
	}))
	_, err := d.Store.PauseGroup(t.Context(), "night", true, entity.Pause{User: "ann"}, enginetest.Noon)
	require.NoError(t, err)
	// Runs that wait for their job, their group or a moment are no backlog.
	quota := d.Add(t, enginetest.Job("limited", nil))
	d.wait(quota, entity.QueuedKey(quota.ID, 1), enginetest.Noon)
	d.wait(quota, entity.GroupQueue("limited").Key(5, enginetest.Noon), enginetest.Noon)
	d.wait(quota, entity.ScheduledKey(enginetest.Noon.Add(1000*time.Hour)), enginetest.Noon)
	// Standby, drained and stopped nodes.
	d.node("standby", nil)
	d.node("drained", nil)
	require.NoError(t, d.Store.Drain(t.Context(), "drained", true))
	d.node("stopped", nil)
	require.NoError(t, d.Store.Leave(t.Context(), "stopped", 1))
	for range 20 {
		d.Clock.Advance(6 * time.Hour)
		d.LookAtLevels()
		require.Empty(t, contents(d.Alerts()))
	}
	// The same cluster is not blind.
	d.Add(t, enginetest.Job("late", enginetest.Every(time.Hour)))
	d.Clock.Advance(2 * time.Hour)
	d.LookAtLevels()
	require.Len(t, d.Alerts(), 2, "NOT_FIRED, NOTHING_RAN")
}

func contents(alerts []*alert.Alert) (out []string) {
	for _, a := range alerts {
		out = append(out, a.Content)
	}
	return out
}

// elsewhere is a sweep that has gone on to other jobs.
type elsewhere struct{ repository.JobPlanReader }

// Unplanned implements repository.JobPlanReader.
func (elsewhere) Unplanned(context.Context, string, int) ([]string, string, error) {
	return nil, "", nil
}

// A job without a next time is found by the sweep, stays found, and ends when it has one.
func TestAJobThatCannotFire(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NotFired, nil)
	job := d.Add(t, enginetest.Job("settle", enginetest.Every(time.Hour)))
	d.Change(t, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} })
	for range 5 {
		d.LookAtLevels()
		d.Plans = elsewhere{d.Store}
		d.Clock.Advance(5 * time.Second)
		a := d.One()
		require.Equal(t, []any{job.ID, alert.Firing}, []any{a.JobID, a.Status})
		require.Contains(t, a.Content, "no next time")
	}
	next := d.Clock.Now().Add(time.Hour)
	d.Change(t, job.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = next, next })
	for range 3 {
		d.LookAtLevels()
		d.Clock.Advance(5 * time.Second)
	}
	require.Equal(t, alert.ByRecovery, d.One().Resolution)
}

// How late a job says that it may be counts for every rule.
func TestAJobThatMayBeLateIsNotLate(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NotFired, nil)
	d.Add(t, enginetest.Job("settle", func(j *entity.Job) {
		enginetest.Every(time.Hour)(j)
		j.Alerts.LateAfterSec = 600
	}))
	d.Clock.Advance(599 * time.Second)
	d.LookAtLevels()
	require.Empty(t, d.Alerts())
	d.Clock.Advance(time.Second)
	d.LookAtLevels()
	require.Equal(t, alert.Firing, d.One().Status)
}

// Each way in which a job is not expected to fire any more ends the alert with its reason.
func TestWhatEndsAnAlertOfAJobThatDidNotFire(t *testing.T) {
	for want, status := range map[alert.Resolution]entity.JobStatus{
		alert.ByPause: entity.JobPaused, alert.ByEndOfSchedule: entity.JobFinished, alert.ByDeletion: "",
	} {
		t.Run(string(want), func(t *testing.T) {
			d := newDesk(t)
			d.Rule(alert.NotFired, nil)
			job := d.Add(t, enginetest.Job("settle", enginetest.Every(time.Hour)))
			d.Clock.Advance(time.Minute)
			d.LookAtLevels()
			require.Equal(t, alert.Firing, d.One().Status)
			if status == "" {
				d.Write(t, func(ctx context.Context, tx repository.Tx) error {
					job, err := tx.Jobs.LockFull(ctx, job.ID)
					if err != nil {
						return err
					}
					job.NextFireTime, job.DueTime = time.Time{}, time.Time{}
					return tx.Jobs.Update(ctx, job, true)
				})
			} else {
				d.Change(t, job.ID, func(j *entity.Job) {
					j.Status, j.NextFireTime, j.DueTime = status, time.Time{}, time.Time{}
				})
			}
			d.Clock.Advance(5 * time.Second)
			d.LookAtLevels()
			require.Equal(t, want, d.One().Resolution)
		})
	}
}

// A standstill that grows is told once more, as one of very many jobs. It ends no alert of a
// job that still waits; a job that fires again, or a standstill that is over, does.
func TestAGrowingStandstillEndsNoAlert(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NotFired, nil)
	waits := d.Add(t, enginetest.Job("waits", enginetest.Every(time.Hour)))
	fires := d.Add(t, enginetest.Job("fires", enginetest.Every(time.Hour)))
	d.Clock.Advance(time.Minute)
	d.LookAtLevels()
	require.Len(t, d.Alerts(), 2)
	next := d.Clock.Now().Add(time.Hour)
	d.Change(t, fires.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = next, next })
	d.Plans = standstill{d.Store}
	look := func() map[string]alert.Resolution {
		for range 4 {
			d.LookAtLevels()
			d.Clock.Advance(5 * time.Second)
		}
		out := map[string]alert.Resolution{}
		for _, a := range d.Alerts() {
			out[a.JobID] = a.Resolution
		}
		return out
	}
	require.Equal(t, map[string]alert.Resolution{waits.ID: "", fires.ID: alert.ByRecovery}, look())
	d.Change(t, waits.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = next, next })
	d.Plans = nil
	require.Equal(t, map[string]alert.Resolution{waits.ID: alert.ByRecovery, fires.ID: alert.ByRecovery}, look())
}

// A group that was just paused holds more jobs than a look reads. The jobs behind them are told.
func TestAPausedGroupHidesNoOverdueJob(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NotFired, nil)
	for i := range alerting.MaxOverdue {
		d.Add(t, enginetest.Job(fmt.Sprintf("held %d", i), func(j *entity.Job) {
			enginetest.Every(time.Hour)(j)
			j.Group = "night"
		}))
	}
	_, err := d.Store.PauseGroup(t.Context(), "night", true, entity.Pause{User: "ann"}, enginetest.Noon)
	require.NoError(t, err)
	d.Clock.Advance(time.Minute)
	late := d.Add(t, enginetest.Job("late", enginetest.Every(time.Hour)))
	d.Clock.Advance(2 * time.Hour)
	d.LookAtLevels()
	require.Len(t, d.Alerts(), 1)
	require.Equal(t, late.ID, d.Alerts()[0].JobID)
}

// standstill has as many overdue jobs as a look reads; who reads them one by one finds none.
type standstill struct{ repository.JobPlanReader }

// DueKeys implements repository.JobPlanReader.
func (standstill) DueKeys(context.Context, repository.DueQuery) ([]repository.DueKey, error) {
	return make([]repository.DueKey, alerting.MaxOverdue), nil
}

// Runs without a node are told by job, with what the nodes lack.
func TestRunsWithoutANode(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NoNode, nil)
	pay, ship := d.Add(t, enginetest.Job("pay", nil)), d.Add(t, enginetest.Job("ship", nil))
	d.wait(pay, entity.UnroutableQueue(entity.NodeClass{Handler: "invoice"}, entity.WaitHandler).Key(5, enginetest.Noon),
		enginetest.Noon)
	labels := entity.NodeClass{Labels: map[string]string{"zone": "mars"}}
	for i := range 2 {
		at := enginetest.Noon.Add(-time.Duration(i) * time.Minute)
		d.wait(ship, entity.UnroutableQueue(labels, entity.WaitNode).Key(5+i, at), at)
	}
	d.LookAtLevels()
	found := map[string]map[string]string{}
	for _, a := range d.Alerts() {
		found[a.JobID] = a.Details
	}
	require.Equal(t, map[string]map[string]string{
		pay.ID:  {"job": "pay", "runs": "1", "waitsFor": "HANDLER", "waitSec": "0"},
		ship.ID: {"job": "ship", "runs": "2", "waitsFor": "NODE", "waitSec": "60"},
	}, found)
}

// Each queue has its own lateness.
func TestEachQueueHasItsLateness(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.Lateness, func(r *alert.Rule) { r.Threshold = 60 })
	job := d.Add(t, enginetest.Job("settle", nil))
	d.wait(job, entity.CommonQueue.Key(5, enginetest.Noon.Add(-59*time.Second)), enginetest.Noon)
	d.wait(job, entity.NodeQueue("n1", entity.SlotGeneral).Key(9, enginetest.Noon.Add(-60*time.Second)), enginetest.Noon)
	d.wait(job, entity.NodeQueue("n1", entity.SlotCommand).Key(1, enginetest.Noon.Add(-90*time.Second)), enginetest.Noon)
	d.LookAtLevels()
	a := d.One()
	require.Equal(t, []string{"node n1", "90"}, []string{a.Details["queue"], a.Details["waitSec"]})
}

// The leader sees the degraded parts of all nodes, each part once.
func TestTheLeaderSeesTheTroublesOfAllNodes(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.Degraded, nil)
	for i := range 3 {
		id := fmt.Sprint("n", i)
		d.node(id, nil)
		require.NoError(t, d.Store.PutTrouble(t.Context(), id, 1, map[string]string{"redis": "away"}))
	}
	require.NoError(t, d.Store.PutTrouble(t.Context(), "n2", 1, map[string]string{"kafka": "away"}))
	d.LookAtLevels()
	found := d.Alerts()
	require.ElementsMatch(t, []string{
		"The part redis is degraded on n0, n1: away.", "The part kafka is degraded on n2: away.",
	}, contents(found))
	for _, id := range []string{"n0", "n1", "n2"} {
		require.NoError(t, d.Store.PutTrouble(t.Context(), id, 1, nil))
	}
	for range 3 {
		d.Clock.Advance(5 * time.Second)
		d.LookAtLevels()
	}
	for _, a := range d.Alerts() {
		require.Equal(t, alert.ByRecovery, a.Resolution)
	}
}

// Nothing ran: a fire was due, none ended, and none runs.
func TestNothingRan(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NothingRan, func(r *alert.Rule) { r.WindowSec = 300 })
	job := d.Add(t, enginetest.Job("settle", enginetest.Every(time.Hour)))
	d.Clock.Advance(299 * time.Second)
	d.LookAtLevels()
	require.Empty(t, d.Alerts())
	run := d.wait(job, entity.RunningKey("n1"), enginetest.Noon)
	d.Clock.Advance(time.Second)
	d.LookAtLevels()
	require.Empty(t, d.Alerts(), "something runs")
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Executions.Lock(ctx, []string{run.ID})
		if err != nil {
			return err
		}
		held[0].Claim = entity.CommonQueue.Key(5, enginetest.Noon)
		return tx.Executions.Update(ctx, held[0], entity.StatusWaiting, 0)
	})
	d.LookAtLevels()
	require.Equal(t, alert.Firing, d.One().Status)
	require.Equal(t, "300", d.One().Details["quietSec"])
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		state, err := tx.Statistics.LockFold(ctx)
		if err != nil {
			return err
		}
		state.Until = d.Clock.Now()
		return tx.Statistics.SaveFold(ctx, state)
	})
	for range 3 {
		d.Clock.Advance(5 * time.Second)
		d.LookAtLevels()
	}
	require.Equal(t, alert.ByRecovery, d.One().Resolution)
}

// A rate that is above its line is not over with one success.
func TestOneSuccessEndsNoRate(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 0.5, 3600 })
	job := d.Add(t, enginetest.Job("settle", nil))
	end := func(status entity.Status) alert.Status {
		d.Clock.Advance(time.Second)
		d.End(job, status)
		d.Evaluate()
		_, err := d.Leader(d.Faults).Recover(t.Context())
		require.NoError(t, err)
		if found := d.Alerts(); len(found) > 0 {
			return found[len(found)-1].Status
		}
		return ""
	}
	for range 4 {
		require.Empty(t, end(entity.StatusFailed))
	}
	require.Equal(t, alert.Firing, end(entity.StatusFailed))
	for range 5 {
		require.Equal(t, alert.Firing, end(entity.StatusSuccess))
	}
	require.Equal(t, alert.Resolved, end(entity.StatusSuccess), "5 of 11")
	require.Len(t, d.Alerts(), 1)
}

// A worker group that has fewer workers than it should for long enough is told of, and no longer once they are there.
func TestAWorkerGroupWithFewWorkers(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.ForSec, r.Group = 2, 30, "pay" })
	d.Rule(alert.WorkersFew, func(r *alert.Rule) {
		r.ID, r.Name, r.Threshold, r.Group = "rule-of-others", "of others", 2, "risk"
	})
	register := func(instance string) string {
		id := worker.ID("shop", instance)
		_, err := d.Store.RegisterWorker(t.Context(), id, "shop", func(_ *worker.Worker, now time.Time) (
			worker.Worker, error,
		) {
			return worker.Worker{
				ID: id, Group: "shop", Instance: instance, Epoch: 1, Status: worker.Up, LastBeat: now, BeginTime: now,
			}, nil
		})
		require.NoError(t, err)
		return id
	}
	_, err := d.Store.WorkerGroups.PutWorkerGroup(t.Context(), worker.Group{
		Name: "shop", JobGroups: []string{"pay"}, MaxWorkers: 9,
	}, nil)
	require.NoError(t, err)
	register("a")
	look := func() (status alert.Status) {
		t.Helper()
		d.LookAtLevels()
		for _, a := range d.Alerts() {
			status = a.Status
		}
		d.Clock.Advance(20 * time.Second)
		return status
	}
	require.Equal(t, []alert.Status{alert.Pending, alert.Pending, alert.Firing}, []alert.Status{look(), look(), look()})
	found := d.Alerts()[0]
	require.Equal(t, "The worker group shop has 1 workers that are UP; it should have 2 or more.", found.Content)
	require.Equal(t, []string{"shop", "pay"}, []string{found.Labels["workers"], found.Group})
	b := register("b")
	require.Equal(t, []alert.Status{alert.Firing, alert.Resolved}, []alert.Status{look(), look()})
	require.NoError(t, d.Store.DrainWorker(t.Context(), b, true))
	look()
	require.Len(t, d.Alerts(), 2, "a worker that drains does not count")
}
