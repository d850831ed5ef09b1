package schedule

import (
	"sort"
	"time"
)

// Unstarted is the schedule as if it had always been in force: its StartTime,
// or the anchor of a FixedRate, bounds no past. The times of a FixedRate go
// back in its intervals; those from its first time on stay what they are. The
// end and the instant of a Once are kept.
func (s *Schedule) Unstarted() *Schedule {
	u := *s
	u.start = noStart
	if u.kind == FixedRate {
		u.first %= u.interval
	}
	return &u
}

// Between lists the scheduled times in [from, to), at most limit of them. The
// times of a FixedDelay depend on its runs: it has none.
func (s *Schedule) Between(from, to time.Time, limit int) []time.Time {
	if s.kind == FixedDelay {
		return nil
	}
	var times []time.Time
	at, ok := s.Next(from.Add(-1))
	for ; ok && at.Before(to) && len(times) < limit; at, ok = s.Next(at) {
		times = append(times, at)
	}
	return times
}

// LatestAtOrBefore is the latest scheduled time n with from ≤ n ≤ t. from is
// itself scheduled, the cursor of the engine; the result is false if from > t.
// The work grows with the logarithm of the span, not with the number of times
// in it.
func (s *Schedule) LatestAtOrBefore(from, t time.Time) (time.Time, bool) {
	if from.After(t) {
		return time.Time{}, false
	}
	latest := from.UTC()
	switch s.kind {
	case FixedRate:
		if steps := (min(floorMilli(t), s.end) - s.first) / s.interval; steps >= 0 {
			if n := time.UnixMilli(s.first + steps*s.interval).UTC(); n.After(latest) && !n.After(t) {
				latest = n
			}
		}
	case Cron:
		// Next(x) ≤ t holds up to some second x and fails from there on. The
		// last x for which it holds leads to the answer.
		base := from.Unix()
		reaches := func(x int64) bool {
			n, ok := s.Next(time.Unix(x, 0))
			return ok && !n.After(t)
		}
		span := t.Unix() - base
		first := sort.Search(int(span), func(i int) bool { return !reaches(base + int64(i)) })
		if first > 0 {
			latest, _ = s.Next(time.Unix(base+int64(first)-1, 0))
		}
	}
	return latest, true
}

// Count is the number of scheduled times in [first, end), where first is itself
// scheduled and counts. It stops at limit; capped then says that there may be
// more. A FixedDelay's later times depend on its runs: it counts one.
func (s *Schedule) Count(first, end time.Time, limit int) (n int, capped bool) {
	if limit <= 0 {
		return 0, true
	}
	if !first.Before(end) {
		return 0, false
	}
	if s.kind == FixedRate {
		last := min(floorMilli(end.Add(-1)), s.end)
		all := 1 + max(last-floorMilli(first), 0)/s.interval
		if all > int64(limit) {
			return limit, true
		}
		return int(all), false
	}
	n = 1
	if s.kind != Cron {
		return n, false
	}
	for at, ok := s.Next(first); ok && at.Before(end); at, ok = s.Next(at) {
		if n == limit {
			return n, true
		}
		n++
	}
	return n, false
}

// Preview lists up to count scheduled times strictly after the given instant.
// The times of a FixedDelay assume that every run ends at once.
func (s *Schedule) Preview(after time.Time, count int) []time.Time {
	var times []time.Time
	at, ok := s.Next(after)
	for ; ok && len(times) < count; at, ok = s.Next(at) {
		times = append(times, at)
	}
	return times
}
