package alerting_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

func deps(n *enginetest.Node) alerting.Deps {
	return alerting.Deps{
		Settings: n.Store, Users: n.Store, Jobs: n.Store, Expressions: expression.Language{}, Clock: n.Time,
	}
}

// Silences that are over make room for others; those that hold do not.
func TestOldSilencesMakeRoom(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	silences := alerting.NewSilenceService(deps(n))
	now := n.Time.Now()
	var all []alert.Setting
	for i := range 1000 {
		s := &alert.Silence{
			Head: alert.Head{
				ID: fmt.Sprint("s", i), Name: fmt.Sprint("s", i), Enabled: true, Version: 1, CreateTime: now,
				UpdateTime: now,
			},
			Match: map[string]string{"a": "b"}, From: now, To: now.Add(time.Hour),
		}
		if i < 2 {
			s.To = now.Add(time.Minute)
		}
		stored, err := alert.SettingOf[alert.Silence](alert.KindSilence, s)
		require.NoError(t, err)
		all = append(all, stored)
	}
	require.NoError(t, n.Store.AddMissingAlertSettings(t.Context(), all))
	create := func() error {
		_, err := silences.Create(t.Context(), &alert.Silence{
			Head: alert.Head{Enabled: true}, Match: map[string]string{"a": "b"}, To: now.Add(2 * time.Hour),
		})
		return err
	}
	require.True(t, apperror.Is(create(), apperror.KindConflict), "all of them hold")
	n.Clock.Advance(time.Minute)
	require.NoError(t, create())
	require.NoError(t, create())
	require.True(t, apperror.Is(create(), apperror.KindConflict))
	_, err := silences.Get(t.Context(), "s0")
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	_, err = silences.Get(t.Context(), "s2")
	require.NoError(t, err)
}

// overtaken is a store in which somebody else changes the alert before the first writes.
type overtaken struct {
	repository.Store
	times int
}

func (s *overtaken) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return s.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		tx.Alerts = &lateWriter{tx.Alerts, s}
		return fn(ctx, tx)
	})
}

// lateWriter loses against others.
type lateWriter struct {
	repository.AlertWriter
	s *overtaken
}

func (w *lateWriter) UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error) {
	if w.s.times > 0 {
		w.s.times--
		return false, nil
	}
	return w.AlertWriter.UpdateAlert(ctx, a, seq)
}

// An acknowledgement meets an alert that the evaluator changes at the same time.
func TestAnAcknowledgementIsTriedAgain(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	now := n.Time.Now()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{{
			ID: "a1", Fingerprint: "f", Held: true, Type: alert.JobFailed, Level: alert.Warning, Status: alert.Firing, Seq: 1,
			CreateTime: now, UpdateTime: now, StartTime: now, NotifyDue: now,
		}})
		return err
	})
	store := &overtaken{Store: n.Store, times: 5}
	alerts := alerting.NewAlertService(alerting.AlertDeps{
		Store: store, Alerts: n.Store, Deliveries: n.Store, Clock: n.Time,
	})
	_, err := alerts.Acknowledge(t.Context(), "a1", "ann", "")
	require.True(t, apperror.Is(err, apperror.KindConflict), "it does not try for ever")
	store.times = 4
	got, err := alerts.Acknowledge(t.Context(), "a1", "ann", "mine")
	require.NoError(t, err)
	require.Equal(t, []any{alert.Acknowledged, "ann", "mine", int64(2)},
		[]any{got.Status, got.AckedBy, got.Comment, got.Seq})
	due, err := n.Store.NotifyDue(t.Context(), now.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Empty(t, due, "nobody is told again")
	_, err = alerts.Acknowledge(t.Context(), "none", "ann", "")
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// Who writes the definitions of one group cannot take the room of the others.
func TestAGroupHoldsAQuarterAtMost(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	teams := alerting.NewTeamService(deps(n))
	now := n.Time.Now()
	user := entity.User{ID: "u1", Name: "ann", Role: entity.RoleAdmin, CreateTime: now, UpdateTime: now}
	require.NoError(t, n.Store.AddUser(t.Context(), user))
	add := func(group string, i int) error {
		_, err := teams.Create(t.Context(), &alert.Team{
			Head: alert.Head{Name: fmt.Sprint(group, i), Group: group, Enabled: true}, Members: []string{"u1"},
		})
		return err
	}
	for i := range 125 {
		require.NoError(t, add("pay", i))
	}
	err := add("pay", 125)
	require.True(t, apperror.Is(err, apperror.KindConflict))
	require.ErrorContains(t, err, "the group pay has 125")
	require.NoError(t, add("risk", 0))
	require.NoError(t, add("", 0))
}
