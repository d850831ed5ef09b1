package alerting_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Each look is by a leader without a past: how long a level holds is in its row.
func TestALevelSurvivesItsLeaders(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold, r.ForSec = 5, 10 })
	deep := &alerting.State{Queues: []alerting.Queue{{Name: alerting.Ready, Depth: 5}}}
	status := func(state *alerting.State, after time.Duration) alert.Status {
		d.State = state
		d.Clock.Advance(after)
		d.LookAtLevels()
		return d.One().Status
	}
	require.Equal(t, alert.Pending, status(deep, 0))
	require.Equal(t, alert.Pending, status(deep, 9*time.Second))
	require.Equal(t, alert.Firing, status(deep, time.Second))
	require.Equal(t, enginetest.Noon.Add(10*time.Second), d.One().StartTime)
	require.Equal(t, alert.Firing, status(&alerting.State{}, 5*time.Second))
	require.Equal(t, alert.Firing, status(deep, 5*time.Second), "it is not below for long enough")
	require.Equal(t, alert.Firing, status(&alerting.State{}, 5*time.Second))
	require.Equal(t, alert.Resolved, status(&alerting.State{}, 10*time.Second))
	require.False(t, d.One().Held)
}

// A clock that steps back by minutes does not lengthen the waits of a level: they begin anew.
func TestTheWaitsOfALevelOutliveAClockThatStepsBack(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold, r.ForSec = 5, 10 })
	deep := &alerting.State{Queues: []alerting.Queue{{Name: alerting.Ready, Depth: 5}}}
	status := func(state *alerting.State, after time.Duration) alert.Status {
		d.State = state
		d.Clock.Advance(after)
		d.LookAtLevels()
		return d.One().Status
	}
	require.Equal(t, alert.Pending, status(deep, 0))
	d.Clock.Jump(-10 * time.Minute)
	require.Equal(t, alert.Pending, status(deep, 5*time.Second))
	require.Equal(t, alert.Pending, status(deep, 9*time.Second))
	require.Equal(t, alert.Firing, status(deep, time.Second))
	require.Equal(t, alert.Firing, status(&alerting.State{}, 5*time.Second))
	d.Clock.Jump(-10 * time.Minute)
	require.Equal(t, alert.Firing, status(&alerting.State{}, 5*time.Second))
	require.Equal(t, alert.Firing, status(&alerting.State{}, 5*time.Second))
	require.Equal(t, alert.Resolved, status(&alerting.State{}, 5*time.Second))
}

// A leader that writes late, after another one, changes nothing.
func TestALeaderThatStoodStillWritesNothing(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold = 5 })
	d.State = &alerting.State{Queues: []alerting.Queue{{Name: alerting.Ready, Depth: 5}}}
	stood := false
	d.Faults.Before(func(name string) {
		if name == "alert-levels" && !stood {
			stood = true
			d.Clock.Advance(time.Minute)
			_, err := d.Leader(d.Store).Levels(t.Context())
			require.NoError(t, err)
			a := d.One()
			seq := a.Seq
			require.NoError(t, a.Acknowledge("ann", d.Clock.Now()))
			d.Put(a, seq)
		}
	})
	n, err := d.Leader(d.Faults).Levels(t.Context())
	require.NoError(t, err)
	require.True(t, stood)
	require.Zero(t, n)
	require.Equal(t, alert.Acknowledged, d.One().Status)
}

func TestARuleThatIsGoneEndsItsAlerts(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.End(d.Add(t, enginetest.Job("settle", nil)), entity.StatusFailed)
	d.Evaluate()
	d.LookAtLevels()
	require.Equal(t, alert.Firing, d.One().Status)
	require.NoError(t, d.Store.DropAlertSetting(t.Context(), alert.KindRule, d.One().RuleID, 1))
	d.LookAtLevels()
	require.Equal(t, alert.ByRule, d.One().Resolution)
}

func TestEventsWithoutAnotherExpire(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, func(r *alert.Rule) { r.ResolveAfterSec = 60 })
	d.End(d.Add(t, enginetest.Job("settle", nil)), entity.StatusFailed)
	d.Evaluate()
	d.Clock.Advance(59 * time.Second)
	d.LookAtLevels()
	require.Equal(t, alert.Firing, d.One().Status)
	d.Clock.Advance(time.Second)
	d.LookAtLevels()
	require.Equal(t, alert.BySilence, d.One().Resolution)
}

// Jobs that nobody fires are found by one read, and end with their reason.
func TestAJobThatDidNotFire(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NotFired, nil)
	job := d.Add(t, enginetest.Job("settle", enginetest.Every(time.Hour)))
	d.Clock.Advance(30*time.Second - time.Millisecond)
	d.LookAtLevels()
	require.Empty(t, d.Alerts())
	d.Clock.Advance(time.Millisecond)
	d.LookAtLevels()
	a := d.One()
	require.Equal(t, []any{job.ID, alert.Firing}, []any{a.JobID, a.Status})
	d.Change(t, job.ID, func(j *entity.Job) {
		j.Status, j.NextFireTime, j.DueTime = entity.JobPaused, time.Time{}, time.Time{}
	})
	d.Clock.Advance(5 * time.Second)
	d.LookAtLevels()
	require.Equal(t, alert.ByPause, d.One().Resolution)
}

// The fair times of all priorities count, not that of the first key alone.
func TestTheOldestRunOfAQueueTells(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.Lateness, func(r *alert.Rule) { r.Threshold = 60 })
	job := d.Add(t, enginetest.Job("settle", nil))
	wait := func(priority int, at time.Time) {
		d.Write(t, func(ctx context.Context, tx repository.Tx) error {
			e := &entity.Execution{
				ID: identity.RandomID(at), JobID: job.ID, FireKey: identity.RandomID(at), ScheduledTime: at, DueTime: at,
				Trigger:    entity.TriggerAPI,
				ShardTotal: 1, JobVersion: 1, Priority: priority, Status: entity.StatusWaiting,
				Claim: entity.CommonQueue.Key(priority, at), CreateTime: at, UpdateTime: at,
			}
			return tx.Executions.Insert(ctx, []*entity.Execution{e})
		})
	}
	wait(10, enginetest.Noon)
	wait(5, enginetest.Noon.Add(-61*time.Second))
	wait(5, enginetest.Noon)
	d.LookAtLevels()
	require.Equal(t, "61", d.One().Details["waitSec"])
}

// Very many open alerts hide none of a level, and each of them still ends.
func TestVeryManyOpenAlertsHideNoLevel(t *testing.T) {
	const others = 20_100
	d := newDesk(t)
	d.Rule(alert.JobFailed, func(r *alert.Rule) { r.ResolveAfterSec = 3600 })
	d.Rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold, r.ForSec = 10, 30 })
	for n := 0; n < others; n += 300 {
		d.Write(t, func(ctx context.Context, tx repository.Tx) error {
			var some []*alert.Alert
			for i := n; i < n+300; i++ {
				some = append(some, &alert.Alert{
					ID: fmt.Sprintf("%050d", i), Fingerprint: fmt.Sprintf("%064d", i), Held: true, Type: alert.JobFailed,
					Level: alert.Warning, Status: alert.Firing, RuleID: "rule-job_failed", Count: 1, Seq: 1,
					PendingSince: enginetest.Noon,
					StartTime:    enginetest.Noon, LastTime: enginetest.Noon, EvidenceUntil: enginetest.Noon,
					CreateTime: enginetest.Noon, UpdateTime: enginetest.Noon,
				})
			}
			_, err := tx.Alerts.AddAlerts(ctx, some)
			return err
		})
	}
	d.State = &alerting.State{Queues: []alerting.Queue{{Name: alerting.Ready, Depth: 10}}}
	leader := d.Leader(d.Faults)
	levels := func(sec int) []*alert.Alert {
		t.Helper()
		_, err := leader.Levels(t.Context())
		require.NoError(t, err)
		d.Clock.Advance(time.Duration(sec) * time.Second)
		found, _, err := d.Store.ListAlerts(t.Context(), repository.AlertFilter{Type: alert.QueueDepth},
			repository.Page{Limit: 10})
		require.NoError(t, err)
		return found
	}
	require.Equal(t, alert.Pending, levels(30)[0].Status)
	require.Equal(t, alert.Firing, levels(5)[0].Status)
	d.State.Queues[0].Depth = 0
	levels(10)
	found := levels(3600)
	require.Len(t, found, 1)
	require.Equal(t, alert.ByRecovery, found[0].Resolution)
	for range 3 {
		levels(5)
	}
	left, err := d.Store.HeldAlerts(t.Context(), "", 10)
	require.NoError(t, err)
	require.Empty(t, left, "all have expired")
}
