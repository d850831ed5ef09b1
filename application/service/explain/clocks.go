package explain

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// nearChange is how far from a change of the clocks a time may lie that people mean by a wall clock which it moved.
const nearChange = 2 * time.Hour

// clocks explains a time that a change of the clocks left out, moved, or made twice; the code is empty for others.
func (c *inquiry) clocks(spec schedule.Spec) (Code, Params) {
	if spec.Kind != schedule.Cron {
		return "", nil
	}
	zone := zoneOf(spec.TimeZone)
	change, before, after, ok := changeNear(c.At, zone)
	if !ok {
		return "", nil
	}
	if after < before {
		return c.doubled(spec, change)
	}
	other := spec
	other.DstGap = cronexpr.NextValid
	if !c.names(other, change) {
		return "", nil
	}
	gap := time.Duration(after-before) * time.Second
	p := Params{"time": c.At, "timeZone": zone.String(), "jumpMs": gap, "change": change}
	if spec.DstGap == cronexpr.Skip {
		return GapOfClocks, p
	}
	return GapMoved, p
}

// doubled explains the second of two equal times on a wall clock.
func (c *inquiry) doubled(spec schedule.Spec, change time.Time) (Code, Params) {
	other := spec
	other.DstOverlap = cronexpr.Both
	if spec.DstOverlap == cronexpr.Both || c.At.Before(change) || !c.names(other, c.At) {
		return "", nil
	}
	return OverlapOfClock, Params{"time": c.At, "timeZone": spec.TimeZone}
}

// names reports whether a schedule names a time in the minute of t.
func (c *inquiry) names(spec schedule.Spec, t time.Time) bool {
	sched, err := c.Schedules.Compile(spec)
	if err != nil {
		return false
	}
	next, ok := sched.Next(t.Add(-time.Millisecond))
	return ok && next.Before(t.Add(minute))
}

// changeNear is a change of the clocks near a time, with the offsets before and after it, in seconds.
func changeNear(t time.Time, zone *time.Location) (change time.Time, before, after int64, ok bool) {
	_, start, end := civil.Span(t.Unix(), zone)
	first, last := t.Add(-nearChange).Unix(), t.Add(nearChange).Unix()
	for _, at := range []int64{start, end} {
		if at < first || at > last {
			continue
		}
		before, _, _ = civil.Span(at-1, zone)
		after, _, _ = civil.Span(at, zone)
		if before != after {
			return time.Unix(at, 0).In(zone), before, after, true
		}
	}
	return change, 0, 0, false
}
