package planning_test

import (
	"time"
)

var start = time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

// grid is a schedule with a scheduled time every step from start on.
type grid time.Duration

func (g grid) Next(after time.Time) (time.Time, bool) {
	if after.Before(start) {
		return start, true
	}
	return start.Add((after.Sub(start)/time.Duration(g) + 1) * time.Duration(g)), true
}

func (g grid) LatestAtOrBefore(from, t time.Time) (time.Time, bool) {
	if t.Before(start) {
		return time.Time{}, false
	}
	last := start.Add(t.Sub(start) / time.Duration(g) * time.Duration(g))
	return last, !last.Before(from)
}

func (g grid) Count(first, end time.Time, limit int) (int, bool) {
	if !end.After(first) {
		return 0, false
	}
	upTo := func(t time.Time) int64 {
		if t.Before(start) {
			return 0
		}
		return int64(t.Sub(start)/time.Duration(g)) + 1
	}
	n := upTo(end.Add(-1)) - upTo(first.Add(-1))
	return int(min(n, int64(limit))), n > int64(limit)
}

// list is a schedule of stated scheduled times, in order.
type list []time.Time

func (l list) Next(after time.Time) (time.Time, bool) {
	for _, t := range l {
		if t.After(after) {
			return t, true
		}
	}
	return time.Time{}, false
}

func (l list) LatestAtOrBefore(from, t time.Time) (last time.Time, ok bool) {
	for _, n := range l {
		if !n.Before(from) && !n.After(t) {
			last, ok = n, true
		}
	}
	return last, ok
}

func (l list) Count(first, end time.Time, limit int) (count int, more bool) {
	for _, n := range l {
		if !n.Before(first) && n.Before(end) {
			if count == limit {
				return count, true
			}
			count++
		}
	}
	return count, false
}
