package statistics

import "time"

// Period is how much time a stored row sums up.
type Period string

// The periods. Hours are those of UTC. Days are those of a zone; they begin and end
// with an hour of UTC, so that rows of hours add up to them.
const (
	Hour Period = "HOUR"
	Day  Period = "DAY"
)

// HoursKept is how long rows of hours stay before they are merged into days.
const HoursKept = 72 * time.Hour

// HourOf is the begin of the hour of a moment, in UTC.
func HourOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

// DayOf is the begin of the day of a moment in a zone. The day of an hour is that of
// its middle: in a zone that is a part of an hour off, days are rounded to hours. The
// days on which clocks change have 23 or 25 hours.
func DayOf(t time.Time, zone *time.Location) time.Time {
	hour := HourOf(t)
	day := dateOf(hour, zone)
	for range maxDayHours {
		before := hour.Add(-time.Hour)
		if dateOf(before, zone) != day {
			break
		}
		hour = before
	}
	return hour
}

// maxDayHours bounds the hours of a day: some zones had one of 48, when they moved
// across the line of dates.
const maxDayHours = 49

// dateOf is the date of an hour, as a number that differs from date to date.
func dateOf(hour time.Time, zone *time.Location) int {
	year, month, day := hour.Add(time.Hour / 2).In(zone).Date()
	return (year*16+int(month))*32 + day
}

// Interval is [From, To) of the begins of rows, in UTC.
type Interval struct{ From, To time.Time }

// Covering says which rows tell of [from, to): those of hours and those of days whose
// begin lies in the intervals. Both are to be read in one snapshot. A merge deletes the
// hours that it adds to a day, so nothing counts twice. Stored days come whole, so
// the first may begin before from; zone is the one that days are stored in.
func Covering(from, to time.Time, zone *time.Location) (hours, days Interval) {
	if !from.Before(to) {
		return hours, days
	}
	end := HourOf(to)
	if end.Before(to) {
		end = end.Add(time.Hour)
	}
	return Interval{HourOf(from), end}, Interval{DayOf(from, zone), end}
}

// Mergeable is the begin of the first hour that stays as it is: rows of hours before it
// belong to days that are over and whose last hour has been kept for HoursKept. A row
// of an hour may also come later, for an end that nobody knew; it is merged then.
func Mergeable(now time.Time, zone *time.Location) time.Time {
	return DayOf(now.Add(-HoursKept), zone)
}

// LineOf is the begin of the line of an answer that a stored row belongs to, where the
// answer has a line for each period, and days are those of zone. A row of a day is
// never divided: in another zone than its own it belongs to the day that holds most of
// it.
func LineOf(stored Period, start time.Time, line Period, zone *time.Location) time.Time {
	switch {
	case line == Hour:
		return HourOf(start)
	case stored == Day:
		return DayOf(start.Add(12*time.Hour), zone)
	default:
		return DayOf(start, zone)
	}
}

// Rounded tells whether the days of a zone are rounded to hours around a moment.
func Rounded(t time.Time, zone *time.Location) bool {
	_, offset := t.In(zone).Zone()
	return offset%3600 != 0
}
