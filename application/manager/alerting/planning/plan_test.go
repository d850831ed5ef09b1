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
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

// notifications are those of an alert, as state, number and what holds them back.
func (d *desk) notifications(a *alert.Alert) (out []string) {
	d.T.Helper()
	found, _, err := d.Store.NotificationsOf(d.T.Context(), a.ID, 100)
	require.NoError(d.T, err)
	for _, n := range found {
		out = append(out, fmt.Sprint(n.State, " ", n.Number, " ", n.NextTry.Sub(enginetest.Noon), " ", n.Why))
	}
	return out
}

// A message is planned once, whatever becomes of the commit.
func TestAnAlertIsPlannedOnceWhateverBecomesOfTheCommit(t *testing.T) {
	for name, faults := range map[string][]enginetest.Fault{
		"none": nil, "the reply is lost": {enginetest.LostReply}, "the commit is lost": {enginetest.LostCommit},
		"a deadlock": {enginetest.Deadlock},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.Rule(alert.JobFailed, nil)
			d.Route(nil)
			a := d.Fail("settle")
			d.Faults.Next("alert-plan", faults...)
			for range len(faults) {
				_, _ = d.Planning(d.Faults).Plan(t.Context())
			}
			d.Plan()
			require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(a))
			require.True(t, d.One().NotifyDue.IsZero())
		})
	}
}

func TestTwoLeadersPlanOnce(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(nil)
	a := d.Fail("settle")
	other := false
	d.Faults.Before(func(name string) {
		if name == "alert-plan" && !other {
			other = true
			_, err := d.Planning(d.Store).Plan(t.Context())
			require.NoError(t, err)
		}
	})
	d.Plan()
	require.True(t, other)
	require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(a))
}

// Alerts of a group join the message that still waits.
func TestAlertsOfAGroupShareAMessage(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(func(r *alert.Route) { r.GroupBy, r.GroupWaitSec, r.GroupIntervalSec = []string{"severity"}, 30, 300 })
	a := d.Fail("one")
	d.Plan()
	d.Clock.Advance(10 * time.Second)
	b := d.Fail("two")
	d.Plan()
	require.Equal(t, []string{"OPEN 1 30s "}, d.notifications(a))
	require.Equal(t, []string{"OPEN 1 30s "}, d.notifications(b))
	found, _, err := d.Store.NotificationsOf(t.Context(), a.ID, 1)
	require.NoError(t, err)
	_, ok, err := d.Store.BeginDelivery(t.Context(), found[0], "n1", enginetest.Noon.Add(30*time.Second))
	require.NoError(t, err)
	require.True(t, ok)
	d.Clock.Advance(30 * time.Second)
	c := d.Fail("three")
	d.Plan()
	require.Equal(t, []string{"OPEN 2 5m0s "}, d.notifications(c), "later ones wait for the interval")
}

// A clock that steps back by minutes has a group wait for its interval, and not for the step as well; what was planned
// before comes when the clock is there again, once.
func TestAGroupOutlivesAClockThatStepsBack(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(func(r *alert.Route) { r.GroupBy, r.GroupIntervalSec, r.RepeatSec = []string{"severity"}, 300, 3600 })
	a := d.Fail("one")
	d.Plan()
	d.send(a)
	d.Clock.Jump(-20 * time.Minute)
	d.Fail("two")
	b := d.Alerts()[0] // the lists go by time
	d.Plan()
	require.Equal(t, []string{"OPEN 2 -15m0s "}, d.notifications(b), "five minutes after now")
	for range 20 {
		d.Clock.Advance(time.Minute)
		d.Plan()
	}
	require.Equal(t, []string{"SENT 1 0s "}, d.notifications(a), "not again")
}

func TestASilenceIsRecordedAndEnds(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(nil)
	alertingtest.Set(d.Desk, alert.KindSilence, &alert.Silence{
		Head: alertingtest.Head("night"), Match: map[string]string{"job": "settle"}, From: enginetest.Noon,
		To: enginetest.Noon.Add(time.Hour),
	})
	a := d.Fail("settle")
	d.Plan()
	require.Equal(t, []string{"SUPPRESSED 1 0s silence: night"}, d.notifications(a))
	require.Equal(t, enginetest.Noon.Add(time.Hour), d.One().NotifyDue)
	d.Clock.Advance(time.Hour)
	d.Plan()
	require.Equal(t, []string{"SUPPRESSED 1 0s silence: night", "OPEN 2 1h0m0s "}, d.notifications(a))
}

// A cause holds messages back only where it goes itself: nobody else hears of it.
func TestACauseHoldsBackOnlyOnItsOwnChannels(t *testing.T) {
	for name, c := range map[string]struct {
		cause []string
		// chat and mail are what the channels of the failure get at once, again what they have got
		// when the cause is over.
		chat, mail, again string
	}{
		"it goes nowhere":    {nil, "OPEN", "OPEN", "OPEN"},
		"it goes to one":     {[]string{"chat"}, "SUPPRESSED", "OPEN", "SUPPRESSED OPEN"},
		"it goes to another": {[]string{"pager"}, "OPEN", "OPEN", "OPEN"},
		"it goes to both":    {[]string{"chat", "mail"}, "SUPPRESSED", "SUPPRESSED", "SUPPRESSED OPEN"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			for _, id := range []string{"chat", "mail", "pager"} {
				d.chat(id, alert.ChannelWebhook)
			}
			d.Rule(alert.JobFailed, func(r *alert.Rule) { r.ChannelIDs = []string{"chat", "mail"} })
			d.Rule(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold, r.ChannelIDs = 3, c.cause })
			job := d.Add(t, enginetest.Job("settle", nil))
			for range 3 {
				d.Clock.Advance(time.Second)
				d.End(job, entity.StatusFailed)
			}
			d.Evaluate()
			d.Plan()
			failed, cause := d.of(alert.JobFailed), d.of(alert.ConsecutiveFailures)
			require.Equal(t, alert.Firing, cause.Status)
			require.Equal(t, c.chat, d.states(failed, "chat"))
			require.Equal(t, c.mail, d.states(failed, "mail"))
			require.Equal(t, slices.Contains(c.cause, "chat"), !failed.NotifyDue.IsZero(), "it is judged again")
			d.Resolve(cause)
			d.Clock.Advance(time.Minute)
			d.Plan()
			require.Equal(t, c.again, d.states(failed, "chat"))
		})
	}
}

// of is the alert of a type.
func (d *desk) of(t alert.RuleType) *alert.Alert {
	d.T.Helper()
	all := d.Alerts()
	at := slices.IndexFunc(all, func(a *alert.Alert) bool { return a.Type == t })
	require.GreaterOrEqual(d.T, at, 0, "%s", t)
	return all[at]
}

// states are those of the messages about an alert to a channel, in their order.
func (d *desk) states(a *alert.Alert, channel string) string {
	d.T.Helper()
	found, _, err := d.Store.NotificationsOf(d.T.Context(), a.ID, 100)
	require.NoError(d.T, err)
	var out []string
	for _, n := range found {
		if n.ChannelID == channel {
			out = append(out, string(n.State))
		}
	}
	return strings.Join(out, " ")
}

func TestEachFailureIsToldOnceAMinute(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, func(r *alert.Rule) { r.Notify = alert.NotifyEach })
	d.Route(nil)
	job := d.Add(t, enginetest.Job("settle", nil))
	for range 3 { // failures at 0, 20 and 40 s
		d.End(job, entity.StatusFailed)
		d.Evaluate()
		d.Plan()
		d.Clock.Advance(20 * time.Second)
	}
	d.Plan()
	a := d.One()
	require.Equal(t, 3, a.Count)
	require.True(t, a.NotifyDue.IsZero())
	require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(a), "nobody has sent the first; the second joins it")
}

func TestAnAlertIsRepeatedWhileItFires(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(func(r *alert.Route) { r.RepeatSec = 600 })
	a := d.Fail("settle")
	d.Plan()
	require.Equal(t, enginetest.Noon.Add(10*time.Minute), d.One().NotifyDue)
	b := d.One()
	seq := b.Seq
	require.NoError(t, b.Acknowledge("ann", enginetest.Noon))
	d.Put(b, seq)
	d.Clock.Advance(time.Hour)
	d.Plan()
	require.Len(t, d.notifications(a), 1, "somebody takes care")
}

// Repeats of many alerts do not drown the people who are told of them, and go on all the same. Programs get each.
func TestRepeatsHaveABoundAnHour(t *testing.T) {
	for kind, most := range map[alert.ChannelType]int{
		alert.ChannelEmail: 30 + 6, alert.ChannelWebhook: 5 * 60,
	} {
		d := newDesk(t)
		d.Rule(alert.JobFailed, nil)
		d.chat("people", kind)
		d.Route(func(r *alert.Route) { r.ChannelIDs, r.RepeatSec = []string{"people"}, 60 })
		var all []*alert.Alert
		for i := range 5 {
			all = append(all, d.Fail(fmt.Sprint("job", i)))
		}
		for range 120 {
			d.Plan()
			for _, a := range all {
				d.sendBefore(a, d.Clock.Now())
			}
			d.Clock.Advance(time.Minute)
		}
		sent := map[string]time.Time{} // a message that waits for others is sent later than it is made
		for _, a := range all {
			found, _, err := d.Store.NotificationsOf(t.Context(), a.ID, 1000)
			require.NoError(t, err)
			slices.SortFunc(found, func(a, b alert.Notification) int { return a.CreateTime.Compare(b.CreateTime) })
			last := enginetest.Noon
			for _, n := range found {
				if n.State == alert.NotificationSent {
					sent[n.ID] = n.UpdateTime
				}
				require.LessOrEqual(t, n.CreateTime.Sub(last), 11*time.Minute, "%s is told again", kind)
				last = n.CreateTime
			}
			require.WithinDuration(t, d.Clock.Now(), last, 11*time.Minute, "%s is told to the end", kind)
		}
		for minute := range 60 {
			from := enginetest.Noon.Add(time.Duration(minute) * time.Minute)
			n := 0
			for _, at := range sent {
				if !at.Before(from) && at.Before(from.Add(time.Hour)) {
					n++
				}
			}
			require.LessOrEqual(t, n, most, "%s, the hour from minute %d", kind, minute)
		}
		require.Greater(t, len(sent), 30, "%s goes on after the first ones", kind)
	}
}

// send marks the notification of an alert that waits as sent now.
func (d *desk) send(a *alert.Alert) { d.T.Helper(); d.sendBefore(a, d.Clock.Now().Add(24*time.Hour)) }

// sendBefore is send for what is to be sent by then.
func (d *desk) sendBefore(a *alert.Alert, then time.Time) {
	d.T.Helper()
	found, _, err := d.Store.NotificationsOf(d.T.Context(), a.ID, 1000)
	require.NoError(d.T, err)
	for _, n := range found {
		if n.State != alert.NotificationOpen || n.NextTry.After(then) {
			continue
		}
		begun, ok, err := d.Store.BeginDelivery(d.T.Context(), n, "n1", d.Clock.Now())
		require.NoError(d.T, err)
		require.True(d.T, ok)
		begun.Conclude(alert.ResultSent, "", 0, d.Clock.Now(), 0)
		d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.Alerts.EndDelivery(ctx, begun, alert.Delivery{
				NotificationID: n.ID, Attempt: begun.Attempts, EndTime: d.Clock.Now(), Result: alert.ResultSent, NodeID: "n1",
			})
			return err
		})
	}
}

func (d *desk) chat(id string, kind alert.ChannelType) {
	d.T.Helper()
	require.NoError(d.T, d.Store.AddAlertSetting(d.T.Context(), alert.Setting{
		Head: alertingtest.Head(id), Kind: alert.KindChannel, Document: `{"type":"` + string(kind) + `"}`,
	}))
}

// An escalation tells its channels alone, and acknowledgement stops it.
func TestAnEscalationDoesNotRepeatForTheOthers(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.chat("boss", alert.ChannelEmail)
	d.Route(func(r *alert.Route) { r.EscalateAfterSec, r.EscalateTo, r.RepeatSec = 300, []string{"boss"}, 3600 })
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	d.Clock.Advance(time.Second)
	b := d.Fail("close")
	d.Plan()
	d.send(b)
	stored, err := d.Store.Alert(t.Context(), b.ID)
	require.NoError(t, err)
	seq := stored.Seq
	require.NoError(t, stored.Acknowledge("ann", enginetest.Noon))
	d.Put(stored, seq)
	d.Clock.Advance(5 * time.Minute)
	d.Plan()
	require.Equal(t, []string{"SENT 1 0s ", "OPEN 1 5m1s "}, d.notifications(a))
	require.Equal(t, []string{"SENT 1 1s "}, d.notifications(b))
	stored, err = d.Store.Alert(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, enginetest.Noon.Add(time.Hour), stored.NotifyDue, "the repeat comes when it was due before")
}

// That it is over is told to those who were told of it, also where the route is another now.
func TestWhoWasToldLearnsThatItIsOver(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.chat("other", alert.ChannelEmail)
	d.Route(nil)
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	d.Clock.Advance(time.Second)
	held := d.Fail("close")
	alertingtest.Set(d.Desk, alert.KindSilence, &alert.Silence{
		Head: alertingtest.Head("night"), Match: map[string]string{"job": "close"}, From: enginetest.Noon,
		To: enginetest.Noon.Add(time.Hour),
	})
	d.Plan()
	old, err := d.Store.AlertSetting(t.Context(), alert.KindRoute, "route")
	require.NoError(t, err)
	old.Document, old.Version = `{"channelIds":["other"]}`, 2
	require.NoError(t, d.Store.ReplaceAlertSetting(t.Context(), old))
	d.Clock.Advance(2*time.Hour - time.Second)
	d.Resolve(a)
	d.Resolve(held)
	d.Plan()
	require.Equal(t, []string{"SENT 1 0s ", "OPEN 2 2h0m0s "}, d.notifications(a))
	require.Equal(t, []string{"SUPPRESSED 1 1s silence: night"}, d.notifications(held), "nobody was told")
	found, _, err := d.Store.NotificationsOf(t.Context(), a.ID, 10)
	require.NoError(t, err)
	require.Equal(t, "chat", found[1].ChannelID)
}

// A silence, or a cause, holds back what is new, but not that it is over: else the receivers of those who were told
// stay open for ever.
func TestTheEndIsToldAlsoUnderASilence(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.chat("boss", alert.ChannelEmail)
	d.Route(func(r *alert.Route) { r.EscalateAfterSec, r.EscalateTo = 300, []string{"boss"} })
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	d.Clock.Advance(time.Minute)
	alertingtest.Set(d.Desk, alert.KindSilence, &alert.Silence{
		Head: alertingtest.Head("night"), Match: map[string]string{"job": "settle"}, From: enginetest.Noon,
		To: enginetest.Noon.Add(time.Hour),
	})
	d.Clock.Advance(4 * time.Minute)
	d.Plan()
	require.Equal(t, "SUPPRESSED", d.states(a, "boss"), "the escalation is held back")
	require.Equal(t, "SENT", d.states(a, "chat"), "nothing was due there")
	held := []string{"SENT 1 0s ", "SUPPRESSED 1 5m0s silence: night"}
	d.Clock.Advance(time.Minute)
	d.Resolve(a)
	d.Plan()
	require.ElementsMatch(t, append(held, "OPEN 2 6m0s "), d.notifications(a), "the channel that was told, alone")
	d.send(a)
	d.Clock.Advance(2 * time.Hour)
	d.Plan()
	require.Len(t, d.notifications(a), 3, "once")
}

// A repeat that falls due under a silence is recorded once as held back, and comes when the silence ends.
func TestARepeatWaitsForTheEndOfASilence(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(func(r *alert.Route) { r.RepeatSec = 600 })
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	alertingtest.Set(d.Desk, alert.KindSilence, &alert.Silence{
		Head: alertingtest.Head("night"), Match: map[string]string{"job": "settle"}, From: enginetest.Noon,
		To: enginetest.Noon.Add(time.Hour),
	})
	for range 5 {
		d.Clock.Advance(10 * time.Minute)
		d.Plan()
	}
	require.Equal(t, "SENT SUPPRESSED", d.states(a, "chat"))
	d.Clock.Advance(10 * time.Minute)
	d.Plan()
	require.Equal(t, "SENT SUPPRESSED OPEN", d.states(a, "chat"))
}

// An alert that begins and ends between two turns, for example while no node leads, is told still.
func TestAShortEpisodeIsToldOnce(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(nil)
	a := d.Fail("settle")
	d.Resolve(a)
	d.Plan()
	require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(a))
	require.True(t, d.One().NotifyDue.IsZero())
}

// Alerts that nothing groups do not flood a channel: beyond its bound they share a message.
// Each is told, and each learns that it is over after it was told.
func TestManyAlertsShareAMessageBeyondTheBoundOfAChannel(t *testing.T) {
	const failures = 130
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(nil)
	var all []*alert.Alert
	for i := range failures {
		d.End(d.Add(t, enginetest.Job(fmt.Sprint("job", i), nil)), entity.StatusFailed)
	}
	d.Evaluate()
	d.Plan()
	all = d.Alerts()
	require.Len(t, all, failures)
	messages := map[string]int{}
	count := func() {
		clear(messages)
		for _, a := range all {
			found, _, err := d.Store.NotificationsOf(t.Context(), a.ID, 10)
			require.NoError(t, err)
			for _, n := range found {
				messages[n.ID]++
			}
		}
	}
	count()
	require.Len(t, messages, 15)
	most := 0
	for _, n := range messages {
		most = max(most, n)
	}
	require.Equal(t, failures-14, most)
	for _, a := range all {
		d.Resolve(a)
	}
	d.Plan()
	count()
	require.Len(t, messages, 15, "they join what waits")
}

// An alert of a node does not wait behind the failures that it causes. The planner keeps some messages of each minute
// for such alerts; more of them share a message of their own.
func TestAStormOfJobsLeavesRoomForAlertsOfNoJob(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Rule(alert.NodeDown, func(r *alert.Rule) { r.Level = alert.Critical })
	d.Route(nil)
	for i := range 60 {
		d.End(d.Add(t, enginetest.Job(fmt.Sprint("job", i), nil)), entity.StatusFailed)
	}
	d.Evaluate()
	d.Plan()
	d.Clock.Advance(2 * time.Second)
	d.State = &alerting.State{Now: d.Clock.Now()}
	for i := range 7 {
		d.State.Nodes = append(d.State.Nodes, entity.Node{ID: fmt.Sprint("node-", i), Status: entity.NodeDown})
	}
	d.LookAtLevels()
	d.Plan()
	alone, shared := 0, map[string]int{}
	for _, a := range d.Alerts() {
		if a.Type != alert.NodeDown {
			continue
		}
		found, _, err := d.Store.NotificationsOf(t.Context(), a.ID, 10)
		require.NoError(t, err)
		require.Len(t, found, 1)
		if found[0].NextTry.After(d.Clock.Now()) {
			shared[found[0].GroupKey]++
		} else {
			alone++
		}
	}
	require.Equal(t, 5, alone, "they go at once")
	require.Equal(t, map[string]int{policy.OverflowKey("chat", false): 2}, shared)
}

// A channel that heard nothing of an alert does not hear that it is over. An alert that was over before anybody could
// hear of it is told once.
func TestAnEndIsToldToWhoWasToldAlone(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	before := d.Fail("before")
	d.Plan()
	d.Route(nil)
	d.Resolve(before)
	d.Plan()
	require.Empty(t, d.notifications(before), "nobody had heard of it")
	d = newDesk(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(nil)
	unplanned := d.Fail("unplanned")
	d.Resolve(unplanned)
	d.Plan()
	require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(unplanned))
}

// An alert that goes on reaches a route that is made later, once.
func TestAnOpenAlertThatIsPlannedAgainReachesANewRoute(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, nil)
	a := d.Fail("settle")
	d.Plan()
	d.Route(nil)
	for range 2 {
		require.NoError(t, d.Store.PlanAgain(t.Context(), []string{a.ID}, d.Clock.Now()))
		d.Plan()
		require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(a))
	}
	d.Resolve(a)
	require.NoError(t, d.Store.PlanAgain(t.Context(), []string{a.ID}, d.Clock.Now()))
	d.Plan()
	require.Len(t, d.notifications(a), 1, "the end joins what waits")
}

// A message that a program reads has a greater bound.
func TestProgramsGetMoreMessagesThanPeople(t *testing.T) {
	d := newDesk(t)
	d.chat("hook", alert.ChannelWebhook)
	d.Rule(alert.JobFailed, func(r *alert.Rule) { r.ChannelIDs = []string{"hook"} })
	for i := range 30 {
		d.End(d.Add(t, enginetest.Job(fmt.Sprint("job", i), nil)), entity.StatusFailed)
	}
	d.Evaluate()
	d.Plan()
	for _, a := range d.Alerts() {
		require.Equal(t, []string{"OPEN 1 0s "}, d.notifications(a))
	}
}

func TestActionsAreRecordedOnceWithTheFirstMessage(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.JobFailed, func(r *alert.Rule) {
		r.Actions = []alert.RuleAction{{Kind: alert.ActionPauseJob}, {Kind: alert.ActionRetry}}
	})
	d.Route(func(r *alert.Route) { r.RepeatSec = 600 })
	a := d.Fail("settle")
	d.Plan()
	d.send(a)
	d.Clock.Advance(time.Hour)
	d.Plan()
	found, err := d.Store.ActionsOfAlerts(t.Context(), []string{a.ID})
	require.NoError(t, err)
	actions := found[a.ID]
	require.Len(t, actions, 2)
	require.Equal(t, []string{a.JobID, a.ExecutionID}, []string{actions[0].Target, actions[1].Target})
	require.Equal(t, enginetest.Noon, actions[0].CreateTime)
}
