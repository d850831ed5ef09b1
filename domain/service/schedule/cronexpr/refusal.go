package cronexpr

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Refusal is why an expression does not name a minute of the wall clock.
type Refusal struct {
	// Field is the field that says no: year, month, day-of-month, day-of-week, hour, minute or
	// second.
	Field string
	// Value is what the minute has in that field: a number, or the name of a month or weekday in
	// capitals.
	Value string
	// Names is what the field names, as 9-17, 20 or MONDAY-WEDNESDAY. It is empty where that
	// depends on the month.
	Names string
}

// Refuses tells which field does not name a minute, which is read as a time of the wall clock;
// false where each of them does. Of several fields it is the one that says most: a wrong year
// comes before a wrong minute.
func (e *Expr) Refuses(wall time.Time) (r Refusal, refused bool) {
	year, month, day := wall.Date()
	switch {
	case !e.years.has(year - MinYear):
		return Refusal{"year", strconv.Itoa(year), listed(MinYear, MaxYear, func(n int) bool {
			return e.years.has(n - MinYear)
		}, strconv.Itoa)}, true
	case e.months&(1<<month) == 0:
		return Refusal{"month", monthName(int(month)), ranges(uint64(e.months), 12, monthName)}, true
	case e.days.mask(year, int(month))&(1<<day) == 0:
		return e.days.refusal(year, int(month), day), true
	case e.hours&(1<<wall.Hour()) == 0:
		return Refusal{"hour", strconv.Itoa(wall.Hour()), ranges(uint64(e.hours), 23, strconv.Itoa)}, true
	case e.minutes&(1<<wall.Minute()) == 0:
		return Refusal{"minute", strconv.Itoa(wall.Minute()), ranges(e.minutes, 59, strconv.Itoa)}, true
	case nextBit(e.seconds, wall.Second()) > 59:
		return Refusal{"second", strconv.Itoa(wall.Second()), ranges(e.seconds, 59, strconv.Itoa)}, true
	}
	return r, false
}

// refusal tells which of the two fields of days refuses a day that the rule does not match.
func (r *dayRule) refusal(year, month, day int) Refusal {
	first := weekdayOf(dayNumber(year, month, 1))
	weekday := (first + day - 1) % 7
	if !r.anyWeekday && (r.anyDay || r.byWeekday(first, daysIn(year, month))&(1<<day) == 0) {
		refusal := Refusal{Field: "day-of-week", Value: weekdayName(weekday)}
		if r.lastWeekdays == 0 && r.nthWeekdays == [6]uint8{} {
			// From Monday to Sunday.
			refusal.Names = ranges(uint64(r.weekdays)>>1|uint64(r.weekdays&1)<<6, 6, func(n int) string {
				return weekdayName((n + 1) % 7)
			})
		}
		return refusal
	}
	refusal := Refusal{Field: "day-of-month", Value: strconv.Itoa(day)}
	if r.beforeLast|r.nearest|r.nearestLast == 0 {
		refusal.Names = ranges(uint64(r.days), 31, strconv.Itoa)
	}
	return refusal
}

func monthName(month int) string { return strings.ToUpper(time.Month(month).String()) }

func weekdayName(day int) string { return strings.ToUpper(time.Weekday(day).String()) }

// maxRanges bounds what is listed of a set.
const maxRanges = 12

// ranges lists a set of numbers up to last, see listed.
func ranges(set uint64, last int, name func(int) string) string {
	return listed(0, last, func(n int) bool { return set&(1<<n) != 0 }, name)
}

// listed lists the numbers from first to last that a field names; three and more in a row are a range.
func listed(first, last int, has func(int) bool, name func(int) string) string {
	var parts []string
	for at := first; at <= last; at++ {
		if !has(at) {
			continue
		}
		end := at
		for end < last && has(end+1) {
			end++
		}
		if len(parts) == maxRanges {
			return strings.Join(parts, ", ") + ", …"
		}
		if end-at < 2 {
			parts = append(parts, name(at))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s-%s", name(at), name(end)))
		at = end
	}
	return strings.Join(parts, ", ")
}
