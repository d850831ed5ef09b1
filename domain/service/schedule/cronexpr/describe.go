package cronexpr

import (
	"fmt"
	"math/bits"
	"time"
)

// Description is what a sentence about an expression is made of, in no
// particular language. Of Every and Clocks exactly one is set; of Weekdays,
// Days, LastDay and LastWeekday at most one: none of them is every day.
type Description struct {
	// Every is a period of whole seconds, minutes or hours.
	Every time.Duration
	// Minute is the minute of the hour at which a period of hours fires.
	Minute int
	// Clocks are times of the day as 09:00, or 09:00:30 off the whole minute.
	Clocks []string
	// Months is empty for every month.
	Months []time.Month
	// Weekdays are in the order from Monday to Sunday.
	Weekdays []time.Weekday
	// Days are days of the month.
	Days []int
	// LastDay is the last day of the month.
	LastDay bool
	// LastWeekday is the last of Monday to Friday in the month.
	LastWeekday bool
}

// Workweek reports whether the weekdays are those from Monday to Friday.
func (d *Description) Workweek() bool {
	return len(d.Weekdays) == 5 && d.Weekdays[4] == time.Friday
}

// MonthDays reports whether the days are told by their place in the month.
func (d *Description) MonthDays() bool { return len(d.Days) > 0 || d.LastDay || d.LastWeekday }

// Lists longer than these read worse than the expression.
const (
	maxClocks = 4
	maxDays   = 3
	maxMonths = 6
)

const allMonths uint16 = 1<<13 - 2

// Describe says when the expression fires. ok is false for all but the common shapes: an
// expression reads better than a sentence of the same length.
func (e *Expr) Describe() (d Description, ok bool) {
	ok = e.years == everyYear() && e.describeTimes(&d) && e.days.describe(&d) && e.describeMonths(&d)
	return d, ok
}

func (e *Expr) describeTimes(d *Description) bool {
	second, minute := firstBit(e.seconds), firstBit(e.minutes)
	oneSecond, oneMinute := bits.OnesCount64(e.seconds) == 1, bits.OnesCount64(e.minutes) == 1
	switch {
	case e.everyHour && e.minutes == allSixty && !oneSecond:
		d.Every = rhythm(e.seconds, 60, time.Second)
		return d.Every != 0
	case e.everyHour && oneSecond && second == 0 && !oneMinute:
		d.Every = rhythm(e.minutes, 60, time.Minute)
		return d.Every != 0
	case oneSecond && second == 0 && oneMinute:
		if d.Every = rhythm(uint64(e.hours), 24, time.Hour); d.Every != 0 {
			d.Minute = minute
			return true
		}
	}
	if !oneSecond || !oneMinute || bits.OnesCount32(e.hours) > maxClocks {
		return false
	}
	for _, hour := range members(uint64(e.hours)) {
		d.Clocks = append(d.Clocks, clock(hour, minute, second))
	}
	return true
}

// rhythm is the period of a set that repeats evenly from 0 and divides its size. So it is
// even across the end, too. It is 0 for any other set.
func rhythm(set uint64, size int, unit time.Duration) time.Duration {
	count := bits.OnesCount64(set)
	if count < 2 || size%count != 0 {
		return 0
	}
	step := size / count
	for v := 0; v < size; v += step {
		if set&(1<<v) == 0 {
			return 0
		}
	}
	return time.Duration(step) * unit
}

func clock(hour, minute, second int) string {
	if second == 0 {
		return fmt.Sprintf("%02d:%02d", hour, minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
}

func (e *Expr) describeMonths(d *Description) bool {
	if e.months == allMonths {
		return true
	}
	for _, month := range members(uint64(e.months)) {
		d.Months = append(d.Months, time.Month(month))
	}
	return len(d.Months) <= maxMonths
}

func (r *dayRule) describe(d *Description) bool {
	switch {
	case r.anyDay && r.anyWeekday:
		return true
	case r.anyDay:
		d.Weekdays = fromMonday(r.weekdays)
		return r.lastWeekdays == 0 && r.nthWeekdays == [6]uint8{}
	case r.anyWeekday && r.nearest == 0:
		return r.describeMonthDays(d)
	}
	return false
}

// describeMonthDays knows plain days, L and LW, each without the others.
func (r *dayRule) describeMonthDays(d *Description) bool {
	switch {
	case r.beforeLast|r.nearestLast == 0:
		d.Days = members(uint64(r.days))
		return len(d.Days) <= maxDays
	case r.days|r.nearestLast == 0:
		d.LastDay = true
		return r.beforeLast == 1
	case r.days|r.beforeLast == 0:
		d.LastWeekday = true
		return r.nearestLast == 1
	}
	return false
}

// members lists the values of a set in ascending order.
func members(set uint64) []int {
	var values []int
	for ; set != 0; set &= set - 1 {
		values = append(values, firstBit(set))
	}
	return values
}

// fromMonday lists the days of a set whose bit 0 is Sunday.
func fromMonday(set uint8) []time.Weekday {
	var days []time.Weekday
	for _, day := range members(uint64(set &^ 1)) {
		days = append(days, time.Weekday(day))
	}
	if set&1 != 0 {
		days = append(days, time.Sunday)
	}
	return days
}
