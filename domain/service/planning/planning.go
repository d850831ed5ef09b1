// Package planning decides the outcome of a job's scheduled times. It says which fire,
// which become one skipped range, and where the cursor goes (engine rules 3, 5 and 13).
// Every scheduled time from the cursor to the plan's next time is in exactly one fire or
// skip.
package planning

import (
	"math"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// MaxCount bounds the counting of a skipped range; beyond it the count
	// reads "at least". The bound keeps a decision about years of an
	// every-second job within milliseconds.
	MaxCount = 100_000
	// resolution is that of times in the store. The end of a range after which
	// nothing is planned lies so much after its last scheduled time.
	resolution = time.Millisecond
)

// Cursorer walks the scheduled times of a schedule, in ascending order.
// *schedule.Schedule is one, except that of a FIXED_DELAY job: its times after the
// cursor depend on runs. So its caller passes a view with the cursor alone.
type Cursorer interface {
	// Next is the first scheduled time after the moment; false: there is none.
	Next(after time.Time) (time.Time, bool)
	// LatestAtOrBefore is the last scheduled time in [from, t]; false: none.
	LatestAtOrBefore(from, t time.Time) (time.Time, bool)
	// Count is the number of scheduled times in [first, end). It stops at limit
	// and then reports true.
	Count(first, end time.Time, limit int) (int, bool)
}

// Input is a job at a moment.
type Input struct {
	Schedule Cursorer
	// Cursor is the job's first undecided scheduled time. It counts as planned
	// even if the schedule no longer names it, as after a change of zone rules.
	Cursor time.Time
	// Now is the time by the store's clock.
	Now time.Time
	// Jitter is the job's constant distance from scheduled to due time.
	Jitter  time.Duration
	Misfire entity.Misfire
	// MaxFires is the most fires decided in one call; below 1 means 1.
	MaxFires int
}

// Plan is a decision. Skip, if any, lies before all fires; fires are in order.
type Plan struct {
	Skip  *entity.SkippedRange
	Fires []entity.Fire
	// Next is the first scheduled time that is not decided; zero: there is none.
	Next time.Time
	// Partial: Next is due already, call again from there.
	Partial bool
}

// Decide plans what is due at now. A scheduled time is due when scheduled plus jitter has
// been reached. It is missed when it has been due for longer than the misfire threshold. A
// shorter lateness makes an ordinary fire. With a clock that stands before the cursor,
// nothing is decided.
func Decide(in Input) Plan {
	if in.Cursor.IsZero() {
		return Plan{}
	}
	d := decider{Input: in, reached: in.Now.Add(-in.Jitter), next: in.Cursor, more: true}
	d.MaxFires = max(d.MaxFires, 1)
	if threshold := d.reached.Add(-seconds(in.Misfire.ThresholdSec)); in.Cursor.Before(threshold) {
		d.missed(threshold)
	}
	for d.more && !d.next.After(d.reached) && len(d.plan.Fires) < d.MaxFires {
		d.fire(d.next, entity.TriggerSchedule)
	}
	if d.more {
		d.plan.Next = d.next
		d.plan.Partial = !d.next.After(d.reached)
	}
	return d.plan
}

// Span closes a range that is skipped as a whole, such as the time of a pause. All
// scheduled times in [cursor, until] become one skip with the reason; next is the first
// after until, or zero. With nothing in the range there is no skip and next is the cursor.
// Until is scheduled time, without jitter.
func Span(s Cursorer, cursor, until time.Time, reason entity.Reason) (skip *entity.SkippedRange, next time.Time) {
	if cursor.IsZero() || cursor.After(until) {
		return nil, cursor
	}
	next, _ = s.Next(until)
	return skipTo(s, cursor, endAfter(latest(s, cursor, until)), reason), next
}

type decider struct {
	Input
	plan Plan
	// reached is the last moment whose scheduled time is due.
	reached time.Time
	next    time.Time
	more    bool
}

// missed decides about the scheduled times before the moment, of which there is
// at least one.
func (d *decider) missed(before time.Time) {
	last := latest(d.Schedule, d.Cursor, before.Add(-1))
	switch d.Misfire.Policy {
	case entity.MisfireSkip:
		d.skipThrough(last)
	case entity.MisfireFireAll:
		d.fireAll(last)
	default:
		if last.Before(d.window()) {
			d.skipThrough(last)
			return
		}
		d.skipBefore(last)
		d.fire(last, entity.TriggerMisfire)
	}
}

// window is the first moment whose missed time may still run.
func (d *decider) window() time.Time { return d.reached.Add(-seconds(d.Misfire.WindowSec)) }

// fireAll saves the missed times within the window, the latest Misfire.MaxFires
// of them at most, and decides as many as one call may.
func (d *decider) fireAll(last time.Time) {
	first, ok := d.Cursor, true
	if from := d.window(); first.Before(from) {
		first, ok = d.Schedule.Next(from.Add(-1))
	}
	keep := d.Misfire.MaxFires
	if !ok || first.After(last) || keep < 1 {
		d.skipThrough(last)
		return
	}
	if n, _ := d.Schedule.Count(first, last.Add(1), keep+1); n > keep {
		first = d.stepBack(last, keep-1)
	}
	d.skipBefore(first)
	for d.more && !d.next.After(last) && len(d.plan.Fires) < d.MaxFires {
		d.fire(d.next, entity.TriggerMisfire)
	}
}

// stepBack is the scheduled time so many before last, or the cursor.
func (d *decider) stepBack(last time.Time, steps int) time.Time {
	for range steps {
		earlier, ok := d.Schedule.LatestAtOrBefore(d.Cursor, last.Add(-1))
		if !ok {
			return d.Cursor
		}
		last = earlier
	}
	return last
}

// skipBefore skips what lies from the cursor up to a scheduled time.
func (d *decider) skipBefore(scheduled time.Time) {
	if scheduled.After(d.Cursor) {
		d.plan.Skip = skipTo(d.Schedule, d.Cursor, scheduled, entity.ReasonMisfire)
	}
	d.next = scheduled
}

// skipThrough skips what lies from the cursor up to and with a scheduled time.
func (d *decider) skipThrough(scheduled time.Time) {
	d.next, d.more = d.Schedule.Next(scheduled)
	d.plan.Skip = skipTo(d.Schedule, d.Cursor, endAfter(scheduled), entity.ReasonMisfire)
}

func (d *decider) fire(scheduled time.Time, trigger entity.Trigger) {
	d.plan.Fires = append(d.plan.Fires, entity.PlannedFire(scheduled, scheduled.Add(d.Jitter), trigger))
	d.next, d.more = d.Schedule.Next(scheduled)
}

// latest is the last scheduled time in [cursor, t], where the cursor is one.
func latest(s Cursorer, cursor, t time.Time) time.Time {
	if last, ok := s.LatestAtOrBefore(cursor, t); ok {
		return last
	}
	return cursor
}

// endAfter is the exclusive end of a range whose last scheduled time is last. It is not
// the next scheduled time: until then the job may get another schedule. Its times would
// lie within a range that does not count them.
func endAfter(last time.Time) time.Time { return last.Add(resolution) }

func skipTo(s Cursorer, cursor, end time.Time, reason entity.Reason) *entity.SkippedRange {
	unnamed := 0
	if named, ok := s.LatestAtOrBefore(cursor, cursor); !ok || !named.Equal(cursor) {
		unnamed = 1
	}
	count, more := s.Count(cursor, end, MaxCount-unnamed)
	return &entity.SkippedRange{First: cursor, End: end, Count: unnamed + count, AtLeast: more, Reason: reason}
}

// seconds bounds n to what a duration can hold; below 0 is 0.
func seconds(n int) time.Duration {
	const most = int64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(int64(n), 0), most)) * time.Second
}
