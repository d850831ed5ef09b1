package validation

import (
	"cmp"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// The values of a definition where its author says nothing.
const (
	DefaultGroup               = "default"
	DefaultTimeZone            = "UTC"
	DefaultPriority            = 5
	DefaultMisfireThresholdSec = 60
	DefaultMisfireWindowSec    = 86_400 // see MisfireWindowSec
	DefaultMisfireMaxFires     = 1000
	DefaultRetryIntervalMs     = 1000
	DefaultRetryMaxIntervalMs  = 60_000
	DefaultRetryJitter         = 0.1
	DefaultMaxQueued           = 100
	DefaultShardCount          = 1
)

// NewJob is a definition in which nothing was said: what a request leaves out
// keeps the value it has here. It lacks a name and a type. timeZone is the
// server's zone for schedules without one; "" is UTC.
func NewJob(timeZone string) *entity.Job {
	j := &entity.Job{
		Misfire: entity.Misfire{ThresholdSec: DefaultMisfireThresholdSec, WindowSec: MisfireWindowSec(misfirePolicies[0])},
		Retry: entity.RetryPolicy{
			IntervalMs: DefaultRetryIntervalMs, MaxIntervalMs: DefaultRetryMaxIntervalMs, Jitter: DefaultRetryJitter,
		},
		MaxQueued: DefaultMaxQueued,
	}
	Defaults(j, timeZone)
	return j
}

// MisfireWindowSec is the window of a policy whose author says nothing of it. One run after an outage of months does
// little harm; all that were missed might.
func MisfireWindowSec(policy entity.MisfirePolicy) int {
	if policy == entity.MisfireFireOnce || policy == "" {
		return year
	}
	return DefaultMisfireWindowSec
}

// Defaults fills the fields whose zero value is not legal. Where zero means
// something, such as misfireThresholdSec or maxQueued, only the caller knows
// whether it was said; see NewJob. A cap of the retry wait that was left out is
// the default or the interval, whichever is greater.
func Defaults(j *entity.Job, timeZone string) {
	fill(&j.Group, DefaultGroup)
	fill(&j.Data, "{}")
	fill(&j.Priority, DefaultPriority)
	fill(&j.Misfire.Policy, misfirePolicies[0])
	fill(&j.Misfire.MaxFires, DefaultMisfireMaxFires)
	fill(&j.Retry.Backoff, backoffs[0])
	if j.Retry.IntervalMs > 0 {
		fill(&j.Retry.MaxIntervalMs, max(DefaultRetryMaxIntervalMs, j.Retry.IntervalMs))
	}
	fill(&j.Overlap, overlapPolicies[0])
	fill(&j.ShardCount, DefaultShardCount)
	fill(&j.Routing.Strategy, strategies[0])
	fill(&j.OnNodeLoss, nodeLosses[0])
	spec(&j.Schedule, cmp.Or(timeZone, DefaultTimeZone))
	j.Alerts.Plain()
	if len(j.Parameters) == 0 {
		j.Parameters = nil // an empty list says no more than none
	}
	if j.Deadline.At != "" {
		fill(&j.Deadline.TimeZone, j.Schedule.TimeZone)
		fill(&j.Deadline.OnMiss, entity.MissAlert)
	}
}

// spec fills a schedule. Its kind is NONE if nothing says when to fire, and CRON if a
// field says so without a kind.
func spec(s *schedule.Spec, timeZone string) {
	if s.CronExpression == "" && s.IntervalMs == 0 && s.At.IsZero() {
		fill(&s.Kind, schedule.None)
	}
	fill(&s.Kind, schedule.Cron)
	fill(&s.Dialect, cronexpr.Quartz)
	fill(&s.TimeZone, timeZone)
	fill(&s.DstGap, cronexpr.NextValid)
	fill(&s.DstOverlap, cronexpr.First)
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
