package cronexpr

import (
	"math"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
)

const (
	// earliest lies before every wall clock's 1970-01-01, latest after every
	// wall clock's last second of MaxYear.
	earliest = -2 * secondsPerDay
	latest   = int64(7_258_118_400) + 2*secondsPerDay

	// longestShift exceeds every change of a zone's offset since 1970; the
	// longest were whole days left out when a date line was crossed.
	longestShift = 25 * 3600
)

// Next is the first fire strictly after the given instant, a whole second in
// UTC. ok is false when there is none up to the end of MaxYear. A nil loc is
// UTC; values of gap and overlap other than Skip and Both are the defaults.
//
// The zone is walked from one change of its offset to the next. Between two changes the
// wall clock is a plain count of seconds. So every returned instant is either a matching
// wall-clock time or the end of a gap, and each turn of the loop moves forward.
// Next ends whatever the zone's data.
func (e *Expr) Next(after time.Time, loc *time.Location, gap Gap, overlap Overlap) (next time.Time, ok bool) {
	at := max(after.Unix()+1, earliest)
	if loc == nil || loc == time.UTC {
		wall, found := e.nextWall(at)
		if !found {
			return time.Time{}, false
		}
		return time.Unix(wall, 0).UTC(), true
	}
	repeat := e.runsOn || overlap == Both
	fill := gap != Skip && !e.everyHour
	for at < latest {
		offset, start, end := civil.Span(at, loc)
		if start != math.MinInt64 && at-start <= longestShift {
			before := offsetAt(start-1, loc)
			if fill && at == start && e.anyWall(start+before, start+offset) {
				return time.Unix(start, 0).UTC(), true
			}
			if again := start + before - offset; !repeat && at < again {
				at = min(again, end)
				continue
			}
		}
		wall, found := e.nextWall(at + offset)
		if found && wall-offset < end {
			return time.Unix(wall-offset, 0).UTC(), true
		}
		// Beyond the last wall-clock time only a clock about to be put back
		// can bring another fire.
		if !found && end-at > longestShift {
			return time.Time{}, false
		}
		at = end
	}
	return time.Time{}, false
}

// anyWall reports whether the expression matches a wall clock in [from, to).
func (e *Expr) anyWall(from, to int64) bool {
	if from >= to {
		return false
	}
	wall, found := e.nextWall(from)
	return found && wall < to
}

func offsetAt(at int64, loc *time.Location) int64 {
	_, seconds := time.Unix(at, 0).In(loc).Zone()
	return int64(seconds)
}

// nextWall is the first matching wall-clock time ≥ wall, both in seconds since
// 1970 as if the wall clock showed UTC.
func (e *Expr) nextWall(wall int64) (int64, bool) {
	wall = max(wall, 0)
	days := wall / secondsPerDay
	year, month, day := dateOf(days)
	if year > MaxYear {
		return 0, false
	}
	if e.years.has(year-MinYear) && e.months&(1<<month) != 0 {
		mask := e.days.mask(year, month)
		if mask&(1<<day) != 0 {
			if second, found := e.nextInDay(int(wall % secondsPerDay)); found {
				return days*secondsPerDay + int64(second), true
			}
		}
		if rest := uint64(mask) &^ (1<<(day+1) - 1); rest != 0 {
			return (days+int64(firstBit(rest)-day))*secondsPerDay + e.firstOfDay, true
		}
	}
	return e.firstFrom(year, month+1)
}

// firstFrom is the first matching time on or after the first day of a month;
// month may be 13.
func (e *Expr) firstFrom(year, month int) (int64, bool) {
	for year <= MaxYear {
		offset := e.years.next(year - MinYear)
		if offset < 0 {
			return 0, false
		}
		if offset+MinYear != year {
			year, month = offset+MinYear, 1
		}
		for month = nextBit(uint64(e.months), month); month <= 12; month = nextBit(uint64(e.months), month+1) {
			if mask := e.days.mask(year, month); mask != 0 {
				day := dayNumber(year, month, firstBit(uint64(mask)))
				return day*secondsPerDay + e.firstOfDay, true
			}
		}
		year, month = year+1, 1
	}
	return 0, false
}

// nextInDay is the first matching second of a day that is ≥ from.
func (e *Expr) nextInDay(from int) (int, bool) {
	hour, minute, second := from/3600, from/60%60, from%60
	if e.hours&(1<<hour) != 0 {
		if e.minutes&(1<<minute) != 0 {
			if s := nextBit(e.seconds, second); s < 60 {
				return hour*3600 + minute*60 + s, true
			}
		}
		if m := nextBit(e.minutes, minute+1); m < 60 {
			return hour*3600 + m*60 + firstBit(e.seconds), true
		}
	}
	if h := nextBit(uint64(e.hours), hour+1); h < 24 {
		return h*3600 + firstBit(e.minutes)*60 + firstBit(e.seconds), true
	}
	return 0, false
}
