package alerting_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// steps watches the clock of a desk.
func (d *desk) steps() func() {
	d.T.Helper()
	s := watching.NewSteps(watching.StepsDeps{
		Marks: d.Store, PullBack: d.Store.PullBack, Clock: d.Clock, StoreClock: d.Clock,
		Logger: slog.New(slog.DiscardHandler), Wake: func() {},
	})
	check := func() {
		d.T.Helper()
		require.NoError(d.T, s.Check(d.T.Context()))
	}
	check()
	return check
}

// open is how many alerts are.
func (d *desk) open() (n int) {
	d.T.Helper()
	for _, a := range d.Alerts() {
		if a.Open() {
			n++
		}
	}
	return n
}

// After the store's clock was set back, failures open alerts and successes end them at once, again
// and again in the span that repeats.
func TestAlertsGoOnAfterTheClockWasSetBack(t *testing.T) {
	for _, step := range []time.Duration{-20 * time.Second, -time.Minute, -time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			d := newDesk(t)
			d.Rule(alert.JobFailed, nil)
			d.Route(nil)
			job := d.Add(t, enginetest.Job("settle", nil))
			check := d.steps()
			turn := func() {
				check()
				d.Evaluate()
				_, err := d.Leader(d.Faults).Recover(t.Context())
				require.NoError(t, err)
				d.Plan()
				d.Clock.Advance(time.Second)
			}
			d.End(job, entity.StatusFailed)
			turn()
			d.End(job, entity.StatusSuccess)
			turn()
			d.End(job, entity.StatusFailed)
			turn()
			require.Equal(t, 1, d.open())
			turn()
			told := len(d.told())

			d.Clock.Jump(step)
			check()
			d.Clock.Advance(time.Second)
			for n := range 5 {
				d.End(job, entity.StatusSuccess)
				turn()
				require.Zero(t, d.open(), "a success ends it, round %d", n)
				d.End(job, entity.StatusFailed)
				turn()
				require.Equal(t, 1, d.open(), "a failure opens one, round %d", n)
			}
			require.Greater(t, len(d.told()), told, "they are told")
			require.Len(t, d.Alerts(), 7)
		})
	}
}

// A level that had fallen, or had just risen, goes on from the present.
func TestAFailureRightAfterTheClockWasSetBackIsAnAlert(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	job := d.Add(t, enginetest.Job("settle", nil))
	check := d.steps()
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	d.Clock.Advance(time.Second)
	d.End(job, entity.StatusSuccess)
	_, err := d.Leader(d.Faults).Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, alert.Resolved, d.One().Status)
	d.Clock.Jump(-time.Hour)
	check()
	d.Clock.Advance(time.Millisecond)
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Equal(t, 1, d.open())
}
