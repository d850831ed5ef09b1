package notifying

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// sendBound is how long an attempt may last: longer than each channel's own bound, and
	// so much shorter than the lease that its result can be written.
	sendBound = 22 * time.Second
	// latest is until when, after the lease was taken, an attempt may begin.
	latest = alert.LeaseTime - sendBound - 2*time.Second
	// writeTries is how often a result is written, and writePause the time in between.
	writeTries = 20
	writePause = 250 * time.Millisecond
)

// deliver makes the next attempt to send a notification.
func (n *Notifier) deliver(ctx context.Context, d alert.Notification) error {
	s, err := n.Settings.AlertSetting(ctx, alert.KindChannel, d.ChannelID)
	switch {
	case apperror.Is(err, apperror.KindNotFound):
		n.gates.forget(d.ChannelID)
		return n.close(ctx, d, alert.NotificationSuppressed, "the channel was deleted")
	case err != nil:
		return fmt.Errorf("read the channel %s: %w", d.ChannelID, err)
	case !s.Enabled:
		n.gates.forget(d.ChannelID)
		return n.close(ctx, d, alert.NotificationSuppressed, "the channel "+s.Name+" is switched off")
	}
	begun := n.Clock.Monotonic()
	// From here on every end is recorded. A node that dies, or stands still, leaves an
	// attempt without a result: whoever takes the lease next makes it UNKNOWN.
	taken, ok, err := n.Notifications.BeginDelivery(ctx, d, n.NodeID, n.StoreClock.Now())
	if err != nil || !ok {
		return err
	}
	delivery := alert.Delivery{NotificationID: taken.ID, Attempt: taken.Attempts, NodeID: n.NodeID}
	message, told, result := n.attempt(ctx, s, taken, begun)
	delivery.EndTime = n.StoreClock.Now()
	delivery.Result, delivery.Code, delivery.Message = result.Result, result.Code, result.Text
	delivery.Named = namedBy(message, result)
	why := result.Text
	if why == "" {
		why = result.Code
	}
	if told && gone(message) {
		taken.Close(alert.NotificationSuppressed, "the alerts that it was about are deleted", delivery.EndTime)
	} else {
		taken.Conclude(result.Result, why, result.RetryAfter, delivery.EndTime, n.Random())
	}
	if result.Code != codeLate && n.gates.note(s.ID, result, n.Clock.Monotonic()) {
		n.Logger.Warn("a channel of alerts does not take messages, and is asked once a minute", "channel", s.ID,
			"name", s.Name, "code", result.Code)
	}
	more := result.Result == alert.ResultSent && message.Total > len(delivery.Named)
	return n.end(ctx, s, taken, delivery, told && aboutChannels(message), more)
}

// codeLate is that of an attempt that was not begun: the node had stood still.
const codeLate = "late"

// attempt sends a notification whose lease was asked for at the monotonic time begun. Told
// is false where nobody knows what the notification tells of.
func (n *Notifier) attempt(ctx context.Context, s alert.Setting, taken alert.Notification,
	begun time.Duration,
) (m alert.Message, told bool, r alert.SendResult) {
	failed := func(code, text string) alert.SendResult {
		return alert.SendResult{Result: alert.ResultFailed, Code: code, Text: text}
	}
	of, err := n.Notifications.Contents(ctx, taken.ID, alert.MaxMessageAlerts)
	if err != nil {
		n.Logger.Error("the alerts of a notification could not be read", "notification", taken.ID, "error", err)
		return m, false, failed("store", "the alerts could not be read from the store")
	}
	m = compose(taken, of, nil, n.PublicURL)
	if gone(m) {
		return m, true, failed("gone", "the alerts are deleted")
	}
	c, channel, err := n.channels.open(s)
	if err != nil {
		return m, true, failed("config", err.Error())
	}
	language := cmp.Or(c.Language, "en")
	groupBy, template := n.texts.of(ctx, taken, language)
	m.GroupLabels = groupLabels(m.Alerts, groupBy)
	var note string
	if m.Total > 0 {
		if m.Content, err = n.Renderer.Render(ctx, c.Type, language, template, m); err != nil {
			note = "sent with the text of the product: " + err.Error()
		}
		m.Fewer = func(count int) alert.Content {
			fewer := m
			fewer.Alerts = m.Alerts[:count]
			content, _ := n.Renderer.Render(ctx, c.Type, language, template, fewer) // its error is that of the whole
			return content
		}
	}
	if n.Clock.Monotonic()-begun > latest {
		return m, true, failed(codeLate, "the node stood still before it could send; nothing was sent")
	}
	r = n.through(ctx, channel, m)
	n.Metrics.Delivered(string(c.Type), string(r.Result))
	if r.Result == alert.ResultSent {
		n.Metrics.NotificationDelay(string(c.Type), max(n.StoreClock.Now().Sub(taken.NextTry), 0))
	}
	if r.Result == alert.ResultSent && note != "" {
		r.Text = note + appended(r.Text)
	}
	return m, true, r
}

func appended(text string) string {
	if text == "" {
		return ""
	}
	return "; " + text
}

// through makes one attempt. An attempt that the end of the node cuts off has an unknown result.
func (n *Notifier) through(ctx context.Context, c Channel, m alert.Message) alert.SendResult {
	bounded, cancel := context.WithTimeout(ctx, sendBound)
	defer cancel()
	r := c.Send(bounded, m)
	if r.Result != alert.ResultSent && ctx.Err() != nil {
		return alert.SendResult{Result: alert.ResultUnknown, Code: "stopped", Text: "the node stopped while it was sending"}
	}
	return r
}

// gone reports that there is nothing to tell: neither alerts, nor a text of its own.
func gone(m alert.Message) bool { return m.Total == 0 && m.Content == (alert.Content{}) }

// aboutChannels reports that a message tells of nothing but channels that do not work.
// When it is DEAD, too, no alert is made of that: it would go round in a circle.
func aboutChannels(m alert.Message) bool {
	for _, a := range m.Alerts {
		if a.Type != string(alert.DeliveryFailed) {
			return false
		}
	}
	return len(m.Alerts) > 0
}

// end writes the result of an attempt. It goes on while the store is away, for a while:
// a result that is not written means another attempt.
// More: it is about more alerts than it named.
func (n *Notifier) end(ctx context.Context, s alert.Setting, taken alert.Notification, d alert.Delivery,
	quiet, more bool,
) error {
	ctx = context.WithoutCancel(ctx)
	dead := taken.State == alert.NotificationDead
	raised := false
	var signals []rules.Signal
	var err error
	for range writeTries {
		if dead && !quiet {
			if signals, err = n.signals(ctx, s, taken); err != nil {
				if clock.Sleep(ctx, n.Clock, writePause) != nil {
					break
				}
				continue
			}
		}
		err = n.Store.Write(ctx, repository.LaneComplete, "delivery-end", func(ctx context.Context, tx repository.Tx) error {
			raised = false
			held, err := tx.Alerts.EndDelivery(ctx, taken, d)
			if err != nil || !held {
				return err
			}
			if more && len(d.Named) > 0 {
				if err := pageOn(ctx, tx, taken); err != nil {
					return err
				}
			}
			count, err := episode.Raise(ctx, tx, signals, taken.UpdateTime)
			raised = count > 0
			return err
		})
		if err == nil {
			break
		}
		if clock.Sleep(ctx, n.Clock, writePause) != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("write the result of attempt %d, %s: %w", d.Attempt, d.Result, err)
	}
	n.reportDead(s, dead, raised)
	return nil
}

// reportDead tells others of a notification that is DEAD.
func (n *Notifier) reportDead(s alert.Setting, dead, raised bool) {
	if !dead {
		return
	}
	if c, err := alert.Read[alert.Channel](s); err == nil {
		n.Metrics.NotificationDead(string(c.Type))
	}
	if raised {
		n.Raised()
	}
}

// signals are the evidence that a notification is DEAD, one for each rule that asks for it.
func (n *Notifier) signals(ctx context.Context, s alert.Setting, dead alert.Notification) ([]rules.Signal, error) {
	settings, err := n.Settings.AlertSettings(ctx, []alert.Kind{alert.KindRule}, bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	var out []rules.Signal
	for _, r := range ruleset.InOrder(ruleset.Read[alert.Rule](settings, alert.KindRule, nil)) {
		if r.Enabled && r.Type == alert.DeliveryFailed {
			out = append(out, rules.NotDelivered(r, s.Head, dead.ID, dead.Why, dead.UpdateTime))
		}
	}
	return out, nil
}

// close ends a notification without an attempt.
func (n *Notifier) close(ctx context.Context, d alert.Notification, state alert.NotificationState, why string) error {
	d.Close(state, why, n.StoreClock.Now())
	dead, raised := state == alert.NotificationDead, false
	s, err := n.Settings.AlertSetting(ctx, alert.KindChannel, d.ChannelID)
	if err != nil && !apperror.Is(err, apperror.KindNotFound) {
		return err
	}
	exists := err == nil
	var signals []rules.Signal
	if dead && exists {
		told, err := n.Notifications.Contents(ctx, d.ID, alert.MaxMessageAlerts)
		if err != nil {
			return err
		}
		if !aboutChannels(compose(d, told, nil, "")) {
			if signals, err = n.signals(ctx, s, d); err != nil {
				return err
			}
		}
	}
	err = n.Store.Write(ctx, repository.LaneComplete, "notification-close",
		func(ctx context.Context, tx repository.Tx) error {
			raised = false
			ok, err := tx.Alerts.CloseNotification(ctx, d)
			if err != nil || !ok {
				return err
			}
			count, err := episode.Raise(ctx, tx, signals, d.UpdateTime)
			raised = count > 0
			return err
		})
	if err != nil {
		return fmt.Errorf("close the notification %s: %w", d.ID, err)
	}
	if exists {
		n.reportDead(s, dead, raised)
	}
	return nil
}
