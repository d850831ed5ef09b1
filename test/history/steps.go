package history

import "time"

// begin is how long before the first call something may have been recorded; c.h.Calls are in order.
const begin = 5 * time.Minute

// clockAsked is how long a node may go by what the store's clock has shown: it asks each two seconds (rule 13), and was
// seen to wait 1.8 s for an answer beside busy processors.
const clockAsked = 4 * time.Second

// asked is when each node had asked the store for its time after a moment. A fault that kept a node from asking puts
// it off.
func (c *checker) asked(after time.Time) time.Time {
	by, known := c.askedAt[after.UnixNano()]
	if known {
		return by
	}
	by = after.Add(clockAsked)
	for again := true; again; {
		again = false
		for _, f := range c.h.Cluster.Faults {
			if end := f.Until.Add(clockAsked); f.Mute && f.From.Before(by) && f.Until.After(after) && end.After(by) {
				by, again = end, true
			}
		}
	}
	if c.askedAt == nil {
		c.askedAt = map[int64]time.Time{}
	}
	c.askedAt[after.UnixNano()] = by
	return by
}

// moments are when a row may have been dated by a time of the store's clock: more than one where it was set back. A
// node dates the end of a lost attempt by the clock as it measured it last (rule 13).
func (c *checker) moments(shown time.Time) []time.Time {
	var all []time.Time
	right := len(c.h.Calls) == 0 || !shown.Before(c.h.Calls[0].Start.Add(-begin))
	for _, s := range c.h.Cluster.Steps {
		if at := shown.Add(-s.By); !at.Before(s.From) && !at.After(c.asked(s.Until)) {
			all = append(all, at)
		}
		right = right && !(shown.After(c.asked(s.Seen)) && shown.Before(s.Back))
	}
	if right {
		all = append(all, shown)
	}
	return all
}

// earliest and latest are the bounds of moments.
func (c *checker) earliest(shown time.Time) time.Time {
	first := shown
	for i, at := range c.moments(shown) {
		if i == 0 || at.Before(first) {
			first = at
		}
	}
	return first
}

func (c *checker) latest(shown time.Time) time.Time {
	last := shown
	for i, at := range c.moments(shown) {
		if i == 0 || at.After(last) {
			last = at
		}
	}
	return last
}

// ahead is by how much a node may have taken the store's clock to be ahead at a moment.
func (c *checker) ahead(at time.Time) (most time.Duration) {
	for _, s := range c.h.Cluster.Steps {
		if !at.Before(s.From) && !at.After(c.asked(s.Until)) {
			most = max(most, s.By)
		}
	}
	return most
}

// aheadFor is by how much a node may have taken the store's clock to be ahead when it fired a run, or started it. A run
// that waits for a slot starts later, when the clock may be right again.
func (c *checker) aheadFor(r Row, started time.Time) time.Duration {
	return max(c.ahead(started), c.ahead(c.earliest(r.CreateTime)))
}

// leapt is by how much waits that lasted from one moment to another may have been shorter than they should (rule 13):
// the store's clock leapt ahead meanwhile; or it was set back, and a node that had not measured that yet went by the
// time before.
func (c *checker) leapt(from, to time.Time) (sum time.Duration) {
	for _, s := range c.h.Cluster.Steps {
		meets := func(begin, end time.Time) bool { return !to.Before(begin) && !from.After(c.asked(end)) }
		if meets(s.From, s.Seen) || meets(s.Back, s.Until) {
			sum += s.By.Abs()
		}
	}
	return sum
}

// leaptOver reports whether the store's clock leapt in the life of a run, which ended its time at once.
func (c *checker) leaptOver(r Row) bool {
	for _, call := range c.calls[attempt{r.ID, r.Attempt}] {
		if c.leapt(call.Start, c.latest(r.EndTime)) > 0 {
			return true
		}
	}
	return false
}
