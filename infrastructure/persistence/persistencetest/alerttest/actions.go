package alerttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Actions runs the suite over stores that open gives.
func Actions(t *testing.T, open storetest.Opener) {
	t.Run("actions", func(t *testing.T) { actions(t, open(t, nil)) })
	t.Run("evaluations", func(t *testing.T) { evaluations(t, open(t, nil)) })
	t.Run("what was told", func(t *testing.T) { told(t, open(t, nil)) })
}

func actions(t *testing.T, s *persistence.Store) {
	noon := storetest.Noon
	action := func(id string, at time.Time) alert.Action {
		return alert.Action{
			ID: id, AlertID: "alert-1", RuleID: "rule-1", RuleVersion: 2, Position: len(id), Kind: alert.ActionRunJob,
			Target: "node 😀", State: alert.ActionOpen, NextTry: at, CreateTime: noon,
		}
	}
	all := []alert.Action{action("a", noon), action("bb", noon.Add(time.Second)), action("ccc", noon.Add(time.Hour))}
	for range 2 {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Alerts.AddActions(ctx, all) })
	}
	due := func(at time.Time) []alert.Action {
		found, err := s.DueActions(t.Context(), at, 10)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, all[:2], due(noon.Add(time.Second)))
	allow := func(a alert.Action, most int, now time.Time) repository.Grant {
		a.Editor = "ann"
		granted, err := s.AllowAction(t.Context(), a, most, noon.Add(-time.Hour), now, now.Add(time.Minute))
		require.NoError(t, err)
		return granted
	}
	require.Equal(t, repository.GrantFull, allow(all[0], 0, noon))
	require.Equal(t, repository.GrantGiven, allow(all[0], 1, noon))
	require.Equal(t, repository.GrantLost, allow(all[0], 2, noon), "somebody else has read it, too")
	require.Equal(t, repository.GrantFull, allow(all[1], 1, noon))
	require.Empty(t, due(noon))
	again := due(noon.Add(time.Minute))
	require.Len(t, again, 2)
	require.Equal(t, "ann", again[1].Editor)
	require.Equal(t, noon, again[1].ActTime)
	require.Equal(t, repository.GrantGiven, allow(again[1], 1, noon.Add(time.Minute)), "it is counted once")

	done, refused := again[1], all[1]
	done.Conclude(alert.ActionDone, "", storetest.JobID(9), noon)
	ended := func(a alert.Action) bool {
		ok, err := s.EndAction(t.Context(), a)
		require.NoError(t, err)
		return ok
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		ok, err := tx.Alerts.EndAction(ctx, done)
		require.True(t, ok)
		return err
	})
	require.False(t, ended(done), "once")
	refused.Conclude(alert.ActionRefused, alert.RefusedEditorGone, "the user is gone", noon)
	require.True(t, ended(refused))
	found, err := s.ActionsOfAlerts(t.Context(), []string{"alert-1"})
	require.NoError(t, err)
	of := found["alert-1"]
	require.Len(t, of, 3)
	require.Equal(t, alert.ActionDone, of[0].State)
	require.Equal(t, "the user is gone", of[1].Result)
	for id, want := range map[string]bool{storetest.JobID(9): true, storetest.JobID(8): false} {
		started, err := s.StartedBy(t.Context(), "rule-1", id, noon.Add(-time.Second))
		require.NoError(t, err)
		require.Equal(t, want, started)
	}
	gone, err := s.RefusedActions(t.Context(), []string{alert.RefusedEditorGone}, noon, 10)
	require.NoError(t, err)
	require.Equal(t, []alert.Action{of[1]}, gone)
	gone, err = s.RefusedActions(t.Context(), []string{alert.RefusedLimit}, noon, 10)
	require.NoError(t, err)
	require.Empty(t, gone)
}

func evaluations(t *testing.T, s *persistence.Store) {
	last := func() time.Time {
		at, err := s.LastEvaluation(t.Context())
		require.NoError(t, err)
		return at
	}
	require.Zero(t, last())
	for _, at := range []time.Duration{2, 1, 2} {
		require.NoError(t, s.NoteEvaluation(t.Context(), "n 😀", storetest.Noon.Add(at*time.Second)))
		require.Equal(t, storetest.Noon.Add(2*time.Second), last(), "an older one changes nothing")
	}
}

func told(t *testing.T, s *persistence.Store) {
	noon := storetest.Noon
	a, b := episode(1, "f1"), episode(2, "f2")
	first, second, held, other := message("k1", 1, a), message("k1", 2, a, b), message("k2", 1, a), message("k3", 1, b)
	first.To, second.To = []string{"bob@example.org"}, []string{"cho@example.org"}
	repeat := message("k1", 3, a)
	repeat.To = []string{"ann@example.org", "dan 😀 <dan@example.org>"}
	elses := message("k1", 4, b)
	first.State, first.UpdateTime = alert.NotificationSent, noon.Add(time.Minute)
	held.State, held.Why = alert.NotificationSuppressed, "silence: night"
	other.ChannelID, other.TemplateID, other.To = "c2", "t1", []string{"ann@example.org"}
	report := message("report", 1)
	report.Body = alert.Content{Title: "week 😀", Text: "all"}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{a, b}); err != nil {
			return err
		}
		return tx.Alerts.AddNotifications(ctx, []*alert.Notification{first, second, repeat, elses, held, other, report})
	})
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		found, err := tx.Alerts.PlannedMessages(ctx, []string{a.ID, b.ID})
		require.NoError(t, err)
		require.ElementsMatch(t, []repository.PlannedMessage{
			{
				AlertID: a.ID, ChannelID: "c1", GroupKey: "k1", State: alert.NotificationSent, Seq: 1,
				At: noon.Add(time.Minute), To: first.To,
			},
			{
				AlertID: a.ID, ChannelID: "c1", GroupKey: "k1", State: alert.NotificationOpen, Fresh: true, Seq: 1, At: noon,
				To: repeat.To,
			},
			{
				AlertID: a.ID, ChannelID: "c1", GroupKey: "k2", State: alert.NotificationSuppressed, Why: held.Why, Seq: 1,
				At: noon,
			},
			{AlertID: b.ID, ChannelID: "c1", GroupKey: "k1", State: alert.NotificationOpen, Fresh: true, Seq: 1, At: noon},
			{
				AlertID: b.ID, ChannelID: "c2", GroupKey: "k3", State: alert.NotificationOpen, Fresh: true, Seq: 1, At: noon,
				To: other.To,
			},
		}, found)
		for limit, want := range map[int]int{10: 5, 2: 2} {
			n, err := tx.Alerts.CountNotifications(ctx, "c1", noon.Add(-time.Second), limit)
			require.NoError(t, err)
			require.Equal(t, want, n, "without what was held back")
		}
		for _, want := range []*alert.Notification{other, report} {
			n, _, err := tx.Alerts.LastNotification(ctx, want.GroupKey, want.ChannelID)
			require.NoError(t, err)
			require.Equal(t, *want, n)
		}
		plan := func(seq int64, due time.Time) bool {
			ok, err := tx.Alerts.PlanAlert(ctx, a.ID, seq, due, noon.Add(time.Hour))
			require.NoError(t, err)
			return ok
		}
		require.False(t, plan(a.Seq+1, a.NotifyDue))
		require.False(t, plan(a.Seq, a.NotifyDue.Add(time.Second)))
		require.True(t, plan(a.Seq, a.NotifyDue))
		require.False(t, plan(a.Seq, a.NotifyDue), "once")
		return nil
	})
	got, err := s.Alert(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, noon.Add(time.Hour), got.NotifyDue)
	require.Equal(t, a.Seq, got.Seq)
	counts, err := s.AlertsBetween(t.Context(), noon, noon.Add(2*time.Second))
	require.NoError(t, err)
	require.Equal(t, []alert.AlertCount{{Type: alert.JobFailed, Level: alert.Warning, Count: 1}}, counts)

	before := noon.Add(time.Minute)
	for want, state := range []alert.NotificationState{alert.NotificationOpen, alert.NotificationSent} {
		old := message(policy.ReportKey(), want+1)
		old.ID, old.State = fmt.Sprint("week-", want), state
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			return tx.Alerts.AddNotifications(ctx, []*alert.Notification{old})
		})
		purged, err := s.PurgeReports(t.Context(), before, 10)
		require.NoError(t, err)
		require.Equal(t, repository.Purged{Deleted: want}, purged, "what is open stays")
	}
}
