package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// Alerts is how failures were told to a webhook: some at a steady rate, each by a message of its
// own, and then a burst, whose alerts share messages.
type Alerts struct {
	// Delays are from the end of each steady run to the arrival of its message, in ms.
	Delays   *measure.Quantiles `json:"delayMs"`
	Failures int                `json:"failures"`
	// Messages are those of the steady failures. Untold are steady failures of which none came.
	Messages   int `json:"messages"`
	Unnotified int `json:"untold"`
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

// AlertGoals are the most that the delays may be.
type AlertGoals struct{ P50, P99 time.Duration }

// Conclude names the promises that did not hold.
func (a *Alerts) Conclude(goals AlertGoals) {
	a.Broken = []string{}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			a.Broken = append(a.Broken, fmt.Sprintf(format, args...))
		}
	}
	check(a.Unnotified == 0, "%d failures were not told", a.Unnotified)
	check(a.Repeated == 0, "%d deliveries were repeated", a.Repeated)
	check(a.Unsigned == 0, "%d deliveries had no valid signature", a.Unsigned)
	check(a.BurstMessages > 0, "the burst was not told")
	check(a.BurstMessages <= a.MessageBound, "the burst made %d messages, more than %d", a.BurstMessages, a.MessageBound)
	if d := a.Delays; d != nil {
		p50, p99 := float64(goals.P50.Milliseconds()), float64(goals.P99.Milliseconds())
		check(d.P50 <= p50, "the p50 is over %.0f ms", p50)
		check(d.P99 <= p99, "the p99 is over %.0f ms", p99)
	}
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
	row("  messages, untold", "%d, %d", a.Messages, a.Unnotified)
	row("burst", "%d failures in %.0f s", a.Burst, a.BurstSpan)
	row("  messages", "%d, at most %d", a.BurstMessages, a.MessageBound)
	row("counted in alerts", "%d of %d, in %d alerts, %.0f ms after the last end", a.Counted, a.Failures+a.Burst, a.Alerts,
		a.Caught)
	row("repeated, unsigned deliveries", "%d, %d", a.Repeated, a.Unsigned)
	if len(a.Broken) > 0 {
		row("broken", "%s", strings.Join(a.Broken, "; "))
	}
}
