package notifying

import (
	"cmp"
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Try sends a message of an alert that does not exist through a channel, and tells the
// result. It is counted as an attempt, and kept nowhere.
func (n *Notifier) Try(ctx context.Context, s alert.Setting) alert.SendResult {
	c, channel, err := n.channels.open(s)
	if err != nil {
		return alert.SendResult{Result: alert.ResultFailed, Code: "config", Text: err.Error()}
	}
	now := n.StoreClock.Now()
	m := alert.Message{
		ID: "test-" + identity.RandomID(now), Time: now, Firing: true, Level: string(alert.Info), Total: 1,
		GroupLabels: map[string]string{"alertname": "TEST"},
		Alerts: []alert.MessageAlert{{
			ID: "test", Fingerprint: "test", Type: "TEST", Level: string(alert.Info), Status: string(alert.Firing),
			Group: s.Group, Summary: "This is a test of the channel " + s.Name + ". Nothing is wrong.", Count: 1, StartTime: now,
			Labels: map[string]string{"alertname": "TEST", "channel": s.Name}, Details: map[string]string{"channel": s.Name},
		}},
	}
	if m.Content, err = n.Renderer.Render(ctx, c.Type, cmp.Or(c.Language, "en"), alert.Content{}, m); err != nil {
		n.Logger.Error("the text of a test message could not be made", "error", err)
	}
	r := n.through(ctx, channel, m)
	n.Metrics.Delivered(string(c.Type), string(r.Result))
	return r
}
