package cronexpr

import "math/bits"

// dayRule decides which days of a month match: the day-of-month field, the
// day-of-week field and the way they are combined.
type dayRule struct {
	anyDay     bool // day-of-month is "*" or "?"
	anyWeekday bool // day-of-week is "*" or "?"
	either     bool // both are restricted in a crontab: one match is enough

	days        uint32 // bits 1–31
	beforeLast  uint32 // bit n: n days before the last (L, L-n)
	nearest     uint32 // bit d: the weekday nearest to day d (dW)
	nearestLast uint32 // bit n: the weekday nearest to L-n (LW, L-nW)

	weekdays     uint8    // bit 0 is Sunday
	lastWeekdays uint8    // the last such day of the month (6L)
	nthWeekdays  [6]uint8 // by n from 1 to 5 (6#3)
}

// mask is the set of matching days of a month, bits 1 to its length.
func (r *dayRule) mask(year, month int) uint32 {
	length := daysIn(year, month)
	whole := uint32(1<<(length+1) - 2)
	if r.anyDay && r.anyWeekday {
		return whole
	}
	first := weekdayOf(dayNumber(year, month, 1))
	switch {
	case r.anyDay:
		return r.byWeekday(first, length) & whole
	case r.anyWeekday:
		return r.byDay(first, length) & whole
	case r.either:
		return (r.byDay(first, length) | r.byWeekday(first, length)) & whole
	default:
		return r.byDay(first, length) & r.byWeekday(first, length) & whole
	}
}

func (r *dayRule) byDay(first, length int) uint32 {
	set := r.days
	if r.beforeLast != 0 {
		set |= fromLast(r.beforeLast, length)
	}
	if r.nearest != 0 {
		set |= nearestWeekdays(r.nearest, first, length)
	}
	if r.nearestLast != 0 {
		set |= nearestWeekdays(fromLast(r.nearestLast, length), first, length)
	}
	return set
}

func (r *dayRule) byWeekday(first, length int) uint32 {
	set := spread(r.weekdays, first)
	if r.lastWeekdays != 0 {
		set |= spread(r.lastWeekdays, first) & (^uint32(0) << (length - 6))
	}
	for n := 1; n <= 5; n++ {
		if r.nthWeekdays[n] != 0 {
			set |= spread(r.nthWeekdays[n], first) & (0x7f << (7*n - 6))
		}
	}
	return set
}

// spread lays a set of weekdays over a month whose first day is weekday first.
func spread(weekdays uint8, first int) uint32 {
	if weekdays == 0 {
		return 0
	}
	week := (uint64(weekdays)>>first | uint64(weekdays)<<(7-first)) & 0x7f
	return uint32((week | week<<7 | week<<14 | week<<21 | week<<28) << 1)
}

// fromLast turns distances from the last day into days; a distance that the
// month is too short for matches nothing.
func fromLast(distances uint32, length int) uint32 {
	var set uint32
	for ; distances != 0; distances &= distances - 1 {
		if day := length - bits.TrailingZeros32(distances); day >= 1 {
			set |= 1 << day
		}
	}
	return set
}

// nearestWeekdays moves each day that falls on a weekend to the closest of
// Monday to Friday without leaving the month. A day that the month lacks
// matches nothing.
func nearestWeekdays(days uint32, first, length int) uint32 {
	var set uint32
	for ; days != 0; days &= days - 1 {
		day := bits.TrailingZeros32(days)
		if day > length {
			continue
		}
		switch (first + day - 1) % 7 {
		case 6: // Saturday
			if day == 1 {
				day += 2
			} else {
				day--
			}
		case 0: // Sunday
			if day == length {
				day -= 2
			} else {
				day++
			}
		}
		set |= 1 << day
	}
	return set
}
