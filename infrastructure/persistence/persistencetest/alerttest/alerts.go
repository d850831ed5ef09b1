// Package alerttest is the contract of alerts, of what people define for alerting, and
// of notifications.
package alerttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Alerts runs the suite over stores that open gives.
func Alerts(t *testing.T, open storetest.Opener) {
	t.Run("episodes", func(t *testing.T) { episodes(t, open(t, nil)) })
	t.Run("changes", func(t *testing.T) { changes(t, open(t, nil)) })
	t.Run("lists", func(t *testing.T) { lists(t, open(t, nil)) })
	t.Run("jobs of alerts", func(t *testing.T) { jobs(t, open(t, nil)) })
	t.Run("events", func(t *testing.T) { events(t, open(t, nil)) })
	t.Run("old alerts", func(t *testing.T) { old(t, open(t, nil)) })
	t.Run("deadlines", func(t *testing.T) { deadlines(t, open(t, nil)) })
}

// episode is an alert with every field, whose first evidence is n seconds after noon.
func episode(n int, fingerprint string) *alert.Alert {
	at := storetest.Noon.Add(time.Duration(n) * time.Second)
	return &alert.Alert{
		ID: identity.ExecutionID(at, fingerprint, "", 0), Fingerprint: fingerprint, Held: true, Type: alert.JobFailed,
		Level: alert.Warning, Status: alert.Firing, RuleID: "rule-1", RuleVersion: 3, Group: "päy", JobID: storetest.JobID(n),
		ExecutionID: storetest.JobID(1), LastExecutionID: storetest.JobID(2), NodeID: "node 😀",
		Labels: map[string]string{"a": "ß"}, Content: "it failed 😀", Details: map[string]string{"n": "1"}, Count: 2,
		PendingSince: at, StartTime: at.Add(1e6), LastTime: at.Add(2e6), EndTime: at.Add(3e6), ClearSince: at.Add(4e6),
		EvidenceUntil: at.Add(5e6), AckedBy: "änn", AckTime: at.Add(6e6), ResolvedBy: "bob", Resolution: alert.ByHand,
		Comment: "änderung",
		Seq:     1, NotifyDue: at.Add(7e6), CreateTime: at, UpdateTime: at.Add(8e6),
	}
}

func add(t *testing.T, s *persistence.Store, alerts ...*alert.Alert) (added []string) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		added, err = tx.Alerts.AddAlerts(ctx, alerts)
		return err
	})
	return added
}

func update(t *testing.T, s *persistence.Store, a *alert.Alert, seq int64) (ok bool) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		ok, err = tx.Alerts.UpdateAlert(ctx, a, seq)
		return err
	})
	return ok
}

// An episode opens once, and a fingerprint has one open episode.
func episodes(t *testing.T, s *persistence.Store) {
	first := episode(1, "f1")
	require.Equal(t, []string{first.ID}, add(t, s, first))
	got, err := s.Alert(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, first, got)
	again := episode(1, "f1")
	again.Content = "another"
	later, other := episode(2, "f1"), episode(2, "f2")
	require.Equal(t, []string{other.ID}, add(t, s, again, later, other), "the id exists; the fingerprint is held")
	got, err = s.Alert(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, first, got, "it stays as it was")

	over := *first
	over.Status, over.Held, over.Seq = alert.Resolved, false, 2
	require.True(t, update(t, s, &over, 1))
	require.Empty(t, add(t, s, first), "the same evidence never opens it again")
	require.Equal(t, []string{later.ID}, add(t, s, later))
	bare := &alert.Alert{
		ID: identity.ExecutionID(storetest.Noon, "f3", "", 0), Fingerprint: "f3", Type: alert.Watchdog, Level: alert.Info,
		Status: alert.Resolved, CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}
	require.Equal(t, []string{bare.ID}, add(t, s, bare))

	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		latest, err := tx.Alerts.LatestEpisodes(ctx, []string{"f3", "f2", "none", "f1", "f1"})
		require.NoError(t, err)
		require.Equal(t, []*alert.Alert{later, other, bare}, latest)
		latest, err = tx.Alerts.LatestEpisodes(ctx, nil)
		require.NoError(t, err)
		require.Empty(t, latest)
		byID, err := tx.Alerts.AlertsByID(ctx, []string{other.ID, "none", "ä", first.ID})
		require.NoError(t, err)
		require.ElementsMatch(t, []*alert.Alert{&over, other}, byID)
		return nil
	})
	held, err := s.HeldAlerts(t.Context(), "", 10)
	require.NoError(t, err)
	require.Equal(t, []*alert.Alert{later, other}, held)
	checkCounts(t, s, held)
	held, err = s.HeldAlerts(t.Context(), "f1", 1)
	require.NoError(t, err)
	require.Equal(t, []*alert.Alert{other}, held)
	var levels []*alert.Alert
	for n, kind := range []alert.RuleType{alert.QueueDepth, alert.NotFired} {
		levels = append(levels, episode(3+n, fmt.Sprint("f", 4+n)))
		levels[n].Type = kind
	}
	add(t, s, levels...)
	held, err = s.HeldLevels(t.Context(), "", 10)
	require.NoError(t, err)
	require.Equal(t, levels, held)
	held, err = s.HeldLevels(t.Context(), "f4", 10)
	require.NoError(t, err)
	require.Equal(t, levels[1:], held)
	_, err = s.Alert(t.Context(), "nöne")
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// A writer of an alert must have read its latest change.
func changes(t *testing.T, s *persistence.Store) {
	a := episode(1, "f1")
	add(t, s, a)
	next := *a
	next.Seq, next.Content, next.Labels, next.Details, next.Level = 2, "x", nil, nil, alert.Critical
	next.NotifyDue, next.ClearSince = time.Time{}, time.Time{}
	require.True(t, update(t, s, &next, 1))
	stale := *a
	stale.Seq = 2
	require.False(t, update(t, s, &stale, 1), "somebody was first")
	got, err := s.Alert(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, &next, got)

	over := next
	over.Held, over.Status, over.Seq = false, alert.Resolved, 3
	require.True(t, update(t, s, &over, 2))
	add(t, s, episode(5, "f1"))
	over.Held, over.Seq = true, 4
	require.False(t, update(t, s, &over, 3), "another episode holds the fingerprint")

	err = s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		bad := episode(7, "f7")
		bad.Content = "\xff"
		_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{episode(6, "f6"), bad})
		return err
	})
	var poison *repository.PoisonError
	require.ErrorAs(t, err, &poison)
	_, err = s.Alert(t.Context(), episode(6, "f6").ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "nothing half done")
}

func lists(t *testing.T, s *persistence.Store) {
	var all []*alert.Alert
	for n := range 6 {
		a := episode(n, string(rune('a'+n)))
		a.NotifyDue = time.Time{}
		switch n {
		case 1:
			a.Group, a.Level = "", alert.Critical
			a.Labels = map[string]string{"a": "ß", "x": `1","a":"2`}
		case 2:
			a.Status, a.Type = alert.Acknowledged, alert.NodeDown
		case 3:
			a.RuleID, a.NodeID, a.Group = "rule-2", "n2", "risk"
			a.NotifyDue = storetest.Noon.Add(time.Hour)
		case 4:
			a.NotifyDue = storetest.Noon
		}
		all = append(all, a)
	}
	add(t, s, all...)
	list := func(f repository.AlertFilter) (seen []int) {
		page := repository.Page{Limit: 2}
		for {
			found, next, err := s.ListAlerts(t.Context(), f, page)
			require.NoError(t, err)
			for _, a := range found {
				seen = append(seen, int(a.CreateTime.Sub(storetest.Noon)/time.Second))
			}
			if next == "" {
				return seen
			}
			page.Cursor = next
		}
	}
	require.Equal(t, []int{5, 4, 3, 2, 1, 0}, list(repository.AlertFilter{}))
	require.Equal(t, []int{2}, list(repository.AlertFilter{Statuses: []alert.Status{alert.Acknowledged, alert.Pending}}))
	require.Equal(t, []int{1}, list(repository.AlertFilter{Level: alert.Critical}))
	require.Equal(t, []int{2}, list(repository.AlertFilter{Type: alert.NodeDown}))
	require.Equal(t, []int{3}, list(repository.AlertFilter{RuleID: "rule-2"}))
	require.Equal(t, []int{4}, list(repository.AlertFilter{JobID: storetest.JobID(4)}))
	require.Equal(t, []int{3}, list(repository.AlertFilter{NodeID: "n2"}))
	require.Equal(t, []int{3}, list(repository.AlertFilter{Groups: []string{"risk", "none"}}))
	require.Empty(t, list(repository.AlertFilter{Groups: []string{}}))
	require.Empty(t, list(repository.AlertFilter{Groups: []string{""}}), "alerts of the cluster are for all groups")
	require.Equal(t, []int{5, 4, 3, 2, 1, 0}, list(repository.AlertFilter{Labels: map[string]string{"a": "ß"}}))
	require.Equal(t, []int{1}, list(repository.AlertFilter{Labels: map[string]string{"a": "ß", "x": `1","a":"2`}}))
	require.Empty(t, list(repository.AlertFilter{Labels: map[string]string{"a": "2"}}), "it is a part of another text")
	require.Empty(t, list(repository.AlertFilter{Labels: map[string]string{"a": "SS"}}))
	require.Empty(t, list(repository.AlertFilter{Labels: map[string]string{"a": ""}}))
	require.Equal(t, []int{5, 4, 3, 1, 0}, list(repository.AlertFilter{
		Statuses: []alert.Status{alert.Firing}, Labels: map[string]string{"a": "ß"},
	}), "open ones are read by their index")
	require.Empty(t, list(repository.AlertFilter{JobID: "jöb"}))
	require.Empty(t, list(repository.AlertFilter{Statuses: []alert.Status{alert.Resolved}}))
	at := func(n int) time.Time { return storetest.Noon.Add(time.Duration(n) * time.Second) }
	require.Equal(t, []int{3, 2}, list(repository.AlertFilter{From: at(2), To: at(4)}))
	_, _, err := s.ListAlerts(t.Context(), repository.AlertFilter{}, repository.Page{Cursor: "%"})
	require.True(t, apperror.Is(err, apperror.KindInvalid))

	due, err := s.NotifyDue(t.Context(), storetest.Noon.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Equal(t, []*alert.Alert{all[4], all[3]}, due)
	due, err = s.NotifyDue(t.Context(), storetest.Noon.Add(time.Hour-1e6), 10)
	require.NoError(t, err)
	require.Equal(t, []*alert.Alert{all[4]}, due)
}

// Retention deletes what is over, and with it what told of nothing else.
func old(t *testing.T, s *persistence.Store) {
	make1 := func(n int, status alert.Status, held bool) *alert.Alert {
		a := episode(n, fmt.Sprint("f", n))
		a.Status, a.Held = status, held
		return a
	}
	all := []*alert.Alert{
		make1(0, alert.Resolved, false), make1(1, alert.Firing, true), make1(2, alert.Resolved, true),
		make1(3, alert.Resolved, false), make1(3600, alert.Resolved, false),
	}
	add(t, s, all...)
	both, one := message("k", 1, all[0], all[1]), message("k", 2, all[0])
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Alerts.AddNotifications(ctx, []*alert.Notification{both, one}); err != nil {
			return err
		}
		var actions []alert.Action
		for i, a := range all[:2] {
			actions = append(actions, alert.Action{
				ID: fmt.Sprint("action-", i), AlertID: a.ID, State: alert.ActionOpen, NextTry: storetest.Noon,
				CreateTime: storetest.Noon,
			})
		}
		return tx.Alerts.AddActions(ctx, actions)
	})
	_, ok, err := s.BeginDelivery(t.Context(), *both, "n1", storetest.Noon)
	require.NoError(t, err)
	require.True(t, ok)
	before := storetest.Noon.Add(time.Minute)
	p, err := s.PurgeAlerts(t.Context(), before, 1)
	require.NoError(t, err)
	require.Equal(t, repository.Purged{Deleted: 1, More: true}, p)
	p, err = s.PurgeAlerts(t.Context(), before, 10)
	require.NoError(t, err)
	require.Equal(t, repository.Purged{Deleted: 1}, p)
	p, err = s.PurgeAlerts(t.Context(), before, 10)
	require.NoError(t, err)
	require.Zero(t, p)
	left, _, err := s.ListAlerts(t.Context(), repository.AlertFilter{}, repository.Page{})
	require.NoError(t, err)
	require.Equal(t, []*alert.Alert{all[4], all[2], all[1]}, left)
	told, sent, err := s.NotificationsOf(t.Context(), all[1].ID, 10)
	require.NoError(t, err)
	require.Len(t, told, 1, "it tells of an alert that goes on")
	require.Len(t, sent, 1)
	told, _, err = s.NotificationsOf(t.Context(), all[0].ID, 10)
	require.NoError(t, err)
	require.Empty(t, told)
	_, ok, err = s.BeginDelivery(t.Context(), *one, "n1", storetest.Noon)
	require.NoError(t, err)
	require.False(t, ok, "it is gone with its only alert")
	for i, want := range []int{0, 1} {
		actions, err := s.ActionsOfAlerts(t.Context(), []string{all[i].ID})
		require.NoError(t, err)
		require.Len(t, actions[all[i].ID], want)
	}
}

func jobs(t *testing.T, s *persistence.Store) {
	live, gone := storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)
	live.Labels, live.Owner = map[string]string{"tier": "ß"}, "Zoë"
	storetest.Add(t, s, []*entity.Job{live, gone})
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		full, err := tx.Jobs.LockFull(ctx, gone.ID)
		if err != nil {
			return err
		}
		return tx.Jobs.Update(ctx, full, true)
	})
	found, err := s.AlertJobs(t.Context(), []string{live.ID, gone.ID, "none", "ä", live.ID})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, repository.AlertJob{
		ID: live.ID, Name: live.Name, Group: "default", Owner: "Zoë", Labels: live.Labels, Status: entity.JobEnabled,
		NextFireTime: storetest.Noon,
	}, found[live.ID])
	require.True(t, found[gone.ID].Deleted)
}

// An event is taken once, and with the transaction that takes it.
func events(t *testing.T, s *persistence.Store) {
	event := func(id string) entity.Event {
		return entity.Event{
			ID: id, Topic: entity.TopicExecutions, Type: "t", Payload: "{}", CreateTime: storetest.Noon,
			Readers: entity.EventReaders{Rules: true, Kafka: id == "b"},
		}
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddEvents(ctx, []entity.Event{event("b"), event("a"), event("c")})
	})
	undo := errors.New("undo")
	take := func(end error, ids ...string) (taken []string) {
		err := s.Write(t.Context(), repository.LaneComplete, "test", func(ctx context.Context, tx repository.Tx) (err error) {
			if taken, err = tx.Records.TakeEvents(ctx, entity.ReaderRules, ids); err != nil {
				return err
			}
			return end
		})
		require.ErrorIs(t, err, end)
		return taken
	}
	require.Equal(t, []string{"b", "a"}, take(undo, "a", "b"), "in order of insertion")
	require.Equal(t, []string{"b", "a"}, take(nil, "a", "b", "none"))
	require.Equal(t, []string{"c"}, take(nil, "a", "b", "c"))
	require.Empty(t, take(nil))
	left, err := s.PendingEvents(t.Context(), entity.ReaderKafka, 0, 10)
	require.NoError(t, err)
	require.Len(t, left, 1, "what Kafka has not read stays")
}

// checkCounts: the open alerts are counted by level and status.
func checkCounts(t *testing.T, s *persistence.Store, held []*alert.Alert) {
	t.Helper()
	want, got := map[alerting.AlertCount]int{}, map[alerting.AlertCount]int{}
	for _, a := range held {
		if a.Open() {
			want[alerting.AlertCount{Level: a.Level, Status: a.Status}]++
		}
	}
	counts, err := s.CountAlerts(t.Context(), 10)
	require.NoError(t, err)
	for _, c := range counts {
		got[alerting.AlertCount{Level: c.Level, Status: c.Status}] = c.Alerts
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, got)
}
