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
		Settings: n.Store, Users: n.Store, Jobs: n.Store.Jobs, Groups: n.Store, Alerts: n.Store,
		Suspensions: n.Store,
		Expressions: expression.Language{},
		Clock:       n.Time,
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

// lateWriter is overtaken by somebody else who changes the alert, so many times.
type lateWriter struct {
	repository.AlertWriter
	times *int
}

func (w *lateWriter) UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error) {
	if *w.times > 0 {
		*w.times--
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
	times := 5
	store := enginetest.Around(n.Store, func(tx *repository.Tx) { tx.Alerts = &lateWriter{tx.Alerts, &times} })
	alerts := &alerting.AlertService{
		Store: store, Alerts: n.Store, Deliveries: n.Store, Clock: n.Time,
	}
	_, err := alerts.Acknowledge(t.Context(), "a1", "ann", "")
	require.True(t, apperror.Is(err, apperror.KindConflict), "it does not try for ever")
	times = 4
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

// An author of the definitions of one group cannot take the room of the others.
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

// Alerts that go on are planned anew when somebody new may be told of them: a route or a channel that is
// made, switched on or widened. An edit of texts does not.
func TestOpenAlertsReachWhoIsNew(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	now := n.Clock.Now()
	opened(t, n, "1", "a", "r")
	opened(t, n, "2", "b", "r")
	due := func() []string { return dueGroups(t, n) }
	routes := alerting.NewRouteService(deps(n))
	keep := func(former, next *alert.Route) *alert.Route {
		t.Helper()
		var err error
		if former == nil {
			next, err = routes.Create(t.Context(), next)
		} else {
			next.Head.Name = former.Head.Name
			next, err = routes.Replace(t.Context(), former, next, former.Version)
		}
		require.NoError(t, err)
		return next
	}
	require.NoError(t, n.Store.AddAlertSetting(t.Context(), alert.Setting{
		Head: alert.Head{ID: "c1", Name: "c1", Enabled: true, Version: 1, CreateTime: now, UpdateTime: now},
		Kind: alert.KindChannel, Document: "{}",
	}))
	base := alert.Route{Head: alert.Head{Name: "r", Group: "a"}, ChannelIDs: []string{"c1"}}
	off := keep(nil, &base)
	require.Empty(t, due(), "it is switched off")
	on := *off
	on.Enabled = true
	former := keep(off, &on)
	require.Equal(t, []string{"a"}, due(), "of its group alone")
	waits := *former
	waits.GroupWaitSec = 30
	former = keep(former, &waits)
	require.Empty(t, due(), "nobody new is told")
	wide := *former
	wide.Group, wide.Match = "", map[string]string{"severity": "CRITICAL"}
	keep(former, &wide)
	require.Equal(t, []string{"a", "b"}, due())
	none := alert.Route{Head: alert.Head{Name: "n", Enabled: true}, ChannelIDs: []string{"c1"}}
	none.Match = map[string]string{"severity": "INFO"}
	keep(nil, &none)
	require.Empty(t, due())
}
