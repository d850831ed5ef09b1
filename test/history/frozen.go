package history

import (
	"slices"
	"time"
)

// graceAfterFreeze is how soon a node must stop what it has lost the right to,
// once it can act again.
const graceAfterFreeze = 2 * time.Second

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

// frozen is the one allowance, FROZEN: a stopped process can stop nothing. The
// calls beside a call of its node must have begun while the test held the node
// frozen or at most graceAfterFreeze later, and the call must have ended by then.
// Each use is counted.
func (c *checker) frozen(call Call, at time.Time) bool {
	node := c.nodeOf(call.Execution, call.Attempt)
	for _, f := range c.h.Cluster.Faults {
		if f.Harm != HarmFreeze || f.Node != node {
			continue
		}
		heeded := f.Until.Add(graceAfterFreeze)
		if !at.Before(f.From) && !call.Start.After(heeded) && !call.End.After(heeded) {
			c.allowed++
			return true
		}
	}
	return false
}

// deadline is a moment after t by when something must have happened, bound
// later; what takes a lease or touches the store before that begins the bound anew. That of a worker counts for
// workers alone.
func (c *checker) deadline(t time.Time, bound time.Duration, worker bool) time.Time {
	end := t.Add(bound)
	for range c.h.Cluster.Faults {
		moved := false
		for _, f := range c.h.Cluster.Faults {
			counts := f.Store || f.takesLease() && (worker || !f.Worker)
			if later := f.Until.Add(bound); counts && !f.From.Equal(t) && f.From.Before(end) && f.Until.After(t) &&
				later.After(end) {
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
