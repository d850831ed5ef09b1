package history

import (
	"slices"
	"time"
)

func planned(r Row) bool { return r.Trigger == "SCHEDULE" || r.Trigger == "MISFIRE" }

// grids are those of all schedules that the job has had.
func (j Job) grids() []Grid {
	return append(slices.Clone(j.Former), Grid{Step: j.Step, Origin: j.Origin, From: j.From, Until: j.Until})
}

// grid checks that each nominal time is decided exactly once, and no other is.
func (c *checker) grid(j Job, rows []Row) {
	if j.Step == 0 && !j.Once {
		return
	}
	decided, grids := map[int64]int{}, j.grids()
	for _, r := range rows {
		if !planned(r) {
			continue
		}
		if r.SkipCount > 0 {
			for _, at := range skipped(grids, r) {
				decided[at.UnixMilli()]++
			}
			continue
		}
		if r.ShardIndex == 0 {
			decided[r.ScheduledTime.UnixMilli()]++
		}
		if !j.on(grids, r.ScheduledTime) {
			c.violate(RuleExtraFire, "%s: nothing was planned at %s", j.Name, r.ScheduledTime)
		}
	}
	for _, g := range grids {
		for at := g.first(g.From); at.Before(g.Until); at = at.Add(g.Step) {
			if decided[at.UnixMilli()] == 0 {
				c.violate(RuleMissingFire, "%s: nothing is recorded of %s", j.Name, at)
			}
			if g.Step == 0 {
				break
			}
		}
	}
	for ms, n := range decided {
		if n > 1 {
			c.violate(RuleDecidedTwice, "%s: %s was decided %d times", j.Name, time.UnixMilli(ms).UTC(), n)
		}
	}
}

// skipped are the nominal times of a range, which belongs to one schedule: the last one that it may be of.
func skipped(grids []Grid, r Row) (times []time.Time) {
	for i, g := range slices.Backward(grids) {
		if g.Step == 0 || i > 0 && r.SkipFrom.Before(grids[i-1].Until) || !g.on(r.SkipFrom) && i > 0 {
			continue
		}
		for at := g.first(r.SkipFrom); at.Before(r.SkipTo); at = at.Add(g.Step) {
			times = append(times, at)
		}
		return times
	}
	return nil
}

// first is the first nominal time at or after t.
func (g Grid) first(t time.Time) time.Time {
	if g.Step == 0 {
		return g.Origin
	}
	past := t.Sub(g.Origin)
	if !t.Before(g.Origin) {
		past += g.Step - 1
	}
	return g.Origin.Add(past - past%g.Step)
}

// on reports whether t is a nominal time of the grid.
func (g Grid) on(t time.Time) bool {
	if g.Step == 0 {
		return t.Equal(g.Origin)
	}
	return t.Sub(g.Origin)%g.Step == 0
}

// on reports whether t is a nominal time of the job: of the schedule that it had then, or of either where nobody can
// say which it was.
func (j Job) on(grids []Grid, t time.Time) bool {
	for i, g := range grids {
		after := i == 0 || !t.Before(grids[i-1].Until)
		before := i == len(grids)-1 || t.Before(grids[i+1].From)
		if after && before && g.on(t) {
			return true
		}
	}
	return false
}
