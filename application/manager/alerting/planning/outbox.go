package planning

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

// position names the series in which notifications have numbers.
type position struct{ groupKey, channelID string }

// draft is the latest notification of a place, as the transaction leaves it.
type draft struct {
	alert.Notification
	// open: alerts may join it. The messages of Alerts are still to be added.
	open bool
}

// messages collects the notifications of a transaction, so that many alerts of a group take few statements.
type messages struct {
	tx     repository.Tx
	now    time.Time
	policy *policy.Policy
	last   map[position]*draft
	order  []*draft
	// sent is how many messages a channel got within the last minute, hourly within the last hour.
	sent, hourly map[string]int
}

// notify adds an alert to the target's notification that waits for others, or makes the next notification. why says
// what holds it back.
func (w *messages) notify(ctx context.Context, target policy.Target, a *alert.Alert, why string) error {
	last, err := w.latest(ctx, position{target.GroupKey, target.ChannelID})
	if err != nil {
		return err
	}
	told := alert.NotifiedAlert{AlertID: a.ID, Seq: a.Seq, Firing: a.Status != alert.Resolved}
	if why != "" {
		return w.add(ctx, target, last, alert.NotificationSuppressed, why, told)
	}
	// A message under way keeps its place before the next of its group, whatever the bound.
	if !last.open && last.State != alert.NotificationOpen {
		shared, err := w.bound(ctx, &target, a.JobID != "")
		if err != nil {
			return err
		}
		if shared {
			if last, err = w.latest(ctx, position{target.GroupKey, target.ChannelID}); err != nil {
				return err
			}
			// The shared one rests since the former was sent, which may be long after that was made.
			target.Wait = max(target.Wait, min(target.Interval, last.UpdateTime.Add(target.Interval).Sub(w.now)))
		}
	}
	if last.open {
		last.Alerts = append(last.Alerts, told)
		return nil
	}
	return w.add(ctx, target, last, alert.NotificationOpen, "", told)
}

// latest is the newest notification of a place. One that alerts may join is locked, so that
// nobody begins to send it before the transaction ends.
func (w *messages) latest(ctx context.Context, p position) (*draft, error) {
	if d := w.last[p]; d != nil {
		return d, nil
	}
	n, _, err := w.tx.Alerts.LastNotification(ctx, p.groupKey, p.channelID)
	if err != nil {
		return nil, err
	}
	n.Alerts = nil
	d := &draft{Notification: n}
	if n.State == alert.NotificationOpen && n.Attempts == 0 {
		if d.open, err = w.tx.Alerts.JoinNotification(ctx, n.ID, nil); err != nil {
			return nil, err
		}
		w.order = append(w.order, d)
	}
	w.last[p] = d
	return d, nil
}

// add makes the notification after the last one.
func (w *messages) add(ctx context.Context, target policy.Target, last *draft, state alert.NotificationState,
	why string,
	told alert.NotifiedAlert,
) error {
	n := alert.Notification{
		GroupKey: target.GroupKey, ChannelID: target.ChannelID, Number: last.Number + 1, State: state, Why: why,
		NextTry: w.now.Add(target.Wait), RouteID: target.RouteID,
		TemplateID: target.TemplateID, To: target.To, CreateTime: w.now, UpdateTime: w.now,
	}
	before := last.CreateTime
	if before.After(w.now) {
		before = w.now // the clock has stepped back: the group waits no longer than it would
	}
	if next := before.Add(target.Interval); last.Number > 0 && next.After(n.NextTry) {
		n.NextTry = next
	}
	n.ID = policy.NotificationID(n.GroupKey, n.ChannelID, n.Number)
	if state == alert.NotificationSuppressed {
		n.Alerts = []alert.NotifiedAlert{told}
		if err := w.tx.Alerts.AddNotifications(ctx, []*alert.Notification{&n}); err != nil {
			return err
		}
		// Alerts that are not held back still join the one that waits.
		last.Number, last.CreateTime = n.Number, n.CreateTime
		return nil
	}
	if err := w.tx.Alerts.AddNotifications(ctx, []*alert.Notification{&n}); err != nil {
		return err
	}
	// Another leader may have made the same one, and somebody may have begun to send it.
	free, err := w.tx.Alerts.JoinNotification(ctx, n.ID, nil)
	if err != nil {
		return err
	}
	if !free {
		return episode.ErrOvertaken
	}
	n.Alerts = []alert.NotifiedAlert{told}
	next := &draft{Notification: n, open: true}
	w.last[position{n.GroupKey, n.ChannelID}] = next
	w.order = append(w.order, next)
	w.sent[n.ChannelID]++
	if _, counted := w.hourly[n.ChannelID]; counted {
		w.hourly[n.ChannelID]++
	}
	return nil
}

// flush says which alerts the open notifications tell of.
func (w *messages) flush(ctx context.Context) error {
	for _, d := range w.order {
		if len(d.Alerts) == 0 {
			continue
		}
		free, err := w.tx.Alerts.JoinNotification(ctx, d.ID, d.Alerts)
		if err != nil {
			return err
		}
		if !free {
			return episode.ErrOvertaken
		}
	}
	return nil
}
