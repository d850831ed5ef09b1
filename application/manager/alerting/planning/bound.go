package planning

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

const (
	// peopleAMinute and programsAMinute bound the messages that a channel gets within a
	// minute; alerts beyond share one message. Robots of chats take 20 a minute.
	peopleAMinute   = 20
	programsAMinute = 1200
	// reserved is the share of them, a quarter, that alerts about no job have for themselves: an alert about a node or the
	// store must not wait behind the failures that it causes.
	reserved = 4
	// overflowWait is how long the message of the alerts beyond the bound waits for others.
	overflowWait = time.Minute
	// peopleAnHour is how many messages within an hour a channel of people gets before repeats and escalations share one
	// each againWait: whoever is told every two minutes reads nothing any more.
	peopleAnHour = 30
	againWait    = 10 * time.Minute
)

// bound sends a target to the shared message of its channel, where that has got as many messages as it may. It returns
// whether it did. job: the alert is about a job.
func (w *messages) bound(ctx context.Context, target *policy.Target, job bool) (bool, error) {
	full, err := w.full(ctx, target.ChannelID, job)
	if err != nil {
		return false, err
	}
	often := false
	if !full && target.Again && !w.policy.Programs[target.ChannelID] {
		n, err := w.count(ctx, w.hourly, target.ChannelID, time.Hour, peopleAnHour)
		if err != nil {
			return false, err
		}
		often = n >= peopleAnHour
	}
	switch {
	case full:
		target.GroupKey, target.Wait, target.Interval = policy.OverflowKey(target.ChannelID, job), overflowWait, overflowWait
	case often:
		target.GroupKey, target.Wait, target.Interval = policy.AgainKey(target.ChannelID, job), 0, againWait
	default:
		return false, nil
	}
	target.TemplateID, target.To, target.RouteID = "", nil, ""
	return true, nil
}

// full reports whether a channel has got as many messages as it may within a minute. Messages about jobs leave some to
// the others.
func (w *messages) full(ctx context.Context, channelID string, job bool) (bool, error) {
	most := peopleAMinute
	if w.policy.Programs[channelID] {
		most = programsAMinute
	}
	given, err := w.count(ctx, w.sent, channelID, time.Minute, most)
	if err != nil {
		return false, err
	}
	if job {
		most -= most/reserved + 1 // one of the rest is their shared message
	}
	return given >= most, nil
}

// count is how many messages a channel got within a span, up to most; known are those that the transaction has counted.
func (w *messages) count(ctx context.Context, known map[string]int, channelID string, span time.Duration,
	most int,
) (int, error) {
	if n, counted := known[channelID]; counted {
		return n, nil
	}
	n, err := w.tx.Alerts.CountNotifications(ctx, channelID, w.now.Add(-span), most)
	if err != nil {
		return 0, err
	}
	known[channelID] = n
	return n, nil
}
