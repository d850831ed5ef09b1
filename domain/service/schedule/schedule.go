package schedule

import (
	"hash/fnv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Schedule is a compiled Spec. It is immutable and safe for concurrent use.
// All times it returns are UTC in whole milliseconds.
type Schedule struct {
	kind Kind // "@every" has become FixedRate

	expr       *cronexpr.Expr
	expression string
	zone       *time.Location
	gap        cronexpr.Gap
	overlap    cronexpr.Overlap

	interval int64 // ms
	first    int64 // of FixedRate and Once, ms since 1970
	start    int64 // ms since 1970, or noStart
	end      int64 // ms since 1970, or the end of MaxYear
	jitter   int64 // ms
}

const (
	noStart = -1
	// lastMoment is the last millisecond of cronexpr.MaxYear.
	lastMoment int64 = 7_258_118_399_999
)

// Next is the next scheduled time strictly after the given instant, or false if
// there is none.
//
// A FixedRate's times are StartTime + k·interval from k = 0, or, without a StartTime,
// Anchor + k·interval from k = 1. A FixedDelay's first time is StartTime if that is still
// to come, else an interval after the given instant. Later times follow the runs; see
// AfterDelay.
func (s *Schedule) Next(after time.Time) (time.Time, bool) {
	var next int64
	switch s.kind {
	case Cron:
		if after.UnixMilli() < s.start {
			after = time.UnixMilli(s.start - 1)
		}
		t, ok := s.expr.Next(after, s.zone, s.gap, s.overlap)
		if !ok || t.UnixMilli() > s.end {
			return time.Time{}, false
		}
		return t, true
	case FixedRate:
		next = s.first
		if at := floorMilli(after); at >= s.first {
			next = s.first + ((at-s.first)/s.interval+1)*s.interval
		}
	case FixedDelay:
		next = floorMilli(after)
		if next < s.start {
			next = s.start
		} else {
			next += s.interval
		}
	case Once:
		if next = s.first; floorMilli(after) >= next {
			return time.Time{}, false
		}
	default:
		return time.Time{}, false
	}
	return s.bounded(next)
}

// AfterDelay is the scheduled time that follows a run of a FixedDelay schedule
// which ended at the given instant. It is false past EndTime and for every
// other kind.
func (s *Schedule) AfterDelay(end time.Time) (time.Time, bool) {
	if s.kind != FixedDelay {
		return time.Time{}, false
	}
	return s.bounded(max(floorMilli(end)+s.interval, s.start))
}

// Jitter is the shift of all fires of a job: a constant of the job's id from 0 to
// JitterMs. So jobs of one schedule spread out while each keeps its rhythm.
func (s *Schedule) Jitter(jobID string) time.Duration {
	if s.jitter == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(jobID))
	// FNV's low bits change little between ids that differ in their last
	// characters; one round of mixing spreads them.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return time.Duration(x%uint64(s.jitter+1)) * time.Millisecond
}

// Kind is the kind that drives the schedule: FixedRate for "@every".
func (s *Schedule) Kind() Kind { return s.kind }

// bounded returns a time unless it lies past the schedule's end.
func (s *Schedule) bounded(ms int64) (time.Time, bool) {
	if ms > s.end {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

// floorMilli is an instant in ms since 1970, kept within the years a schedule
// knows so that sums with intervals cannot overflow.
func floorMilli(t time.Time) int64 {
	const year0, year3000 = -62_167_219_200, 32_503_680_000
	seconds := min(max(t.Unix(), year0), year3000)
	return seconds*1000 + int64(t.Nanosecond())/1_000_000
}
