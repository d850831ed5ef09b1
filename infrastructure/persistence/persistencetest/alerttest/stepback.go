package alerttest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// SteppedBack runs the suite over stores that open gives: moments that lie ahead, because the
// store's clock was set back, are written down to the present, and no others.
func SteppedBack(t *testing.T, open storetest.Opener) {
	t.Run("moments that lie ahead", func(t *testing.T) { ahead(t, open(t, nil)) })
	t.Run("many rows", func(t *testing.T) { manyAhead(t, open(t, nil)) })
	t.Run("the latest episode is the open one", func(t *testing.T) { latestIsOpen(t, open(t, nil)) })
}

func pullBack(t *testing.T, s *persistence.Store, plans bool) int {
	t.Helper()
	rows, err := s.PullBack(t.Context(), storetest.Noon, plans)
	require.NoError(t, err)
	return rows
}

func ahead(t *testing.T, s *persistence.Store) {
	now := storetest.Noon
	future, past := episode(3600, "future"), episode(-3600, "past")
	require.Len(t, add(t, s, future, past), 2)
	waiting := episode(-7200, "waiting")
	waiting.NotifyDue = now.Add(time.Hour)
	require.Len(t, add(t, s, waiting), 1)
	notification := func(id string, attempts int, next, updated time.Duration) *alert.Notification {
		n := message(id, 1)
		n.ID, n.Attempts, n.NextTry, n.CreateTime, n.UpdateTime = id, attempts, now.Add(
			next,
		), now.Add(
			updated,
		), now.Add(
			updated,
		)
		return n
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Alerts.AddActions(ctx, []alert.Action{{
			ID: "act", AlertID: past.ID, RuleID: "r", Kind: alert.ActionPauseJob, Target: "j", State: alert.ActionOpen,
			NextTry: now.Add(time.Hour), CreateTime: now.Add(time.Hour),
		}}); err != nil {
			return err
		}
		return tx.Alerts.AddNotifications(ctx, []*alert.Notification{
			notification("retried", 1, time.Hour, time.Hour), notification("planned", 0, time.Hour, time.Hour),
			notification("interval", 0, time.Hour, 0), notification("skew", 3, time.Hour, time.Second),
		})
	})
	due := func() (ids []string) {
		found, err := s.DueNotifications(t.Context(), now, nil, 20)
		require.NoError(t, err)
		for _, n := range found {
			ids = append(ids, n.ID)
		}
		slices.Sort(ids)
		return ids
	}
	require.Empty(t, due())
	require.Equal(t, 5, pullBack(t, s, true), "an alert, one that waits, an action, two messages")
	require.Equal(t, []string{"planned", "retried"}, due(),
		"the interval of a group goes on; clocks of two nodes may be apart by a little")

	got, err := s.Alert(t.Context(), future.ID)
	require.NoError(t, err)
	for name, at := range map[string]time.Time{
		"evidence": got.EvidenceUntil, "clear": got.ClearSince, "pending": got.PendingSince, "start": got.StartTime,
		"last": got.LastTime, "due": got.NotifyDue, "update": got.UpdateTime,
	} {
		require.True(t, now.Equal(at), "%s: %s", name, at)
	}
	require.Equal(t, []any{future.Seq, future.AckTime}, []any{got.Seq, got.AckTime})
	got, err = s.Alert(t.Context(), past.ID)
	require.NoError(t, err)
	require.Equal(t, past, got, "nothing of it lies ahead")
	planned, err := s.NotifyDue(t.Context(), now, 10)
	require.NoError(t, err)
	require.Len(t, planned, 3)
	actions, err := s.DueActions(t.Context(), now, 10)
	require.NoError(t, err)
	require.Len(t, actions, 1)
	require.Zero(t, pullBack(t, s, true), "that was all")
	n, err := counted(t, s, now.Add(-time.Minute))
	require.NoError(t, err)
	require.Equal(t, 2, n, "what was written before the step counts in no bound of a minute")
}

// counted is how many messages the channel has had since a moment.
func counted(t *testing.T, s *persistence.Store, since time.Time) (n int, err error) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		n, err = tx.Alerts.CountNotifications(ctx, "c1", since, 100)
		return err
	})
	return n, err
}

func manyAhead(t *testing.T, s *persistence.Store) {
	var all []*alert.Alert
	for n := range 1201 {
		all = append(all, episode(3600+n, fmt.Sprint("f", n)))
	}
	require.Len(t, add(t, s, all...), len(all))
	require.Equal(t, len(all), pullBack(t, s, false))
	require.Zero(t, pullBack(t, s, false))
}

// An episode that opened after the clock was set back has a smaller id than the one before it.
func latestIsOpen(t *testing.T, s *persistence.Store) {
	former := episode(3600, "f")
	former.Held, former.Status = false, alert.Resolved
	current := episode(60, "f")
	require.Len(t, add(t, s, former, current), 2)
	other := episode(10, "g")
	other.Held, other.Status = false, alert.Resolved
	require.Len(t, add(t, s, other), 1)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		found, err := tx.Alerts.LatestEpisodes(ctx, []string{"f", "g", "h"})
		require.Len(t, found, 2)
		require.Equal(t, []string{current.ID, other.ID}, []string{found[0].ID, found[1].ID})
		return err
	})
}
