package report

import (
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// Alerts is how failures were told to a webhook: some at a steady rate, each by a message of its
// own, and then a burst, whose alerts share messages.
type Alerts struct {
	// Delays are from the end of each steady run to the arrival of its message, in ms.
	Delays   *measure.Quantiles `json:"delayMs"`
	Failures int                `json:"failures"`
	// Messages are those of the steady failures. Untold are steady failures of which none came.
	Messages int `json:"messages"`
	Untold   int `json:"untold"`
	// Burst is the number of its failures, Span the time in which they came, in seconds.
	Burst     int     `json:"burst"`
	BurstSpan float64 `json:"burstSeconds"`
	// Counted is the sum of the counts of the alerts of all failures, in Alerts of them; Caught is
	// how long after the last end of the burst it was complete, in ms.
	Counted int     `json:"counted"`
	Alerts  int     `json:"alerts"`
	Caught  float64 `json:"caughtUpMs"`
	// BurstMessages are the messages about the burst, and MessageBound the most that may be.
	BurstMessages int `json:"burstMessages"`
	MessageBound  int `json:"burstMessageBound"`
	// Repeated are deliveries of an id that had been taken before, Unsigned those whose signature
	// was wrong.
	Repeated int `json:"repeated"`
	Unsigned int `json:"unsigned"`
	// Broken names the promises that did not hold.
	Broken []string `json:"broken"`
}

// Broken names the promises that did not hold, beside runs that were lost or doubled.
func (r Result) Broken() []string {
	if r.Alerts == nil {
		return r.Console.broken()
	}
	return r.Alerts.Broken
}

// alertRows prints how failures were told.
func (r Result) alertRows(row printer) {
	a := r.Alerts
	if a == nil {
		return
	}
	row("end of a run to its message", "%s, of %d failures", a.Delays, a.Failures)
	row("  messages, untold", "%d, %d", a.Messages, a.Untold)
	row("burst", "%d failures in %.0f s", a.Burst, a.BurstSpan)
	row("  messages", "%d, at most %d", a.BurstMessages, a.MessageBound)
	row("counted in alerts", "%d of %d, in %d alerts, %.0f ms after the last end", a.Counted, a.Failures+a.Burst, a.Alerts,
		a.Caught)
	row("repeated, unsigned deliveries", "%d, %d", a.Repeated, a.Unsigned)
	if len(a.Broken) > 0 {
		row("broken", "%s", strings.Join(a.Broken, "; "))
	}
}
