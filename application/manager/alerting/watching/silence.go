package watching

import (
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// SilenceMessage is what a watchdog sends about a silence: a message about one alert of type
// WATCHDOG.
func SilenceMessage(s Silence, node string, now time.Time) alert.Message {
	since := s.Since.UTC().Truncate(time.Minute)
	id := fmt.Sprintf("watchdog-%d", since.Unix())
	a := alert.MessageAlert{
		ID: id, Fingerprint: "watchdog-" + node, Type: string(alert.Watchdog), Level: string(alert.Critical),
		Status: string(alert.Firing), RuleName: "watchdog", NodeID: node, StartTime: s.Since, Count: 1,
		Labels: map[string]string{"alertname": string(alert.Watchdog), "severity": string(alert.Critical), "node": node},
		Summary: fmt.Sprintf("The node %s has seen no evaluation of the alert rules for %s.", node,
			s.Age.Truncate(time.Second)),
	}
	if s.Trouble != "" {
		a.Summary += " " + s.Trouble + "."
	}
	if s.Over {
		a.Status, a.EndTime = string(alert.Resolved), now
		a.Summary = fmt.Sprintf("The node %s sees evaluations of the alert rules again.", node)
	}
	return alert.Message{
		ID: fmt.Sprintf("%s-%d", id, now.Unix()), Time: now, Firing: !s.Over, Level: string(alert.Critical), Total: 1,
		GroupLabels: map[string]string{"alertname": string(alert.Watchdog), "node": node}, Alerts: []alert.MessageAlert{a},
	}
}
