package alerting_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// refuser refuses alerts: with a fat label, or about a job at all.
type refuser struct {
	repository.AlertWriter
	job string
}

func refusing(s repository.Store, job string) repository.Store {
	return enginetest.Around(s, func(tx *repository.Tx) { tx.Alerts = refuser{tx.Alerts, job} })
}

func (w refuser) refuse(a *alert.Alert) error {
	if _, fat := a.Labels["fat"]; fat || a.JobID == w.job {
		return &repository.PoisonError{Err: errors.New("data too long for column 'labels'")}
	}
	return nil
}

func (w refuser) AddAlerts(ctx context.Context, alerts []*alert.Alert) ([]string, error) {
	for _, a := range alerts {
		if err := w.refuse(a); err != nil {
			return nil, err
		}
	}
	return w.AlertWriter.AddAlerts(ctx, alerts)
}

func (w refuser) UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error) {
	if err := w.refuse(a); err != nil {
		return false, err
	}
	return w.AlertWriter.UpdateAlert(ctx, a, seq)
}

// fatJob has a label that a refusing store refuses.
func fatJob(name string, change func(j *entity.Job)) *entity.Job {
	return enginetest.Job(name, func(j *entity.Job) {
		if j.Labels = map[string]string{"fat": "x"}; change != nil {
			change(j)
		}
	})
}

func (d *desk) jobsOfAlerts() (ids []string) {
	for _, a := range d.Alerts() {
		ids = append(ids, a.JobID)
	}
	return ids
}

// A job whose alert the store refuses stops the alerts of no other job. The evaluator raises its alert reduced. If the
// store refuses that too, the evaluator sets the event aside.
func TestAnAlertThatTheStoreRefusesStopsNoOther(t *testing.T) {
	d := newDesk(t)
	d.Book = aside.NewRecorder(d.Clock, nil, nil, slog.New(slog.DiscardHandler))
	d.Rule(alert.JobFailed, nil)
	fat, hopeless, plain := d.Add(t, fatJob("fat", nil)), d.Add(t, enginetest.Job("hopeless", nil)),
		d.Add(t, enginetest.Job("plain", nil))
	for _, job := range []*entity.Job{fat, hopeless, plain} {
		d.End(job, entity.StatusFailed, func(e *entity.Execution) { e.ErrorMessage = strings.Repeat("组", 1000) })
		d.Clock.Advance(time.Second)
	}
	store := refusing(d.Store, hopeless.ID)
	taken, more, err := d.Leader(store).RunOnce(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, taken)
	require.False(t, more)
	require.Equal(t, []string{fat.ID, plain.ID}, d.jobsOfAlerts())
	for _, a := range d.Alerts() {
		if a.JobID == plain.ID {
			require.NotEmpty(t, a.Details, "this one is whole")
			continue
		}
		require.Empty(t, a.Details)
		require.LessOrEqual(t, len(a.Content), 500)
		require.Equal(t, "default", a.Labels["group"])
		require.NotContains(t, a.Labels, "fat")
	}
	asides, err := d.Store.ListAsides(t.Context(), "", 10)
	require.NoError(t, err)
	require.Len(t, asides, 1)
	for _, a := range asides {
		require.Equal(t, entity.AsideEvent, a.Kind)
		require.Equal(t, hopeless.ID, a.Job)
		require.Equal(t, "rule-job_failed", a.Rule)
		require.Contains(t, a.Reason, "data too long")
		require.Equal(t, entity.AsideMissing, a.State)
	}
	require.Contains(t, d.Book.Trouble(), "event: 1")
	left, err := d.Store.PendingEvents(t.Context(), entity.ReaderRules, 0, 10)
	require.NoError(t, err)
	require.Empty(t, left)
	again, _, err := d.Leader(store).RunOnce(t.Context())
	require.NoError(t, err)
	require.Zero(t, again)
}

// The same holds for rules about levels.
func TestALevelThatTheStoreRefusesStopsNoOther(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.NotFired, nil)
	fat := d.Add(t, fatJob("fat", enginetest.Every(time.Hour)))
	hopeless := d.Add(t, enginetest.Job("hopeless", enginetest.Every(time.Hour)))
	plain := d.Add(t, enginetest.Job("plain", enginetest.Every(time.Hour)))
	d.Clock.Advance(10 * time.Minute)
	store := refusing(d.Store, hopeless.ID)
	for range 2 {
		_, err := d.Leader(store).Levels(t.Context())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{fat.ID, plain.ID}, d.jobsOfAlerts())
		d.Clock.Advance(5 * time.Second)
	}
	asides, err := d.Store.ListAsides(t.Context(), entity.AsideLevel, 10)
	require.NoError(t, err)
	require.Len(t, asides, 1)
	require.Equal(t, hopeless.ID, asides[0].Job)
}

// A store that is away blames nobody.
func TestAnOutageSetsNothingAside(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.End(d.Add(t, enginetest.Job("plain", nil)), entity.StatusFailed)
	d.Faults.Away(true)
	_, _, err := d.Leader(d.Faults).RunOnce(t.Context())
	require.Error(t, err)
	d.Faults.Away(false)
	d.Evaluate()
	require.Len(t, d.Alerts(), 1)
	asides, err := d.Store.ListAsides(t.Context(), "", 10)
	require.NoError(t, err)
	require.Empty(t, asides)
}

// Labels that an older release took, 64 of 255 letters with six bytes each, fit into an alert.
func TestTheFattestLabelsAreRaisedWhole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		d := &desk{&alertingtest.Desk{Node: enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{}), T: t}}
		d.Rule(alert.JobFailed, nil)
		d.Rule(alert.NotFired, nil)
		fat := d.Add(t, enginetest.Job("fat", func(j *entity.Job) {
			enginetest.Every(time.Hour)(j)
			j.Labels = map[string]string{}
			for i := range 64 {
				j.Labels[fmt.Sprintf("label-%02d", i)] = strings.Repeat("<", 255)
			}
		}))
		d.End(fat, entity.StatusFailed)
		d.Clock.Advance(10 * time.Minute)
		d.Evaluate()
		d.LookAtLevels()
		require.Len(t, d.Alerts(), 2)
		for _, a := range d.Alerts() {
			require.Equal(t, fat.Labels["label-63"], a.Labels["label-63"])
		}
	})
}

// Slow rules store what they have evaluated, so that the alerts of others come soon.
func TestSlowRulesStoreWhatTheyHave(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	job := d.Add(t, enginetest.Job("plain", nil))
	for range 450 {
		d.End(job, entity.StatusFailed)
		d.Clock.Advance(time.Millisecond)
	}
	var batches []int
	d.Faults.After(func(name string) {
		if name == "alert-events" {
			batches = append(batches, 450-len(pendingRules(t, d)))
		}
	})
	d.Evaluate()
	require.Equal(t, []int{200, 400, 450}, batches, "so many events were taken after each transaction")
}

func pendingRules(t *testing.T, d *desk) []entity.Event {
	events, err := d.Store.PendingEvents(t.Context(), entity.ReaderRules, 0, 1000)
	require.NoError(t, err)
	return events
}
