package planning

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

const (
	// peopleAMinute and programsAMinute bound the messages that a channel gets within a
	// minute; alerts beyond share one message. Robots of chats take 20 a minute.
	peopleAMinute   = 20
	programsAMinute = 1200
	// overflowWait is how long the message of the alerts beyond the bound waits for others.
	overflowWait = time.Minute
)

// place is where notifications have numbers.
type place struct{ groupKey, channelID string }

// draft is the latest notification of a place, as the transaction leaves it.
type draft struct {
	alert.Notification
	// open: alerts may join it. Those of Alerts are still to be added.
	open bool
}

// outbox gathers what a transaction tells, so that many alerts of a group are few statements.
type outbox struct {
	tx     repository.Tx
	now    time.Time
	policy *policy.Policy
	last   map[place]*draft
	order  []*draft
	// given is how many messages a channel got within the last minute.
	given map[string]int
}

// tell adds an alert to the notification of a target that waits for others, or makes the
// next one. Why is what holds it back.
func (w *outbox) tell(ctx context.Context, target policy.Target, a *alert.Alert, why string) error {
	last, err := w.latest(ctx, place{target.GroupKey, target.ChannelID})
	if err != nil {
		return err
	}
	told := alert.NotifiedAlert{AlertID: a.ID, Seq: a.Seq, Firing: a.Status != alert.Resolved}
	if why != "" {
		return w.add(ctx, target, last, alert.NotificationSuppressed, why, told)
	}
	// What is tried still has its place before the next of its group, whatever the bound.
	if !last.open && last.State != alert.NotificationOpen {
		full, err := w.full(ctx, target.ChannelID)
		if err != nil {
			return err
		}
		if full {
			target.GroupKey = policy.OverflowKey(target.ChannelID)
			target.Wait, target.Interval, target.TemplateID, target.To = overflowWait, overflowWait, "", nil
			target.RouteID = ""
			if last, err = w.latest(ctx, place{target.GroupKey, target.ChannelID}); err != nil {
				return err
			}
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
func (w *outbox) latest(ctx context.Context, p place) (*draft, error) {
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

// full reports whether a channel has got as much as it may within a minute.
func (w *outbox) full(ctx context.Context, channelID string) (bool, error) {
	most := peopleAMinute
	if w.policy.Programs[channelID] {
		most = programsAMinute
	}
	given, known := w.given[channelID]
	if !known {
		var err error
		given, err = w.tx.Alerts.CountNotifications(ctx, channelID, w.now.Add(-time.Minute), most)
		if err != nil {
			return false, err
		}
		w.given[channelID] = given
	}
	return given >= most, nil
}

// add makes the notification after the last one.
func (w *outbox) add(ctx context.Context, target policy.Target, last *draft, state alert.NotificationState,
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
	w.last[place{n.GroupKey, n.ChannelID}] = next
	w.order = append(w.order, next)
	w.given[n.ChannelID]++
	return nil
}

// flush says which alerts the open notifications tell of.
func (w *outbox) flush(ctx context.Context) error {
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
