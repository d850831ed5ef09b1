package cronexpr

const secondsPerDay = 86_400

// daysBefore[m] is the number of days before month m+1 in a common year.
var daysBefore = [...]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	if month == 2 && isLeap(year) {
		return 29
	}
	return daysBefore[month] - daysBefore[month-1]
}

// dayNumber counts days from 1970-01-01 to a date of the Gregorian calendar;
// year is at least 1.
func dayNumber(year, month, day int) int64 {
	before := year - 1
	n := before*365 + before/4 - before/100 + before/400 + daysBefore[month-1] + day - 1
	if month > 2 && isLeap(year) {
		n++
	}
	return int64(n - daysToEpoch)
}

// daysToEpoch is the number of days from 0001-01-01 to 1970-01-01.
const daysToEpoch = 719_162

// dateOf is the inverse of dayNumber for days from 1968 on.
func dateOf(days int64) (year, month, day int) {
	n := int(days) + daysToEpoch
	c400 := n / 146_097
	n -= c400 * 146_097
	c100 := min(n/36_524, 3)
	n -= c100 * 36_524
	c4 := n / 1_461
	n -= c4 * 1_461
	c1 := min(n/365, 3)
	n -= c1 * 365
	year = c400*400 + c100*100 + c4*4 + c1 + 1

	// n is the day of the year from 0; guess the month and correct by one.
	leap := 0
	if isLeap(year) {
		leap = 1
	}
	if n >= 59+leap {
		n -= leap
		month = n/31 + 1
		if n >= daysBefore[month] {
			month++
		}
		return year, month, n - daysBefore[month-1] + 1
	}
	if n >= 31 {
		return year, 2, n - 31 + 1
	}
	return year, 1, n + 1
}

// weekdayOf gives 0 for Sunday; days is not below -4.
func weekdayOf(days int64) int { return int((days + 4) % 7) }
