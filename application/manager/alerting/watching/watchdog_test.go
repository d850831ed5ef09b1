package watching_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// evaluations is a store that may be away.
type evaluations struct {
	repository.AlertActions
	away error
}

func (e *evaluations) LastEvaluation(ctx context.Context) (time.Time, error) {
	if e.away != nil {
		return time.Time{}, e.away
	}
	return e.AlertActions.LastEvaluation(ctx)
}

func TestAWatchdogTellsOfTwoMinutesOfSilence(t *testing.T) {
	d := alertingtest.New(t)
	store := &evaluations{AlertActions: d.Store}
	var told []watching.Silence
	var refuse error
	dog := watching.NewWatchdog(watching.WatchdogDeps{
		Evaluations: store, Clock: d.Clock, StoreClock: d.Clock,
		Tell: func(_ context.Context, s watching.Silence) error { told = append(told, s); return refuse },
	})
	look := func(after time.Duration, want int) {
		t.Helper()
		d.Clock.Advance(after)
		told = nil
		_ = dog.RunOnce(t.Context())
		require.Len(t, told, want)
	}
	note := func() {
		require.NoError(t, d.Store.NoteEvaluation(t.Context(), "n1", d.Clock.Now()))
	}
	look(2*time.Minute, 0) // a node that starts gives the leader two minutes
	look(time.Second, 1)
	require.Equal(t, 2*time.Minute+time.Second, told[0].Age)
	note()
	look(0, 1)
	require.True(t, told[0].Over)
	look(2*time.Minute, 0)
	store.away = errors.New("away")
	refuse = errors.New("the receiver is away")
	look(time.Second, 1)
	require.Equal(t, "the store does not answer", told[0].Trouble)
	refuse = nil
	look(15*time.Second, 1) // it was not told yet
	look(9*time.Minute, 0)
	look(time.Minute, 1) // it lasts
	store.away = nil
	look(0, 0) // the store is back, and holds an old evaluation
	note()
	look(time.Second, 1)
	require.True(t, told[0].Over)
	m := watching.SilenceMessage(told[0], "n1", d.Clock.Now())
	require.False(t, m.Firing)
	require.NotEmpty(t, m.Alerts[0].EndTime)
}

func TestAHeartbeatFollowsAnEvaluation(t *testing.T) {
	d := alertingtest.New(t)
	beats, shown := 0, time.Time{}
	var fail error
	p := watching.NewPulse(watching.PulseDeps{
		Evaluations: d.Store, Node: "n1", Clock: d.Clock, StoreClock: d.Clock,
		Evaluated: func(at time.Time) { shown = at },
		Beat:      func(context.Context) error { beats++; return fail },
	})
	require.ErrorIs(t, p.RunOnce(t.Context()), periodic.ErrIdle, "nothing was evaluated")
	require.NoError(t, p.Levels(t.Context()))
	require.Zero(t, shown, "events were not")
	p.Events(errors.New("the store is away"))
	require.NoError(t, p.Levels(t.Context()))
	require.Zero(t, shown)
	p.Events(nil)
	require.NoError(t, p.Levels(t.Context()))
	require.Equal(t, d.Clock.Now(), shown)
	require.NoError(t, p.RunOnce(t.Context()))
	require.Equal(t, 1, beats)
	d.Clock.Advance(5 * time.Second)
	require.NoError(t, p.Levels(t.Context()))
	require.Equal(t, enginetest.Noon, shown, "a note each ten seconds is enough")
	d.Clock.Advance(26 * time.Second)
	require.NoError(t, p.Levels(t.Context()))
	require.Equal(t, enginetest.Noon, shown, "events are not evaluated any more")
	d.Clock.Advance(30 * time.Second)
	require.ErrorIs(t, p.RunOnce(t.Context()), periodic.ErrIdle)
	p.Events(nil)
	require.NoError(t, p.Levels(t.Context()))
	fail = errors.New("404")
	require.ErrorContains(t, p.RunOnce(t.Context()), "monitoring.heartbeatUrl")
	require.Equal(t, 2, beats)
}
