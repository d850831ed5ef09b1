// Package cronexpr parses cron expressions and computes their fire times.
//
// Two dialects are read: Quartz (seconds first, optional year, ? L W # and
// wrap-around ranges), which is what users of Quartz and XXL-JOB write, and
// the five fields of a unix crontab. A parsed expression is a handful of bit
// sets; finding the next fire walks bits, not seconds, and allocates nothing.
package cronexpr

import "github.com/platform-scheduler/platform-scheduler/domain/bounds"

// Dialect says how the fields of an expression are read. The same text can
// mean different days in each: MON is 2 in Quartz and 1 in a crontab.
type Dialect string

// The dialects.
const (
	// Quartz: second minute hour day-of-month month day-of-week [year];
	// weekdays 1–7 from Sunday; exactly one of the two day fields is "?".
	Quartz Dialect = "QUARTZ"
	// Unix: minute hour day-of-month month day-of-week; weekdays 0–7, both 0
	// and 7 are Sunday; if both day fields are restricted, either one fires.
	Unix Dialect = "UNIX"
)

// Gap says what becomes of a wall-clock time that does not exist because the
// clocks were put forward over it. The empty value is NextValid.
type Gap string

// The answers to a gap.
const (
	// NextValid fires at the first instant after the gap, once however many
	// times lay in it. Expressions for every hour need no such help: their
	// next time follows on the new clock, an hour of real time later.
	NextValid Gap = "NEXT_VALID"
	// Skip drops the time, as Quartz does.
	Skip Gap = "SKIP"
)

// Overlap says what becomes of a wall-clock time that exists twice because
// the clocks were put back. It concerns fixed times only; see Expr.RunsOn.
// The empty value is First.
type Overlap string

// The answers to an overlap.
const (
	// First fires at the first of the two instants only.
	First Overlap = "FIRST"
	// Both fires at each of the two instants.
	Both Overlap = "BOTH"
)

// MinYear and MaxYear bound what a year field may name and what Next returns.
const (
	MinYear = 1970
	MaxYear = 2199
)

// MaxLength is the greatest length of an expression in bytes. Nothing that a
// person writes comes near it, and it bounds the work of a parse.
const MaxLength = bounds.CronExpression

// Expr is a parsed expression. It is immutable and safe for concurrent use.
type Expr struct {
	seconds uint64
	minutes uint64
	hours   uint32
	months  uint16 // bits 1–12
	years   bitset // bit 0 is MinYear
	days    dayRule

	// firstOfDay is the earliest second of a day on which the expression fires.
	firstOfDay int64
	everyHour  bool
	// runsOn is true for an expression whose hour, minute or second field is "*" or
	// stepped. It keeps its rhythm in real time when clocks are put back, so it fires
	// through the repeated hour. Any other names times of the day and fires once for
	// each.
	runsOn bool
}

// Seconds is the set of seconds, bits 0–59, on which the expression fires in
// every minute that it names. Where clocks are put forward, Next may return
// others.
func (e *Expr) Seconds() uint64 { return e.seconds }

// finish derives what Next needs at hand from the parsed fields.
func (e *Expr) finish(steppedSecond, steppedMinute, steppedHour bool) {
	e.everyHour = e.hours == allHours
	e.runsOn = steppedSecond || steppedMinute || steppedHour ||
		e.everyHour || e.minutes == allSixty || e.seconds == allSixty
	e.firstOfDay = int64(firstBit(uint64(e.hours)))*3600 +
		int64(firstBit(e.minutes))*60 + int64(firstBit(e.seconds))
}

// everFires reports whether any day of any year matches. The loop goes year by year,
// because leap days and weekdays depend on the year. The first few years settle all
// expressions but those that never fire.
func (e *Expr) everFires() bool {
	for year := MinYear; year <= MaxYear; year++ {
		if !e.years.has(year - MinYear) {
			continue
		}
		for month := 1; month <= 12; month++ {
			if e.months&(1<<month) != 0 && e.days.mask(year, month) != 0 {
				return true
			}
		}
	}
	return false
}
