package notifying_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func failed(code string) alert.SendResult {
	return alert.SendResult{Result: alert.ResultFailed, Code: code, Text: "it says " + code}
}

func TestANotificationIsSentAndRecorded(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", func(a *alert.Alert) { a.Details = map[string]string{"owner": "ann"} })
		id := p.plan("k", "c1", 1, a)
		p.plan("k", "c1", 2, a)
		n := p.node("n1")
		p.once(n)
		require.Equal(t, []string{"SENT n1:SENT", "SENT n1:SENT"}, p.known(a))
		calls := p.calls()
		require.Len(t, calls, 2)
		m := calls[0]
		require.Equal(t, id, m.ID, "in the order of the numbers")
		require.True(t, m.Firing)
		require.Equal(t, []any{"settle_1", "ann", "it failed", "FIRING"},
			[]any{m.Alerts[0].JobName, m.Alerts[0].Owner, m.Alerts[0].Summary, m.Alerts[0].Status})
		require.Equal(t, map[string]string{"alertname": "JOB_FAILED", "job": "settle_1", "group": "risk"}, m.GroupLabels)
		require.Contains(t, m.Content.Title, "settle_1")
	})
}

func TestAnAttemptThatFailsIsRepeatedWithTheSameID(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		p.plan("k", "c1", 2, a)
		p.answers(always(failed("http_503")))
		n := p.node("n1")
		p.once(n)
		p.once(n)
		require.Equal(t, []string{"OPEN n1:FAILED:http_503", "OPEN"}, p.known(a), "the second waits for the first")
		p.wait(999 * time.Millisecond)
		p.once(n)
		require.Len(t, p.calls(), 1)
		p.wait(time.Millisecond)
		p.answers(always(alert.SendResult{Result: alert.ResultFailed, Code: "http_429", RetryAfter: 30 * time.Second}))
		p.once(n)
		p.wait(29 * time.Second)
		p.once(p.node("n2"))
		require.Len(t, p.calls(), 2, "the receiver has asked for 30 s")
		p.wait(time.Second)
		p.answers(always(alert.SendResult{Result: alert.ResultSent}))
		p.once(n)
		require.Equal(t, []string{"SENT n1:FAILED:http_503 n1:FAILED:http_429 n1:SENT", "SENT n1:SENT"}, p.known(a))
		require.Equal(t, p.calls()[0].ID, p.calls()[2].ID)
	})
}

func TestANodeThatDiesLeavesAnAttemptThatIsUnknown(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		id := p.plan("k", "c1", 1, a)
		_, ok, err := p.store.BeginDelivery(t.Context(), alert.Notification{ID: id}, "dead", p.clock.Now())
		require.NoError(t, err)
		require.True(t, ok)
		n := p.node("n2")
		p.wait(alert.LeaseTime - time.Millisecond)
		p.once(n)
		require.Empty(t, p.calls(), "perhaps it lives")
		p.wait(time.Millisecond)
		p.once(n)
		p.wait(alert.LeaseTime - time.Millisecond)
		p.once(n)
		require.Empty(t, p.calls(), "perhaps the clock was set: it has not seen the lease for its time")
		p.wait(time.Millisecond)
		p.once(n)
		require.Equal(t, []string{"SENT dead:UNKNOWN n2:SENT"}, p.known(a))
	})
}

// A clock that is set forward ends no lease of a node that sends, and gives up nothing that is being sent: the message
// goes out once.
func TestAClockThatIsSetForwardSendsNothingTwice(t *testing.T) {
	for _, step := range []time.Duration{alert.LeaseTime, time.Hour, alert.RetryFor + time.Hour} {
		each(t, func(t *testing.T, p *post) {
			p.channel("c1")
			p.rule()
			a := p.fire("1", nil)
			p.plan("k", "c1", 1, a)
			p.answers(func(string, alert.Message) alert.SendResult {
				other := p.node("n2")
				p.clock.Jump(step)
				for range 12 {
					p.once(other)
					p.wait(2 * time.Second)
				}
				return alert.SendResult{Result: alert.ResultSent}
			})
			p.once(p.node("n1"))
			require.Equal(t, []string{"SENT n1:SENT"}, p.known(a))
			require.Len(t, p.calls(), 1)
			require.Zero(t, p.raised)
		})
	}
}

// A clock that is set back delays no message once the leader has seen it: neither one that is tried again, nor one that
// waits for its first attempt.
func TestAClockThatIsSetBackDelaysNoMessage(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1", "c2")
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		n := p.node("n1")
		p.answers(always(failed("http_500")))
		p.once(n)
		p.plan("k", "c2", 1, a)
		p.answers(always(alert.SendResult{Result: alert.ResultSent}))
		p.clock.Jump(-3 * time.Hour)
		p.once(n)
		require.Len(t, p.calls(), 1)
		_, err := p.store.PullBack(t.Context(), p.clock.Now(), true)
		require.NoError(t, err)
		p.once(n)
		require.Equal(t, []string{"SENT n1:FAILED:http_500 n1:SENT", "SENT n1:SENT"}, p.known(a))
	})
}

// What a node has left behind itself, because it could not write the result, waits for the lease alone.
func TestANodeTakesItsOwnLeaseAgain(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		n := p.node("n1")
		p.once(n)
		require.Len(t, p.calls(), 1)
		id := p.plan("k", "c1", 2, a)
		_, ok, err := p.store.BeginDelivery(t.Context(), alert.Notification{ID: id}, "n1", p.clock.Now())
		require.NoError(t, err)
		require.True(t, ok)
		p.wait(alert.LeaseTime - time.Millisecond)
		p.once(n)
		require.Len(t, p.calls(), 1)
		p.wait(time.Millisecond)
		p.once(n)
		require.Len(t, p.calls(), 2)
	})
}

// Nobody waits for the lease of a node that is known to be dead, or that has started anew.
func TestTheLeaseOfADeadNodeEndsWithIt(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		id := p.plan("k", "c1", 1, a)
		register := func() int64 {
			epoch, err := p.store.Register(t.Context(), entity.Node{ID: "n1", Status: entity.NodeUp})
			require.NoError(t, err)
			return epoch
		}
		begin := func(attempts int) {
			_, ok, err := p.store.BeginDelivery(t.Context(), alert.Notification{ID: id, Attempts: attempts}, "n1", p.clock.Now())
			require.NoError(t, err)
			require.True(t, ok)
		}
		register()
		begin(0)
		other := p.node("n2")
		p.once(other)
		require.Empty(t, p.calls(), "it lives")
		p.answers(always(failed("http_500")))
		p.once(p.node("n1"))
		require.Equal(t, []string{"OPEN n1:UNKNOWN n1:FAILED:http_500"}, p.known(a), "it has started anew")
		p.wait(2 * time.Second)
		begin(2)
		require.NoError(t, p.store.Leave(t.Context(), "n1", register()))
		p.answers(always(alert.SendResult{Result: alert.ResultSent}))
		p.once(other)
		require.Equal(t, []string{"SENT n1:UNKNOWN n1:FAILED:http_500 n1:UNKNOWN n2:SENT"}, p.known(a), "it is DOWN")
	})
}

func TestANodeThatStoodStillDoesNotSendUnderALostLease(t *testing.T) {
	sendsOnceOvertaken(t, func(p *post) *func() { return &p.told })
}

// sendsOnceOvertaken lets a node stand still at a moment until another one has sent its message.
func sendsOnceOvertaken(t *testing.T, moment func(p *post) *func()) {
	t.Helper()
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		at := moment(p)
		*at = func() {
			*at = nil
			p.overtake(p.node("n2"))
		}
		p.once(p.node("n1"))
		require.Equal(t, []string{"SENT n1:FAILED:late n2:SENT"}, p.known(a))
		require.Len(t, p.calls(), 1)
	})
}

func TestANodeThatStandsStillWhileItSendsDecidesNothing(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		p.answers(func(string, alert.Message) alert.SendResult {
			p.answers(always(failed("http_500")))
			p.overtake(p.node("n2"))
			return alert.SendResult{Result: alert.ResultSent}
		})
		p.once(p.node("n1"))
		require.Equal(t, []string{"OPEN n1:SENT n2:FAILED:http_500"}, p.known(a), "both are recorded, and the lease decides")
		require.Equal(t, p.calls()[0].ID, p.calls()[1].ID, "so the receiver knows the repetition")
	})
}

func TestAResultIsWrittenAlthoughTheStoreWasAway(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		p.faults.Next("delivery-end", enginetest.Refused, enginetest.LostCommit, enginetest.LostReply)
		stop := make(chan struct{})
		// Time goes on once the result is to be written: the send itself is in time.
		var writes atomic.Bool
		p.faults.Before(func(name string) {
			if name == "delivery-end" {
				writes.Store(true)
			}
		})
		var timer sync.WaitGroup
		timer.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if writes.Load() && p.clock.Timers() > 0 {
						p.wait(250 * time.Millisecond)
					}
				}
			}
		})
		p.once(p.node("n1"))
		close(stop)
		timer.Wait()
		require.Equal(t, []string{"SENT n1:SENT"}, p.known(a))
	})
}

func TestARefusedNotificationIsAnAlertAndItsOwnIsNot(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1", "c2")
		p.rule()
		a := p.fire("1", nil)
		p.plan("k", "c1", 1, a)
		p.plan("k", "c1", 2, a)
		p.answers(always(alert.SendResult{Result: alert.ResultRefused, Code: "http_404", Text: "status 404"}))
		n := p.node("n1")
		p.once(n)
		require.Equal(t, []string{"DEAD n1:REFUSED:http_404", "DEAD n1:REFUSED:http_404"}, p.known(a))
		alerts := func() []*alert.Alert {
			found, _, err := p.store.ListAlerts(t.Context(), repository.AlertFilter{Type: alert.DeliveryFailed},
				repository.Page{Limit: 10})
			require.NoError(t, err)
			return found
		}
		found := alerts()
		require.Len(t, found, 1)
		require.Equal(t, []any{2, "The channel c1 did not take a message: status 404.", alert.Firing},
			[]any{found[0].Count, found[0].Content, found[0].Status})
		require.Equal(t, []int{2, 2}, []int{p.dead, p.raised})
		p.plan("dead", "c2", 1, found[0])
		p.once(n)
		require.Equal(t, []string{"DEAD n1:REFUSED:http_404"}, p.known(found[0]))
		require.Equal(t, 2, p.raised, "no alert is made of that")
		require.Len(t, alerts(), 1)
	})
}

func TestABrokenChannelIsAskedOnceAMinuteAndHoldsNobodyBack(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("bad", "good")
		var all []*alert.Alert
		for i := range 30 {
			a := p.fire(fmt.Sprint(100+i), nil)
			p.plan(a.ID, "bad", 1, a)
			all = append(all, a)
		}
		n := p.node("n1")
		var log bytes.Buffer
		n.Logger = slog.New(slog.NewTextHandler(&log, nil))
		p.answers(func(channel string, _ alert.Message) alert.SendResult {
			if channel == "bad" {
				return failed("timeout")
			}
			return alert.SendResult{Result: alert.ResultSent}
		})
		p.once(n)
		first := len(p.calls())
		require.GreaterOrEqual(t, first, 5)
		require.LessOrEqual(t, first, 12, "as many as were on their way")
		reason, blocks := n.Trouble()
		require.Contains(t, reason, "once a minute: 1;")
		require.NotContains(t, reason, "bad", "/readyz tells this to everybody")
		require.False(t, blocks)
		require.Equal(t, 1, strings.Count(log.String(), "name=bad code=timeout"), "%s", log.String())
		late := p.fire("999", nil)
		p.plan("late", "good", 1, late)
		p.wait(59 * time.Second)
		p.once(n)
		require.Equal(t, []string{"SENT n1:SENT"}, p.known(late))
		require.Len(t, p.calls(), first+1)
		p.wait(time.Second)
		p.once(n)
		require.Len(t, p.calls(), first+2, "one asks for all")
		p.wait(time.Minute)
		p.answers(always(alert.SendResult{Result: alert.ResultSent}))
		p.once(n)
		reason, _ = n.Trouble()
		require.Empty(t, reason)
		attempts := 0
		for _, a := range all {
			known := p.known(a)[0]
			require.True(t, strings.HasPrefix(known, "SENT"), known)
			attempts += strings.Count(known, "n1:")
		}
		require.Equal(t, len(p.calls())-1, attempts, "what was held back is no attempt")
	})
}

func TestASlowChannelDoesNotDelayOthers(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("slow", "quick")
		for i := range 30 {
			a := p.fire(fmt.Sprint(100+i), nil)
			p.plan(a.ID, "slow", 1, a)
		}
		p.wait(time.Millisecond) // the others have waited for longer
		last := p.fire("999", nil)
		p.plan("k", "quick", 1, last)
		release, quick := make(chan struct{}), make(chan struct{})
		p.answers(func(channel string, _ alert.Message) alert.SendResult {
			if channel == "quick" {
				close(quick)
			} else {
				<-release
			}
			return alert.SendResult{Result: alert.ResultSent}
		})
		ctx, stop := context.WithCancel(t.Context())
		var loop sync.WaitGroup
		n := p.node("n1")
		loop.Go(func() { n.Run(ctx) })
		synctest.Wait()
		select {
		case <-quick:
		default:
			t.Error("the quick channel waits for the slow one")
		}
		require.LessOrEqual(t, len(p.calls()), 9, "a channel has a bound of its own")
		close(release)
		synctest.Wait()
		require.Len(t, p.calls(), 31, "an end makes room at once, without a timer")
		stop()
		loop.Wait()
	})
}

func TestManyNotifiersSendEachMessageOnceAndInOrder(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1", "c2", "c3")
		a := p.fire("1", nil)
		const keys, each = 12, 4
		for key := range keys {
			for number := range each {
				p.plan(fmt.Sprint("k", key), fmt.Sprint("c", key%3+1), number+1, a)
			}
		}
		var nodes sync.WaitGroup
		for i := range 3 {
			n := p.node(fmt.Sprint("n", i))
			nodes.Go(func() {
				for len(p.calls()) < keys*each {
					p.once(n)
					time.Sleep(time.Millisecond) // others may have the lease
				}
			})
		}
		nodes.Wait()
		require.Len(t, p.calls(), keys*each)
		seen := map[string]bool{}
		for _, m := range p.calls() {
			require.False(t, seen[m.ID], "sent twice")
			seen[m.ID] = true
		}
		for _, known := range p.known(a) {
			require.Regexp(t, `^SENT n\d:SENT$`, known)
		}
	})
}

func TestWhatNobodyCanSendEnds(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.rule()
		p.channel("c1")
		off := head("off")
		off.Enabled = false
		keep(p, alert.KindChannel, &alert.Channel{Head: off, Type: alert.ChannelWebhook})
		gone, silent, old := p.fire("1", nil), p.fire("2", nil), p.fire("3", nil)
		p.plan("k1", "gone", 1, gone)
		p.plan("k2", "off", 1, silent)
		p.plan("k3", "c1", 1, old)
		p.answers(always(failed("http_500")))
		n := p.node("n1")
		p.once(n)
		require.Equal(t, []string{"SUPPRESSED"}, p.known(gone))
		require.Equal(t, "the channel was deleted", p.why(gone))
		require.Equal(t, []string{"SUPPRESSED"}, p.known(silent))
		require.Equal(t, "the channel off is switched off", p.why(silent))
		p.wait(alert.RetryFor)
		p.once(n)
		require.Equal(t, []string{"DEAD n1:FAILED:http_500"}, p.known(old))
		require.Equal(t, "it could not be sent within 24h0m0s: it says http_500", p.why(old))
		require.Equal(t, 1, p.raised)
	})
}

func TestAMessageTellsWhatItWasPlannedToTell(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", func(a *alert.Alert) { a.Labels["runbook_url"] = "javascript:alert(1)" })
		p.plan("k", "c1", 1, a)
		over := *a
		over.Resolve(alert.ByRecovery, noon, noon)
		p.write(func(ctx context.Context, tx repository.Tx) error {
			ok, err := tx.Alerts.UpdateAlert(ctx, &over, a.Seq)
			require.True(t, ok)
			return err
		})
		p.plan("k", "c1", 2, &over)
		p.once(p.node("n1"))
		calls := p.calls()
		require.Len(t, calls, 2)
		require.Equal(t, []any{true, "FIRING", true}, []any{
			calls[0].Firing, calls[0].Alerts[0].Status,
			calls[0].Alerts[0].EndTime.IsZero(),
		}, "although it is over by now")
		require.Equal(t, []any{false, "RESOLVED", noon}, []any{
			calls[1].Firing, calls[1].Alerts[0].Status,
			calls[1].Alerts[0].EndTime,
		})
		require.Equal(t, alert.JobFailed.RunbookURL(), calls[0].Alerts[0].RunbookURL, "the label is no address of the web")
	})
}

func TestATemplateThatFailsDoesNotHoldAMessageBack(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		keep(p, alert.KindTemplate, &alert.Template{
			Head: head("t1"), Title: map[string]string{"en": "own {{.Subject}}"}, Text: map[string]string{"en": "{{.Nothing}}"},
		})
		a := p.fire("1", nil)
		now := p.clock.Now()
		p.write(func(ctx context.Context, tx repository.Tx) error {
			return tx.Alerts.AddNotifications(ctx, []*alert.Notification{{
				ID: "x", GroupKey: "k", ChannelID: "c1", Number: 1, State: alert.NotificationOpen, NextTry: now, CreateTime: now,
				UpdateTime: now, TemplateID: "t1", Alerts: []alert.NotifiedAlert{{AlertID: a.ID, Seq: 1, Firing: true}},
			}})
		})
		p.once(p.node("n1"))
		require.Equal(t, []string{"SENT n1:SENT"}, p.known(a))
		m := p.calls()[0]
		require.Equal(t, "own settle_1", m.Content.Title)
		require.Contains(t, m.Content.Text, "it failed", "the text of the product")
		_, deliveries, err := p.store.NotificationsOf(t.Context(), a.ID, 10)
		require.NoError(t, err)
		require.Contains(t, deliveries[0].Message, "the text of the template")
	})
}
