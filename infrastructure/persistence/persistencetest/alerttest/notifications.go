package alerttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// message is the n-th notification of a group key to one channel.
func message(key string, n int, of ...*alert.Alert) *alert.Notification {
	out := &alert.Notification{
		ID: fmt.Sprintf("%s-%d", key, n), GroupKey: key, ChannelID: "c1", Number: n, State: alert.NotificationOpen,
		NextTry: storetest.Noon, CreateTime: storetest.Noon, UpdateTime: storetest.Noon,
	}
	for _, a := range of {
		out.Alerts = append(out.Alerts, alert.NotifiedAlert{AlertID: a.ID, Seq: a.Seq})
	}
	return out
}

func namings(all []repository.AlertDelivery) (out []alert.Naming) {
	for _, d := range all {
		out = append(out, d.Naming)
	}
	return out
}

// ToldInOrder runs the suite about what messages tell first, and what they leave out.
func ToldInOrder(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	var all []*alert.Alert
	for i, level := range []alert.Level{
		alert.Info, alert.Critical, alert.Critical, alert.Warning, alert.Critical, alert.Critical,
	} {
		a := episode(i+1, fmt.Sprint("f", i))
		a.Level = level
		a.JobID, a.Details = "j", map[string]string{"reason": "ERROR", "message": fmt.Sprint("m", i)}
		if i == 1 || i == 2 || i == 3 {
			a.JobID = ""
		}
		all = append(all, a)
	}
	n := message("k", 1, all...)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Alerts.AddAlerts(ctx, all); err != nil {
			return err
		}
		return tx.Alerts.AddNotifications(ctx, []*alert.Notification{n})
	})
	told, err := s.Contents(t.Context(), n.ID, 5)
	require.NoError(t, err)
	var order []string
	for _, a := range told.Alerts {
		order = append(order, a.ID)
	}
	require.Equal(t, []string{all[2].ID, all[1].ID, all[5].ID, all[4].ID, all[3].ID}, order)
	require.Len(t, told.Newest, 6)
	require.Equal(t, alert.CountedAlert{Type: all[5].Type, Group: all[5].Group, Reason: "ERROR", Error: "m5"},
		told.Newest[0])
	taken, ok, err := s.BeginDelivery(t.Context(), *n, "n1", storetest.Noon)
	require.NoError(t, err)
	require.True(t, ok)
	taken.Conclude(alert.ResultSent, "", 0, storetest.Noon, 0)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Alerts.EndDelivery(ctx, taken, alert.Delivery{
			NotificationID: n.ID, Attempt: 1, NodeID: "n1", Result: alert.ResultSent, Named: []string{all[2].ID, all[5].ID},
		})
		require.NoError(t, err)
		require.True(t, held)
		left, err := tx.Alerts.UnnamedCritical(ctx, n.ID, 10)
		require.Equal(t, []alert.NotifiedAlert{{AlertID: all[1].ID, Seq: all[1].Seq}}, left)
		return err
	})
}

// Notifications runs the suite over stores that open gives.
func Notifications(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	a, b := episode(1, "f1"), episode(2, "f2")
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{a, b})
		return err
	})
	later := message("k1", 3)
	later.NextTry = storetest.Noon.Add(time.Minute)
	held := message("k3", 1, a)
	held.State, held.Why = alert.NotificationSuppressed, strings.Repeat("ä", 2000)
	all := []*alert.Notification{message("k1", 1, a, b), message("k1", 2, a), later, message("k2", 1, b), held}
	for range 2 { // a transaction whose reply was lost is sent again
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			return tx.Alerts.AddNotifications(ctx, all)
		})
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		n, found, err := tx.Alerts.LastNotification(ctx, "k1", "c1")
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, *later, n)
		n, _, err = tx.Alerts.LastNotification(ctx, "k2", "c1")
		require.NoError(t, err)
		require.Equal(t, []alert.NotifiedAlert{{AlertID: b.ID, Seq: 1}}, n.Alerts)
		_, found, err = tx.Alerts.LastNotification(ctx, "k1", "c2")
		require.NoError(t, err)
		require.False(t, found)
		return nil
	})
	due := func(at time.Time) (ids []string) {
		found, err := s.DueNotifications(t.Context(), at, nil, 10)
		require.NoError(t, err)
		for _, n := range found {
			ids = append(ids, n.ID)
		}
		return ids
	}
	attempts := map[string]int{}
	begin := func(id, node string, at time.Time) (alert.Notification, bool) {
		n, ok, err := s.BeginDelivery(t.Context(), alert.Notification{ID: id, Attempts: attempts[id]}, node, at)
		require.NoError(t, err)
		if ok {
			attempts[id] = n.Attempts
		}
		return n, ok
	}
	end := func(n alert.Notification, node string, result alert.Result, at time.Time) bool {
		d := alert.Delivery{
			NotificationID: n.ID, Attempt: n.Attempts, StartTime: n.UpdateTime, EndTime: at, Result: result, Code: "c",
			Message: "m 😀", NodeID: node, Named: []string{b.ID},
		}
		n.Conclude(result, "w", 0, at, 0)
		held := false
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
			held, err = tx.Alerts.EndDelivery(ctx, n, d)
			return err
		})
		return held
	}
	noon := storetest.Noon
	require.Empty(t, due(noon.Add(-time.Millisecond)))
	require.Equal(t, []string{"k1-1", "k2-1"}, due(noon), "the others wait for a smaller number")
	none, err := s.DueNotifications(t.Context(), noon, []string{"c0", "c1"}, 10)
	require.NoError(t, err)
	require.Empty(t, none, "this channel is left out")

	join := func(id string, a *alert.Alert) (ok bool) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
			ok, err = tx.Alerts.JoinNotification(ctx, id, []alert.NotifiedAlert{{AlertID: a.ID, Seq: 7, Firing: true}})
			return err
		})
		return ok
	}
	require.True(t, join("k1-2", b))
	require.True(t, join("k1-2", b), "again")
	require.False(t, join("k3-1", b), "it is held back")
	first, ok := begin("k1-1", "n1", noon)
	require.False(t, join("k1-1", b), "it is being sent")
	require.True(t, ok)
	require.Equal(t, 1, first.Attempts)
	toldBy := func(id string, limit int) alert.Contents {
		told, err := s.Contents(t.Context(), id, limit)
		require.NoError(t, err)
		return told
	}
	of := toldBy("k1-1", 10)
	require.Len(t, of.Alerts, 2)
	require.Equal(t, []int{2, 0}, []int{of.Total, of.Firing})
	require.Equal(t, []string{b.ID, a.ID}, []string{of.Alerts[0].ID, of.Alerts[1].ID}, "the newest first")
	require.Equal(t, a.Level, of.Level)
	of = toldBy("k1-2", 1)
	require.Equal(t, []int{2, 1}, []int{of.Total, of.Firing}, "b has joined while it fires")
	require.Len(t, of.Alerts, 1)
	require.True(t, of.Alerts[0].AsFiring)
	require.Equal(t, alert.Contents{}, toldBy("unknown", 10))
	_, ok = begin("k1-1", "n2", noon.Add(29*time.Second))
	require.False(t, ok, "n1 has the lease")
	require.Equal(t, []string{"k2-1"}, due(noon.Add(29*time.Second)))
	require.True(t, end(first, "n1", alert.ResultFailed, noon.Add(time.Second)))
	require.Equal(t, []string{"k2-1"}, due(noon.Add(1999*time.Millisecond)), "it waits before the next attempt")
	require.Equal(t, []string{"k2-1", "k1-1"}, due(noon.Add(2*time.Second)))

	second, ok := begin("k1-1", "n1", noon.Add(3*time.Second))
	require.True(t, ok)
	third, ok := begin("k1-1", "n2", noon.Add(33*time.Second))
	require.True(t, ok, "the lease is over")
	require.Equal(t, 3, third.Attempts)
	require.False(t, end(second, "n1", alert.ResultSent, noon.Add(34*time.Second)), "it came too late to decide")
	require.True(t, end(third, "n2", alert.ResultSent, noon.Add(35*time.Second)))
	_, ok = begin("k1-1", "n1", noon.Add(time.Hour))
	require.False(t, ok, "it was sent")
	require.Equal(t, []string{"k1-2", "k2-1"}, due(noon.Add(time.Hour)), "the next number goes now, and only that")

	old := func(at, created time.Time) (ids []string) {
		found, err := s.OldNotifications(t.Context(), at, created, 10)
		require.NoError(t, err)
		for _, n := range found {
			ids = append(ids, n.ID)
		}
		return ids
	}
	require.Empty(t, old(noon.Add(time.Hour), noon.Add(-time.Millisecond)))
	require.Equal(t, []string{"k1-2", "k1-3", "k2-1"}, old(noon.Add(time.Hour), noon))
	told, sent, err := s.NotificationsOf(t.Context(), a.ID, 10)
	require.NoError(t, err)
	require.Len(t, told, 3)
	require.Equal(t, alert.NotificationSent, told[0].State)
	require.Equal(t, strings.Repeat("ä", 999)+"…", told[2].Why)
	var results []string
	for _, d := range sent {
		results = append(results, fmt.Sprint(d.NotificationID, d.Attempt, d.NodeID, d.Result))
	}
	require.Equal(t, []string{"k1-11n1FAILED", "k1-12n1SENT", "k1-13n2SENT"}, results, "what was sent late is known, too")

	shown := func(all []repository.AlertDelivery) (out []string) {
		for _, d := range all {
			require.Equal(t, d.Notification.ID, d.NotificationID)
			out = append(out, fmt.Sprint(d.Notification.ID, d.State, d.Attempt, d.Result))
		}
		return out
	}
	latest, err := s.LatestDeliveries(t.Context(), []string{a.ID, b.ID, "none", "ä"}, 2)
	require.NoError(t, err)
	require.Len(t, latest, 2)
	require.Equal(t, []string{"k1-2OPEN0", "k3-1SUPPRESSED0"}, shown(latest[a.ID]), "the newest, with their last attempts")
	latest, err = s.LatestDeliveries(t.Context(), []string{a.ID}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"k1-1SENT3SENT", "k1-2OPEN0", "k3-1SUPPRESSED0"}, shown(latest[a.ID]))
	require.Equal(t, "m 😀", latest[a.ID][0].Message)
	require.Equal(t, noon.Add(33*time.Second), latest[a.ID][0].StartTime)
	require.Equal(t, []alert.Naming{alert.Counted, "", ""}, namings(latest[a.ID]))
	latest, err = s.LatestDeliveries(t.Context(), []string{b.ID}, 10)
	require.NoError(t, err)
	require.Equal(t, []alert.Naming{alert.Named, "", ""}, namings(latest[b.ID]))
	every, err := s.DeliveriesOf(t.Context(), a.ID, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"k1-1SENT1FAILED", "k1-1SENT2SENT", "k1-1SENT3SENT", "k1-2OPEN0", "k3-1SUPPRESSED0"},
		shown(every))
	every, err = s.DeliveriesOf(t.Context(), a.ID, 3)
	require.NoError(t, err)
	require.Equal(t, []string{"k1-1SENT3SENT", "k1-2OPEN0", "k3-1SUPPRESSED0"}, shown(every), "the newest")
	every, err = s.DeliveriesOf(t.Context(), "ä", 3)
	require.NoError(t, err)
	require.Empty(t, every)
	lost, ok := begin("k1-2", "n1", noon.Add(time.Hour))
	require.True(t, ok)
	require.Len(t, toldBy("k1-2", 10).Alerts, 2, "it tells of the one that has joined, too")
	_, ok = begin("k1-2", "n2", noon.Add(2*time.Hour))
	require.True(t, ok)
	_, sent, err = s.NotificationsOf(t.Context(), a.ID, 10)
	require.NoError(t, err)
	require.Equal(t, alert.ResultUnknown, sent[3].Result, "attempt %d has no end that anybody saw", lost.Attempts)
	require.Empty(t, sent[4].Result)
	give := func(id string, at time.Time) (ok bool) {
		n := alert.Notification{ID: id}
		n.Close(alert.NotificationDead, "too old", at)
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
			ok, err = tx.Alerts.CloseNotification(ctx, n)
			return err
		})
		return ok
	}
	require.False(t, give("k1-2", noon.Add(2*time.Hour)), "n2 sends it")
	require.True(t, give("k1-2", noon.Add(3*time.Hour)))
	require.False(t, give("k1-2", noon.Add(3*time.Hour)), "it is closed")
	_, sent, err = s.NotificationsOf(t.Context(), a.ID, 10)
	require.NoError(t, err)
	require.Equal(t, alert.ResultUnknown, sent[4].Result, "nobody saw its end, either")
	require.Equal(t, []string{"k2-1", "k1-3"}, due(noon.Add(3*time.Hour)), "the next number may go")
}

// Leases runs the suite over stores that open gives: those of nodes that are gone end before their time.
func Leases(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	_, now, err := s.View(t.Context())
	require.NoError(t, err)
	now = now.Truncate(time.Millisecond)
	life := entity.Node{ID: "down"}
	life.Epoch, err = s.Register(t.Context(), life)
	require.NoError(t, err)
	_, err = s.Register(t.Context(), entity.Node{ID: "up"})
	require.NoError(t, err)
	holders := map[string]string{
		"down-1": "down", "down-2": "down", "up-1": "up", "former-1": "former", "unknown-1": "unknown",
	}
	attempts := map[string]int{}
	begin := func(id, node string, at time.Time) (alert.Notification, bool) {
		n, ok, err := s.BeginDelivery(t.Context(), alert.Notification{ID: id, Attempts: attempts[id]}, node, at)
		require.NoError(t, err)
		if ok {
			attempts[id] = n.Attempts
		}
		return n, ok
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		var all []*alert.Notification
		for id := range holders {
			n := message(id, 1)
			n.ID, n.NextTry, n.CreateTime, n.UpdateTime = id, now, now, now
			all = append(all, n)
		}
		free := message("free", 1)
		free.ID, free.NextTry, free.CreateTime, free.UpdateTime = "free", now, now, now
		return tx.Alerts.AddNotifications(ctx, append(all, free))
	})
	taken := map[string]alert.Notification{}
	for id, node := range holders {
		var ok bool
		taken[id], ok = begin(id, node, now)
		require.True(t, ok, id)
	}
	sent := taken["down-2"] // its node has sent it, and left
	sent.Conclude(alert.ResultSent, "", 0, now, 0)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Alerts.EndDelivery(ctx, sent, alert.Delivery{
			NotificationID: sent.ID, Attempt: sent.Attempts, StartTime: now, EndTime: now, Result: alert.ResultSent,
			NodeID: "down",
		})
		require.True(t, held)
		return err
	})
	soon := now.Add(time.Second)
	due := func(at time.Time) (ids []string) {
		found, err := s.DueNotifications(t.Context(), at, nil, 20)
		require.NoError(t, err)
		for _, n := range found {
			ids = append(ids, n.ID)
		}
		slices.Sort(ids)
		return ids
	}
	finish := func(former string) {
		require.NoError(t, s.EndLeasesOfTheDead(t.Context(), former))
	}
	finish("")
	require.Equal(t, []string{"free"}, due(soon), "all nodes are UP, or nobody knows them")
	require.NoError(t, s.Leave(t.Context(), "down", life.Epoch))
	finish("")
	require.Equal(t, []string{"down-1", "free"}, due(soon), "and what was sent is not sent again")
	finish("former")
	finish("former")
	require.Equal(t, []string{"down-1", "former-1", "free"}, due(soon), "a former life of the node that asks")
	all, _, err := s.View(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 2, "nodes are left as they are")

	// The node that takes it over has a lease of its own, and the attempt before has no result that anybody saw.
	again, ok := begin("down-1", "up", soon)
	require.True(t, ok)
	require.Equal(t, 2, again.Attempts)
	finish("former")
	require.Equal(t, []string{"former-1", "free"}, due(soon.Add(time.Second)))
	late := taken["down-1"]
	late.Conclude(alert.ResultFailed, "w", 0, soon, 0)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		held, err := tx.Alerts.EndDelivery(ctx, late, alert.Delivery{
			NotificationID: late.ID, Attempt: late.Attempts, StartTime: now, EndTime: soon, Result: alert.ResultFailed,
			NodeID: "down",
		})
		require.False(t, held, "it came back too late to decide")
		return err
	})
	// A lease whose time is over tells whose it was; where that node is gone it tells nothing.
	holder := func() string {
		found, err := s.DueNotifications(t.Context(), now.Add(alert.LeaseTime), nil, 20)
		require.NoError(t, err)
		for _, n := range found {
			if n.ID == "up-1" && !n.LeaseUntil.IsZero() {
				return n.LeaseNode
			}
		}
		return ""
	}
	require.Equal(t, "up", holder())
	finish("up")
	require.Empty(t, holder())
	require.Contains(t, due(soon), "up-1")
	_, ok, err = s.BeginDelivery(t.Context(), alert.Notification{ID: "up-1"}, "n2", soon)
	require.NoError(t, err)
	require.False(t, ok, "it was read before the latest attempt")
}
