package notifying_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// The lease counts from its request: a node that stands still before it has the answer does not send either.
func TestANodeThatStoodStillBeforeItKnewOfItsLeaseDoesNotSend(t *testing.T) {
	sendsOnceOvertaken(t, func(p *post) *func() { return &p.leased })
}

// A node that has seen the former lease of a notification run out waits for the whole time of the next one.
func TestAWatchedLeaseBeginsAnewWithItsAttempt(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", nil)
		id := p.plan("k", "c1", 1, a)
		_, ok, err := p.store.BeginDelivery(t.Context(), alert.Notification{ID: id}, "dead", p.clock.Now())
		require.NoError(t, err)
		require.True(t, ok)
		sender, watcher := p.node("n1"), p.node("n2")
		p.wait(alert.LeaseTime)
		p.once(sender)
		p.once(watcher)
		p.wait(alert.LeaseTime)
		sent := alert.SendResult{Result: alert.ResultSent}
		p.answers(func(string, alert.Message) alert.SendResult {
			p.answers(always(sent))
			p.clock.Jump(time.Hour)
			for range 12 {
				p.once(watcher)
				p.wait(2 * time.Second)
			}
			return sent
		})
		p.once(sender)
		require.Equal(t, []string{"SENT dead:UNKNOWN n1:SENT"}, p.known(a))
		require.Len(t, p.calls(), 1)
	})
}

// A message that is DEAD raises an alert also where one of those that it told of is about a channel.
func TestADeadMessageAboutMoreThanChannelsIsAnAlert(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		p.rule()
		failed := p.fire("1", nil)
		other := p.fire("2", func(a *alert.Alert) { a.Type = alert.DeliveryFailed })
		p.plan("k", "c1", 1, failed, other)
		p.answers(always(alert.SendResult{Result: alert.ResultRefused, Code: "http_404"}))
		p.once(p.node("n1"))
		found, _, err := p.store.ListAlerts(t.Context(), repository.AlertFilter{
			Type: alert.DeliveryFailed, RuleID: "delivery",
		}, repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, found, 1)
	})
}

// The order of messages holds for a group and a channel: a channel that takes nothing holds back no other.
func TestOneChannelOfAGroupDoesNotWaitForAnother(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("away", "works")
		a := p.fire("1", nil)
		p.plan("k", "away", 1, a)
		p.answers(func(channel string, _ alert.Message) alert.SendResult {
			if channel == "away" {
				return failed("http_500")
			}
			return alert.SendResult{Result: alert.ResultSent}
		})
		n := p.node("n1")
		p.once(n)
		p.plan("k", "works", 2, p.fire("2", nil))
		p.once(n)
		require.Equal(t, "works", p.calls()[len(p.calls())-1].channel)
	})
}
