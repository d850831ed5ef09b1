package alerting

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// DefaultRules are the rules of the first start. Their ids are fixed, so that every node
// makes the same. They can be switched off, not deleted: the next start would add them.
func DefaultRules(now time.Time) []alert.Rule {
	of := func(name string, t alert.RuleType, level alert.Level, change func(r *alert.Rule)) alert.Rule {
		r := alert.Rule{
			Head: alert.Head{
				ID: "default-" + name, Name: "default: " + name, Enabled: true, Version: 1, CreateTime: now, UpdateTime: now,
			},
			Type: t, Level: level, Notify: alert.NotifyFirst, Default: name,
		}
		if change != nil {
			change(&r)
		}
		return r
	}
	return []alert.Rule{
		of("failed", alert.JobFailed, alert.Warning, nil),
		of("consecutive-failures", alert.ConsecutiveFailures, alert.Critical, func(r *alert.Rule) { r.Threshold = 3 }),
		of("dead-letter", alert.DeadLetter, alert.Critical, nil),
		of("deadline-missed", alert.DeadlineMissed, alert.Critical, nil),
		of("slow-run", alert.SlowRun, alert.Info, nil),
		of("not-fired", alert.NotFired, alert.Critical, nil),
		of("late", alert.Lateness, alert.Warning, func(r *alert.Rule) { r.Threshold, r.ForSec = 60, 60 }),
		of("queue-depth", alert.QueueDepth, alert.Warning, func(r *alert.Rule) { r.Threshold, r.ForSec = 1000, 300 }),
		of("no-node", alert.NoNode, alert.Warning, func(r *alert.Rule) { r.ForSec = 60 }),
		of("node-down", alert.NodeDown, alert.Critical, nil),
		of("clock-skew", alert.ClockSkew, alert.Warning, func(r *alert.Rule) { r.ForSec = 60 }),
		of("nothing-ran", alert.NothingRan, alert.Critical, func(r *alert.Rule) { r.WindowSec = 300 }),
		of("degraded", alert.Degraded, alert.Warning, func(r *alert.Rule) { r.ForSec = 60 }),
		of("delivery-failed", alert.DeliveryFailed, alert.Critical, nil),
		of("step-held", alert.StepHeld, alert.Warning, nil),
		of("approval-waiting", alert.ApprovalWaiting, alert.Info, nil),
	}
}
