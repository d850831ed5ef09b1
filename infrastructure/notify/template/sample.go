package template

import (
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Sample is a message as a preview or a test shows it.
func Sample(at time.Time) alert.Message {
	return alert.Message{
		ID: "sample", Time: at, Firing: true, Level: "CRITICAL", Total: 1, GroupLabels: map[string]string{"group": "billing"},
		Alerts: []alert.MessageAlert{{
			ID: "sample", Fingerprint: "sample", Type: string(alert.JobFailed), Level: "CRITICAL", Status: "FIRING",
			RuleName: "failed jobs", Group: "billing", JobID: "sample", JobName: "nightly_close", Owner: "ann@example.com",
			ExecutionID: "sample",
			NodeID:      "node-1", Summary: "the command ended with exit code 3",
			Labels: map[string]string{"team": "ledger"}, Count: 2, StartTime: at.Add(-time.Minute),
		}},
	}
}

// Sample is the message of a preview, of this moment.
func (r *Renderer) Sample(c clock.Clock) alert.Message { return Sample(c.Now()) }

// samples are messages that a template has to stand: one alert, a resolved one, many, and one of
// which little is known.
func samples() []alert.Message {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	resolved := Sample(at)
	resolved.Firing, resolved.Alerts[0].Status, resolved.Alerts[0].EndTime = false, "RESOLVED", at
	many := Sample(at)
	for i := range alert.MaxMessageAlerts {
		a := many.Alerts[0]
		a.JobName = "job_" + strconv.Itoa(i)
		many.Alerts = append(many.Alerts, a)
	}
	many.Total = 10_000
	few := alert.Message{
		ID: "sample", Time: at, Firing: true, Level: "INFO", Total: 1,
		Alerts: []alert.MessageAlert{{Type: string(alert.NothingRan), Level: "INFO", Status: "FIRING", StartTime: at}},
	}
	return []alert.Message{Sample(at), resolved, many, few}
}
