package explain

import (
	"time"

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
	change, before, after, ok := changeNear(c.At.In(zone))
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
func changeNear(t time.Time) (change time.Time, before, after int, ok bool) {
	start, end := t.ZoneBounds()
	for _, at := range []time.Time{start, end} {
		if at.IsZero() || at.Sub(t).Abs() > nearChange {
			continue
		}
		_, before = at.Add(-time.Second).Zone()
		_, after = at.Zone()
		if before != after {
			return at, before, after, true
		}
	}
	return change, 0, 0, false
}
