// Package civil turns dates and times of day into instants, and back. A date with a time of day
// is civil: it is what clocks on the wall show. Which instant that is depends on the zone. Where
// its clocks change, some civil times do not exist and others exist twice.
package civil

import (
	"math"
	"time"
)

// Time is a date and a time of day, in no zone.
type Time struct {
	// shown is the civil time as if it were one of UTC.
	shown time.Time
}

// Of is what the clocks of the zone of at show.
func Of(at time.Time) Time {
	_, offset := at.Zone()
	return Time{at.UTC().Add(time.Duration(offset) * time.Second)}
}

// Date is a civil time. Values out of range are counted on, as time.Date does.
func Date(year int, month time.Month, day, hour, minute, second int) Time {
	return Time{time.Date(year, month, day, hour, minute, second, 0, time.UTC)}
}

// UTC is the instant at which clocks that show UTC show the civil time. It serves to read and to
// write the parts of a civil time.
func (t Time) UTC() time.Time { return t.shown }

// AddDays moves the date and keeps the time of day.
func (t Time) AddDays(n int) Time { return Time{t.shown.AddDate(0, 0, n)} }

// AddMonths moves the date and keeps the day of the month, or takes the last day of a shorter
// month. A month before March 31 is the end of February, not March 3.
func (t Time) AddMonths(n int) Time {
	moved := t.shown.AddDate(0, n, 0)
	if moved.Day() != t.shown.Day() {
		moved = moved.AddDate(0, 0, -moved.Day())
	}
	return Time{moved}
}

// SameDate reports whether both have the same date.
func (t Time) SameDate(o Time) bool {
	return t.shown.YearDay() == o.shown.YearDay() && t.shown.Year() == o.shown.Year()
}

// farthest exceeds what any zone is, or was, ahead of UTC, in seconds.
const farthest = 16 * 3600

// In is the instant of a civil time in a zone: the first at which the clocks there show it, or a
// later time. So in a gap it is the first instant after the gap, and of two it is the earlier.
func (t Time) In(zone *time.Location) time.Time {
	shown := t.shown.Unix()
	for from := shown - farthest; ; {
		offset, _, end := Span(from, zone)
		at := shown - offset
		switch {
		case at < from: // the clocks went over it
			return time.Unix(from, 0).In(zone)
		case at < end:
			return time.Unix(at, int64(t.shown.Nanosecond())).In(zone)
		}
		from = end
	}
}

const secondsPerDay = 86_400

// Span is what a zone is ahead of UTC at an instant, and the bounds [start, end) within which that
// holds, all in seconds. An open end is an extreme of int64.
func Span(at int64, zone *time.Location) (offset, start, end int64) {
	t := time.Unix(at, 0).In(zone)
	_, ahead := t.Zone()
	from, to := t.ZoneBounds()
	start, end = math.MinInt64, math.MaxInt64
	if !from.IsZero() {
		start = from.Unix()
	}
	if !to.IsZero() {
		end = to.Unix()
	}
	if end <= at {
		// Past the zone's table, package time works from its yearly rule and takes every
		// year for 365 days. So on 31 December of a leap year the bound that it names has
		// passed. The rule changes nothing on that day.
		end = (at/secondsPerDay + 1) * secondsPerDay
	}
	return int64(ahead), start, end
}
