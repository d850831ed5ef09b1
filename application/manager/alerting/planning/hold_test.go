package planning_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// refuser refuses what is to be told of one alert, while on.
type refuser struct {
	repository.AlertWriter
	alertID string
	on      *bool
}

func (w refuser) JoinNotification(ctx context.Context, id string, told []alert.NotifiedAlert) (bool, error) {
	for _, a := range told {
		if *w.on && a.AlertID == w.alertID {
			return false, &repository.PoisonError{Err: errors.New("data too long for column 'recipients'")}
		}
	}
	return w.AlertWriter.JoinNotification(ctx, id, told)
}

// A plan that cannot be stored delays no other. The leader tries it again after a minute, doubling to an hour, for a
// day.
func TestAPlanThatTheStoreRefusesDelaysNoOther(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(func(r *alert.Route) { r.GroupBy = []string{"job"} })
	bad := d.Fail("bad")
	d.Clock.Advance(time.Second) // alerts are in order of their beginnings
	good := d.Fail("good")
	on := true
	store := enginetest.Around(d.Store, func(tx *repository.Tx) { tx.Alerts = refuser{tx.Alerts, bad.ID, &on} })
	began := d.Clock.Now()
	planned, err := d.Planning(store).Plan(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, planned)
	require.Len(t, d.notifications(good), 1)
	require.Empty(t, d.notifications(bad))

	due := func() time.Duration {
		a, err := d.Store.Alert(t.Context(), bad.ID)
		require.NoError(t, err)
		if a.NotifyDue.IsZero() {
			return 0
		}
		return a.NotifyDue.Sub(began)
	}
	state := func() []entity.SetAside {
		all, err := d.Store.ListAsides(t.Context(), entity.AsidePlan, 10)
		require.NoError(t, err)
		return all
	}
	var tries []time.Duration
	for next := due(); next > 0; next = due() {
		require.Equal(t, entity.AsideWaiting, state()[0].State)
		tries = append(tries, next)
		d.Clock.Advance(began.Add(next).Sub(d.Clock.Now()))
		_, err := d.Planning(store).Plan(t.Context())
		require.NoError(t, err)
	}
	const m = time.Minute
	require.Equal(t, []time.Duration{m, 3 * m, 7 * m, 15 * m, 31 * m, 63 * m, 123 * m}, tries[:7])
	require.Len(t, tries, 7+22, "for a day")
	require.Equal(t, entity.AsideDead, state()[0].State)
	require.Equal(t, bad.JobID, state()[0].Job)

	on = false // somebody has mended it, and the alert changes
	a, err := d.Store.Alert(t.Context(), bad.ID)
	require.NoError(t, err)
	d.Resolve(a)
	_, err = d.Planning(store).Plan(t.Context())
	require.NoError(t, err)
	require.Empty(t, state(), "what is planned waits no more")
}
