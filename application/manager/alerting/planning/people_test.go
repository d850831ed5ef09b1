package planning_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// turns puts ann on call until half past twelve, and bob from then on, each by mail.
func (d *desk) turns(change func(r *alert.Route)) {
	d.T.Helper()
	d.Rule(alert.JobFailed, nil)
	d.chat("mail", alert.ChannelEmail)
	for _, name := range []string{"ann", "bob"} {
		alertingtest.Set(d.Desk, alert.KindContact, &alert.Contact{
			Head: alertingtest.Head("contact of " + name), UserID: name, Email: name + "@example.org",
		})
		alertingtest.Set(d.Desk, alert.KindTeam, &alert.Team{
			Head: alertingtest.Head("team of " + name), Members: []string{name},
		})
	}
	alertingtest.Set(d.Desk, alert.KindOnCall, &alert.OnCall{
		Head: alertingtest.Head("plan"), TimeZone: "UTC", Shifts: []alert.Shift{
			{TeamID: "team of ann", FromMin: 6 * 60, ToMin: 12*60 + 30},
			{TeamID: "team of bob", FromMin: 12*60 + 30, ToMin: 24 * 60},
		},
	})
	d.Route(func(r *alert.Route) {
		r.ChannelIDs, r.OnCallID = []string{"mail"}, "plan"
		if change != nil {
			change(r)
		}
	})
}

// failAfter is the alert of a job that fails a second later: alerts have their order by time.
func (d *desk) failAfter(job string) *alert.Alert {
	d.T.Helper()
	d.Clock.Advance(time.Second)
	return d.Fail(job)
}

// mails are the messages about an alert, in their order: state, minute, and to whom each goes.
func (d *desk) mails(a *alert.Alert) (out []string) {
	d.T.Helper()
	found, _, err := d.Store.NotificationsOf(d.T.Context(), a.ID, 100)
	require.NoError(d.T, err)
	for _, n := range found {
		out = append(out, fmt.Sprint(n.State, " ", int(n.CreateTime.Sub(enginetest.Noon).Minutes()), " ",
			strings.Join(n.To, ",")))
	}
	slices.SortFunc(out, func(a, b string) int {
		return strings.Compare(strings.SplitN(a, " ", 2)[1], strings.SplitN(b, " ", 2)[1])
	})
	return out
}

func (d *desk) until(minute int) {
	d.T.Helper()
	d.Clock.Advance(time.Duration(minute)*time.Minute - d.Clock.Now().Sub(enginetest.Noon))
}

// A person who was told that an alert fires learns that it is over, whoever is on call by then.
func TestTheEndGoesToWhoWasTold(t *testing.T) {
	d := newDesk(t)
	d.turns(nil)
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	d.until(60)
	d.Resolve(a)
	d.Plan()
	require.Equal(t, []string{"SENT 0 ann@example.org", "OPEN 60 ann@example.org"}, d.mails(a))
}

// Of alerts that share messages, each one's end goes to those who were told of that one.
func TestTheEndGoesToWhoWasToldOfThisAlertInAGroup(t *testing.T) {
	d := newDesk(t)
	d.turns(func(r *alert.Route) { r.GroupBy, r.GroupWaitSec, r.GroupIntervalSec = []string{"type"}, 30, 300 })
	a, also := d.failAfter("settle"), d.failAfter("report")
	d.Plan()
	require.Equal(t, d.mails(a), d.mails(also))
	d.send(a)
	d.until(40)
	b := d.Fail("close") // the latest message of the group waits for others, and is bob's
	d.Plan()
	require.Equal(t, []string{"OPEN 40 bob@example.org"}, d.mails(b))
	d.Resolve(a)
	d.Resolve(also)
	d.Plan()
	of := []string{"SENT 0 ann@example.org", "OPEN 40 ann@example.org"}
	require.Equal(t, of, d.mails(a))
	require.Equal(t, of, d.mails(also), "they share a message still")
	d.send(b)
	d.Resolve(b)
	d.Plan()
	require.Equal(t, []string{"SENT 40 bob@example.org", "OPEN 40 bob@example.org"}, d.mails(b))
}

// A message that was held back, or that nobody took, has told nobody.
func TestTheEndGoesToNobodyWhoWasNotTold(t *testing.T) {
	d := newDesk(t)
	d.turns(func(r *alert.Route) { r.RepeatSec = 2400 })
	a, b := d.failAfter("settle"), d.failAfter("close")
	d.Plan()
	d.send(a)
	d.send(b)
	alertingtest.Set(d.Desk, alert.KindSilence, &alert.Silence{
		Head: alertingtest.Head("noon"), Match: map[string]string{"job": "settle"}, From: enginetest.Noon,
		To: enginetest.Noon.Add(3 * time.Hour),
	})
	d.until(41)
	d.Plan()
	require.Equal(t, []string{"SENT 0 ann@example.org", "SUPPRESSED 41 bob@example.org"}, d.mails(a))
	d.refuse(b)
	require.Equal(t, []string{"SENT 0 ann@example.org", "DEAD 41 bob@example.org"}, d.mails(b))
	d.until(50)
	d.Resolve(a)
	d.Resolve(b)
	d.Plan()
	for _, of := range []*alert.Alert{a, b} {
		require.Contains(t, d.mails(of), "OPEN 50 ann@example.org")
		require.Len(t, d.mails(of), 3)
	}
}

// The latest who was told of a repeat hears the end.
func TestTheEndFollowsTheLatestRepeat(t *testing.T) {
	d := newDesk(t)
	d.turns(func(r *alert.Route) { r.RepeatSec = 2400 })
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	d.until(41)
	d.Plan()
	d.send(a)
	d.until(50)
	d.Resolve(a)
	d.Plan()
	require.Equal(t, []string{"SENT 0 ann@example.org", "SENT 41 bob@example.org", "OPEN 50 bob@example.org"}, d.mails(a))
}

// refuse ends the message about an alert that waits as one that its channel never takes.
func (d *desk) refuse(a *alert.Alert) {
	d.T.Helper()
	found, _, err := d.Store.NotificationsOf(d.T.Context(), a.ID, 100)
	require.NoError(d.T, err)
	last := found[slices.IndexFunc(found, func(n alert.Notification) bool { return n.State == alert.NotificationOpen })]
	begun, ok, err := d.Store.BeginDelivery(d.T.Context(), last, "n1", d.Clock.Now())
	require.NoError(d.T, err)
	require.True(d.T, ok)
	begun.Conclude(alert.ResultRefused, "550", 0, d.Clock.Now(), 0)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.EndDelivery(ctx, begun, alert.Delivery{
			NotificationID: last.ID, Attempt: begun.Attempts, EndTime: d.Clock.Now(), Result: alert.ResultRefused, NodeID: "n1",
		})
		return err
	})
}
