package cronexpr

import (
	"fmt"
	"math/bits"
	"strings"
)

// Describe says in plain English when the expression fires. ok is false for
// all but the common shapes: a reader is better served by the expression than
// by a sentence as long as it.
func (e *Expr) Describe() (text string, ok bool) {
	every := everyYear()
	if e.years != every || e.months != 0x1ffe {
		return "", false
	}
	days, ok := e.describeDays()
	if !ok {
		return "", false
	}
	times, ok := e.describeTimes()
	if !ok {
		return "", false
	}
	if strings.HasPrefix(times, "at") && days == "" {
		days = " every day"
	}
	return times + days, true
}

func (e *Expr) describeTimes() (string, bool) {
	second, minute := firstBit(e.seconds), firstBit(e.minutes)
	oneSecond, oneMinute := bits.OnesCount64(e.seconds) == 1, bits.OnesCount64(e.minutes) == 1
	switch {
	case e.everyHour && e.minutes == allSixty && !oneSecond:
		return rhythm(e.seconds, 60, "second")
	case e.everyHour && oneSecond && second == 0 && !oneMinute:
		return rhythm(e.minutes, 60, "minute")
	case oneSecond && second == 0 && oneMinute:
		if text, ok := rhythm(uint64(e.hours), 24, "hour"); ok {
			if minute != 0 {
				text += fmt.Sprintf(" at minute %d", minute)
			}
			return text, true
		}
	}
	if !oneSecond || !oneMinute || bits.OnesCount32(e.hours) > 4 {
		return "", false
	}
	var clocks []string
	for hours := e.hours; hours != 0; hours &= hours - 1 {
		clock := fmt.Sprintf("%02d:%02d", bits.TrailingZeros32(hours), minute)
		if second != 0 {
			clock += fmt.Sprintf(":%02d", second)
		}
		clocks = append(clocks, clock)
	}
	return "at " + strings.Join(clocks, ", "), true
}

// rhythm names a set that repeats evenly from 0 and divides its unit, so that
// it is as even across the unit's end.
func rhythm(set uint64, size int, unit string) (string, bool) {
	count := bits.OnesCount64(set)
	if count < 2 || size%count != 0 || set&1 == 0 {
		return "", false
	}
	step := size / count
	for v := 0; v < size; v += step {
		if set&(1<<v) == 0 {
			return "", false
		}
	}
	if step == 1 {
		return "every " + unit, true
	}
	return fmt.Sprintf("every %d %ss", step, unit), true
}

// describeDays is empty for every day.
func (e *Expr) describeDays() (string, bool) {
	r := &e.days
	switch {
	case r.anyDay && r.anyWeekday:
		return "", true
	case r.anyDay && r.lastWeekdays == 0 && r.nthWeekdays == [6]uint8{}:
		return describeWeekdays(r.weekdays), true
	case r.anyWeekday && r.nearest|r.nearestLast|r.beforeLast == 0 && bits.OnesCount32(r.days) == 1:
		return fmt.Sprintf(" on day %d of the month", bits.TrailingZeros32(r.days)), true
	case r.anyWeekday && r.nearest|r.nearestLast|r.days == 0 && r.beforeLast == 1:
		return " on the last day of the month", true
	}
	return "", false
}

func describeWeekdays(set uint8) string {
	if set == 0b0111110 {
		return " from Monday to Friday"
	}
	names := [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	var chosen []string
	for ; set != 0; set &= set - 1 {
		chosen = append(chosen, names[bits.TrailingZeros8(set)])
	}
	return " on " + strings.Join(chosen, ", ")
}
