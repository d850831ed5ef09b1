package alerting_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Each failure counts once, whatever becomes of the transaction.
func TestAFailureCountsOnceWhateverBecomesOfTheCommit(t *testing.T) {
	for name, faults := range map[string][]enginetest.Fault{
		"none": nil, "the reply is lost": {enginetest.LostReply}, "the commit is lost": {enginetest.LostCommit},
		"the store is away": {enginetest.Refused, enginetest.Refused}, "a deadlock": {enginetest.Deadlock},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.Rule(alert.JobFailed, nil)
			job := d.Add(t, enginetest.Job("settle", nil))
			first := d.End(job, entity.StatusFailed)
			d.Clock.Advance(time.Second)
			last := d.End(job, entity.StatusDead)
			d.Faults.Next("alert-events", faults...)
			for range len(faults) {
				_, _, _ = d.Leader(d.Faults).RunOnce(t.Context()) // it says that it failed, or does not know
			}
			d.Evaluate()
			a := d.One()
			require.Equal(t, []any{alert.Firing, 2, first.ID, last.ID, job.ID, "default"},
				[]any{a.Status, a.Count, a.ExecutionID, a.LastExecutionID, a.JobID, a.Group})
			require.Empty(t, d.Events(t))
			require.NotZero(t, d.Woken)
		})
	}
}

// Two leaders read the same events; each event is taken by one of them.
func TestTwoLeadersCountEachFailureOnce(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	job := d.Add(t, enginetest.Job("settle", nil))
	d.End(job, entity.StatusFailed)
	d.Clock.Advance(time.Second)
	d.End(job, entity.StatusFailed)
	other := false
	d.Faults.Before(func(name string) {
		if name == "alert-events" && !other {
			other = true
			d.Clock.Advance(time.Minute) // this leader stood still meanwhile
			n, _, err := d.Leader(d.Store).RunOnce(t.Context())
			require.NoError(t, err)
			require.Equal(t, 2, n)
		}
	})
	n, _, err := d.Leader(d.Faults).RunOnce(t.Context())
	require.NoError(t, err)
	require.True(t, other)
	require.Zero(t, n)
	require.Equal(t, 2, d.One().Count)
}

func TestAnEpisodeThatWasResolvedByHandStaysSo(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	job := d.Add(t, enginetest.Job("settle", nil))
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	a := d.One()
	seq := a.Seq
	require.NoError(t, a.ResolveByHand("ann", d.Clock.Now()))
	d.Put(a, seq)
	d.End(job, entity.StatusFailed) // at the same moment: it is evidence of the episode
	d.Evaluate()
	require.Equal(t, alert.Resolved, d.One().Status)
	d.Clock.Advance(time.Second)
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Len(t, d.Alerts(), 2)
}

func TestThreeFailuresInARow(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
	job := d.Add(t, enginetest.Job("settle", nil))
	for _, status := range []entity.Status{
		entity.StatusFailed, entity.StatusFailed, entity.StatusSuccess, entity.StatusFailed, entity.StatusTimeout,
	} {
		d.End(job, status)
		d.Clock.Advance(time.Second)
		d.Evaluate()
	}
	require.Empty(t, d.Alerts())
	d.End(job, entity.StatusDead)
	d.Evaluate()
	require.Equal(t, alert.ConsecutiveFailures, d.One().Type)
}

// A rule that cannot be read, or an event of a job that is gone, stops nothing.
func TestWhatCannotBeReadStopsNothing(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	require.NoError(t, d.Store.AddAlertSetting(t.Context(), alert.Setting{
		Head: alertingtest.Head("broken"), Kind: alert.KindRule, Document: `{"type":7}`,
	}))
	job := d.Add(t, enginetest.Job("settle", nil))
	d.End(&entity.Job{ID: "00000000-0000-7000-8000-000000000000"}, entity.StatusFailed)
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Equal(t, job.ID, d.One().JobID)
	require.Empty(t, d.Events(t))
}

func TestTheNextSuccessEndsTheEpisode(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Rule(alert.Recovered, nil)
	job := d.Add(t, enginetest.Job("settle", nil))
	sweep := func() int {
		n, err := d.Leader(d.Faults).Recover(t.Context())
		require.NoError(t, err)
		return n
	}
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Zero(t, sweep())
	d.Clock.Advance(time.Second)
	good := d.End(job, entity.StatusSuccess)
	d.Faults.Next("alert-recover", enginetest.LostCommit, enginetest.LostReply)
	for range 2 {
		_, err := d.Leader(d.Faults).Recover(t.Context())
		require.Error(t, err)
	}
	require.Zero(t, sweep(), "the second was stored, though nobody knew")
	all := d.Alerts()
	require.Len(t, all, 2)
	require.Equal(t, []any{alert.JobFailed, alert.Resolved, alert.ByRecovery},
		[]any{all[0].Type, all[0].Status, all[0].Resolution})
	require.Equal(t, []any{alert.Recovered, alert.Resolved, good.ID},
		[]any{all[1].Type, all[1].Status, all[1].ExecutionID})
	require.False(t, all[1].NotifyDue.IsZero())
}

func TestTheDefaultRulesAreAddedOnce(t *testing.T) {
	d := newDesk(t)
	for range 2 {
		require.NoError(t, d.Leader(d.Faults).EnsureDefaults(t.Context()))
	}
	n, err := d.Store.CountAlertSettings(t.Context(), alert.KindRule)
	require.NoError(t, err)
	require.Equal(t, len(alerting.DefaultRules(enginetest.Noon)), n)
	job := d.Add(t, enginetest.Job("settle", nil))
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Equal(t, "default-failed", d.One().RuleID)
}

// A batch of many failures says the same as one after the other.
func TestALateRuleSeesThePastOfEachFailure(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
	job := d.Add(t, enginetest.Job("settle", nil))
	for range 5 {
		d.End(job, entity.StatusFailed)
		d.Clock.Advance(time.Second)
	}
	d.Evaluate()
	require.Equal(t, 3, d.One().Count)
}

// The row of an execution may be written some milliseconds after its event was made. Its
// end counts still: a daily job is not told a day late.
func TestTheThirdFailureInARowIsTheThird(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 })
	job := d.Add(t, enginetest.Job("settle", nil))
	for range 3 {
		require.Empty(t, d.Alerts())
		now := d.Clock.Now()
		e := d.End(job, entity.StatusSuccess, func(e *entity.Execution) {
			e.Status, e.UpdateTime = entity.StatusFailed, now.Add(5*time.Millisecond)
		})
		e.UpdateTime = now
		d.Write(t, func(ctx context.Context, tx repository.Tx) error { return alertingtest.AddEvent(ctx, tx, e) })
		d.Evaluate()
		d.Clock.Advance(time.Minute)
	}
	require.Equal(t, 1, d.One().Count)
}
