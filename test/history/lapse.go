package history

import (
	"slices"
	"time"
)

// graceAfterLapse is how soon a node must stop what it has lost the right to,
// once it can act again: a second, and what a beat and a busy machine take.
const graceAfterLapse = 2 * time.Second

// nodeOf is the node that made an attempt; empty when the API does not say.
func (c *checker) nodeOf(execution string, number int) string {
	row := c.rows[execution]
	if row.Attempt == number {
		return row.NodeID
	}
	for _, a := range row.Former {
		if a.Attempt == number {
			return a.NodeID
		}
	}
	return ""
}

// lapses are the spans in which a node could not beat for about a lease; two
// that lie close together are one.
func (c *checker) lapses(node string) []Fault {
	var out []Fault
	for _, f := range c.h.Cluster.Faults {
		if f.Harm == HarmLapse && f.Node == node {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Fault) int { return a.From.Compare(b.From) })
	merged := out[:0]
	for _, f := range out {
		if n := len(merged); n > 0 && f.From.Before(merged[n-1].Until.Add(c.h.Cluster.Lease)) {
			if f.Until.After(merged[n-1].Until) {
				merged[n-1].Until = f.Until
			}
			continue
		}
		merged = append(merged, f)
	}
	return slices.DeleteFunc(merged, func(f Fault) bool { return f.Until.Sub(f.From) < c.h.Cluster.Lease-2*c.h.Cluster.Beat })
}

// excused reports whether a call may overlap what began at a moment, because
// its node could not know that it had lost its lease, and stopped soon after
// it could.
func (c *checker) excused(call Call, at time.Time) bool {
	for _, f := range c.lapses(c.nodeOf(call.Execution, call.Attempt)) {
		heeded := f.Until.Add(graceAfterLapse)
		if !at.Before(f.From) && !call.Start.After(heeded) && !call.End.After(heeded) {
			c.forgiven++
			return true
		}
	}
	return false
}

// deadline is a moment after t by when something must have happened, bound
// later; what disturbs the cluster before that begins the bound anew.
func (c *checker) deadline(t time.Time, bound time.Duration) time.Time {
	end := t.Add(bound)
	for range c.h.Cluster.Faults {
		moved := false
		for _, f := range c.h.Cluster.Faults {
			if later := f.Until.Add(bound); !f.From.Equal(t) && f.From.Before(end) && f.Until.After(t) && later.After(end) {
				end, moved = later, true
			}
		}
		if !moved {
			break
		}
	}
	return end
}

// silent reports whether the node could not beat at the moment, or shortly before.
func (c *checker) silent(node string, at time.Time) bool {
	margin := c.h.Cluster.Lease + 2*time.Second
	return slices.ContainsFunc(c.h.Cluster.Faults, func(f Fault) bool {
		return f.Node == node && f.Harm != HarmHiccup && !at.Before(f.From) && !at.After(f.Until.Add(margin))
	})
}

// disturbed reports whether a fault touched the node, or the store of all,
// within margin of a moment.
func (c *checker) disturbed(node string, at time.Time, margin time.Duration) bool {
	return slices.ContainsFunc(c.h.Cluster.Faults, func(f Fault) bool {
		return (f.Node == node || f.Node == "") && !at.Before(f.From.Add(-margin)) && !at.After(f.Until.Add(margin))
	})
}
