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
)

// told names the channels to which a job's news went, as type of the alert and channel.
func (d *desk) told() (out []string) {
	d.T.Helper()
	for _, a := range d.Alerts() {
		found, _, err := d.Store.NotificationsOf(d.T.Context(), a.ID, 100)
		require.NoError(d.T, err)
		for _, n := range found {
			out = append(out, string(a.Type)+" "+n.ChannelID)
		}
	}
	return out
}

func (d *desk) channels(names ...string) {
	d.T.Helper()
	for _, name := range names {
		require.NoError(d.T, d.Store.AddAlertSetting(d.T.Context(), alert.Setting{
			Head: alertingtest.Head("id-" + name), Kind: alert.KindChannel, Document: "{}",
		}))
	}
}

// asked stores a success that somebody asked for, with its event.
func (d *desk) asked(job *entity.Job) {
	d.T.Helper()
	e := d.End(job, entity.StatusSuccess)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error { return alertingtest.AddEvent(ctx, tx, e) })
}

func (d *desk) turn() {
	d.T.Helper()
	d.Evaluate()
	_, err := d.Leader(d.Faults).RecoverJobs(d.T.Context(), d.jobIDs())
	require.NoError(d.T, err)
	d.Plan()
	d.Clock.Advance(time.Second)
}

func (d *desk) jobIDs() (ids []string) {
	d.T.Helper()
	jobs, _, err := d.Store.Jobs.List(d.T.Context(), repository.JobFilter{}, repository.Page{Limit: 100})
	require.NoError(d.T, err)
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// A job says itself who is told of what.
func TestAJobNamesWhoIsTold(t *testing.T) {
	d := newDesk(t)
	d.channels("id-bad", "id-good", "id-all", "id-back")
	job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) {
		j.Alerts = entity.JobAlerts{
			OnFailure: []string{"id-id-bad", "gone"}, OnSuccess: []string{"id-id-good"}, OnEnd: []string{"id-id-all"},
			OnRecovered: []string{"id-id-back"},
		}
	}))
	d.Route(nil) // routes are for the rules of others
	d.End(job, entity.StatusFailed)
	d.turn()
	require.ElementsMatch(t, []string{"JOB_FAILED id-id-bad", "JOB_FAILED id-id-all"}, d.told())
	for _, a := range d.Alerts() { // they are sent: what follows is another message
		found, _, err := d.Store.NotificationsOf(t.Context(), a.ID, 100)
		require.NoError(t, err)
		for _, n := range found {
			_, ok, err := d.Store.BeginDelivery(t.Context(), n, "n1", d.Clock.Now())
			require.NoError(t, err)
			require.True(t, ok)
		}
	}
	d.asked(job)
	d.turn()
	require.ElementsMatch(t, []string{
		"JOB_FAILED id-id-bad", "JOB_FAILED id-id-all", "JOB_SUCCEEDED id-id-good", "JOB_SUCCEEDED id-id-all",
		"RECOVERED id-id-back",
	}, d.told(), "who asked for failures alone hears of no recovery")
	require.Equal(t, alert.ByRecovery, d.Alerts()[0].Resolution)
}

// Many successes are told once a minute, and each counts.
func TestSuccessesAreToldOnceAMinute(t *testing.T) {
	d := newDesk(t)
	d.channels("id-good")
	job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) { j.Alerts.OnSuccess = []string{"id-id-good"} }))
	for range 90 { // a second apart
		d.asked(job)
		d.turn()
	}
	all := d.Alerts()
	require.Len(t, all, 2)
	require.Equal(t, []int{60, 30}, []int{all[0].Count, all[1].Count})
	require.Len(t, d.told(), 2)
}

// onRecovered alone needs no rule about failures.
func TestARecoveryIsToldWhereNoFailureIs(t *testing.T) {
	d := newDesk(t)
	d.channels("id-back")
	job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) { j.Alerts.OnRecovered = []string{"id-id-back"} }))
	d.End(job, entity.StatusFailed)
	d.turn()
	require.Empty(t, d.told())
	d.End(job, entity.StatusSuccess)
	d.turn()
	require.Equal(t, []string{"RECOVERED id-id-back"}, d.told())
}

// onLate is told of fires that nobody makes, and of those that were left out.
func TestALateFireIsTold(t *testing.T) {
	d := newDesk(t)
	d.channels("id-late")
	job := d.Add(t, enginetest.Job("settle", func(j *entity.Job) {
		j.Alerts = entity.JobAlerts{OnLate: []string{"id-id-late"}, LateAfterSec: 120}
		j.Status, j.NextFireTime, j.DueTime = entity.JobEnabled, enginetest.Noon, enginetest.Noon
	}))
	d.Clock.Advance(100 * time.Second)
	d.LookAtLevels()
	require.Empty(t, d.Alerts(), "that is not late for this job")
	d.Clock.Advance(20 * time.Second)
	d.LookAtLevels()
	d.Plan()
	require.Equal(t, []string{"NOT_FIRED id-id-late"}, d.told())
	require.Equal(t, job.ID, d.One().JobID)

	e := d.End(job, entity.StatusSkipped, func(e *entity.Execution) { e.Reason = entity.ReasonMisfire })
	require.Equal(t, entity.ReasonMisfire, e.Reason)
	d.Evaluate()
	d.Plan()
	require.Equal(t, []string{"NOT_FIRED id-id-late", "NOT_FIRED id-id-late"}, d.told())

	// Nobody is to be told any more: the alerts end.
	stored, err := d.Store.Jobs.Get(t.Context(), job.ID)
	require.NoError(t, err)
	stored.Alerts, stored.Version = entity.JobAlerts{}, stored.Version+1
	d.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Update(ctx, stored, false) })
	d.LookAtLevels()
	for _, a := range d.Alerts() {
		require.Equal(t, alert.ByRule, a.Resolution)
	}
}
