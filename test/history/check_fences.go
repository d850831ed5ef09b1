package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// fenced checks that who was declared DOWN could not run code, or had stopped its
// work before.
func (c *checker) fenced() {
	slices.SortStableFunc(c.h.Cluster.Fences, func(a, b Fence) int { return a.At.Compare(b.At) })
	for _, d := range c.h.Cluster.Deaths {
		if c.unable(d.Node, d.At) || c.stopped(d) {
			continue
		}
		c.violate(RuleFenced, "%s declared %s DOWN at %s, and that had not stopped its work", d.By, d.Node,
			d.At.Format(clockTime))
	}
}

// unable reports whether the node was dead, on its way up, or frozen.
func (c *checker) unable(node string, at time.Time) bool {
	return slices.ContainsFunc(c.h.Cluster.Faults, func(f Fault) bool {
		grace := slop
		if f.Harm == HarmFreeze {
			grace = graceAfterFreeze
		}
		gone := f.Harm == HarmDeath || f.Harm == HarmFreeze || f.Harm == HarmGone
		return gone && f.Node == node && !at.Before(f.From) && !at.After(f.Until.Add(grace))
	})
}

// stopped reports whether the node had stopped its work when its epoch was declared, by the moments at which both
// nodes wrote their lines, on one clock. The stop comes before the verdict, so no line may be late. The judge writes
// its line after the store has taken the verdict: by then the node may work again, under a later epoch.
func (c *checker) stopped(d Death) bool {
	stopped := false
	for _, f := range c.h.Cluster.Fences {
		later := f.Works && d.Epoch != 0 && f.Epoch > d.Epoch
		if f.Node == d.Node && !f.At.After(d.At) && !later {
			stopped = !f.Works
		}
	}
	return stopped
}

// harmless checks that nobody stopped, or was declared, without a fault that may
// take its lease: an outage of the store for everybody, a slow store, a step of a
// clock, a flood, or anything that is done to Redis is none.
func (c *checker) harmless() {
	for _, x := range c.h.Cluster.Fences {
		if !x.Works && !c.caused(x.Node, x.At) {
			c.violate(RuleNoHarm, "%s stopped its work at %s (%s)%s", x.Node, x.At.Format(clockTime), x.Why, c.during(x.At))
		}
	}
	for _, d := range c.h.Cluster.Deaths {
		if !c.caused(d.Node, d.At) {
			c.violate(RuleNoHarm, "%s declared %s DOWN at %s%s", d.By, d.Node, d.At.Format(clockTime), c.during(d.At))
		}
	}
}

// takesLease reports whether the fault may end the lease of its node.
func (f Fault) takesLease() bool {
	return f.Harm == HarmDeath || f.Harm == HarmFreeze || f.Harm == HarmCut || f.Harm == HarmStop || f.Harm == HarmGone
}

// caused reports whether a node may have lost its lease by a moment: something took
// it, shortly before; or the store was away for everybody, and something took that
// of a peer, whose promise the node then lacks (two faults at once, docs/cluster.md).
func (c *checker) caused(node string, at time.Time) bool {
	late := c.h.Cluster.Lease + 2*time.Second
	near := func(f Fault, from time.Time) bool { return !f.From.After(at) && !f.Until.Before(from.Add(-late)) }
	return slices.ContainsFunc(c.h.Cluster.Faults, func(f Fault) bool {
		if f.takesLease() && f.Node == node {
			return near(f, at)
		}
		return f.Harm == HarmOutage && near(f, at) &&
			slices.ContainsFunc(c.h.Cluster.Faults, func(g Fault) bool { return g.takesLease() && !g.Worker && near(g, f.From) })
	})
}

// during names what went on at a moment.
func (c *checker) during(at time.Time) string {
	text := ""
	for _, f := range c.h.Cluster.Faults {
		if !at.Before(f.From) && !at.After(f.Until.Add(c.h.Cluster.Lease)) {
			text += fmt.Sprintf("; %s %q from %s to %s", f.Node, f.Kind, f.From.Format(clockTime), f.Until.Format(clockTime))
		}
	}
	return text
}

// reasons checks that what a row says of its end is of the attempt that it names:
// the target puts the attempt's number into each refusal, and a node is lost only
// where something was done to it, or it stopped its work.
func (c *checker) reasons() {
	for _, r := range c.h.Rows {
		j := c.jobs[r.JobID]
		if r.Status == "SUCCESS" && !j.Refused && (r.Reason != "" || r.ErrorMessage != "") {
			c.violate(RuleOwnReason, "%s: %s is a success with %s %q", j.Name, r.ID, r.Reason, r.ErrorMessage)
		}
		if r.Status == "FAILED" || r.Status == "DEAD" {
			c.reason(j, r, Attempt{
				Attempt: r.Attempt, Reason: r.Reason, NodeID: r.NodeID, Result: r.Result,
				StartTime: r.StartTime, EndTime: r.EndTime,
			})
		}
		for _, a := range r.Former {
			c.reason(j, r, a)
		}
	}
}

func (c *checker) reason(j Job, r Row, a Attempt) {
	switch a.Reason {
	case "HTTP_STATUS":
		if strings.Contains(a.Result, AnswerMark) && !strings.Contains(a.Result, Mark(a.Attempt)) {
			c.violate(RuleOwnReason, "%s: attempt %d of %s says %q", j.Name, a.Attempt, r.ID, a.Result)
		}
	case "NODE_LOST":
		if !c.troubled(a.NodeID, c.earliest(r.CreateTime), c.latest(a.EndTime)) {
			c.violate(RuleOwnReason, "%s: attempt %d of %s was lost with %s, which lost nothing from %s to %s", j.Name,
				a.Attempt, r.ID, a.NodeID,
				r.CreateTime.Format(clockTime), a.EndTime.Format(clockTime))
		}
	}
}

// troubled reports whether a node may have lost runs in a span; settleBound before
// it for what was found late.
func (c *checker) troubled(node string, from, to time.Time) bool {
	if to.IsZero() {
		to = from.Add(settleBound)
	}
	near := func(f Fence) bool { // by harmless it had a cause
		return f.Node == node && !f.Works && !f.At.After(to.Add(time.Second)) && !f.At.Before(from.Add(-settleBound))
	}
	stopped := slices.ContainsFunc(c.h.Cluster.Fences, near) || c.idle(node, from.Add(-settleBound))
	return stopped || slices.ContainsFunc(c.h.Cluster.Faults, func(f Fault) bool {
		return f.Node == node && f.Harm != HarmNone && !f.From.After(to.Add(slop)) && !f.Until.Before(from.Add(-settleBound))
	})
}

// idle reports whether a node had stopped its work by a moment and not begun again: a store that is silent for long
// keeps it so, and what it takes meanwhile counts as lost.
func (c *checker) idle(node string, at time.Time) bool {
	var last Fence
	for _, f := range c.h.Cluster.Fences {
		if f.Node == node && !f.At.After(at) && !f.At.Before(last.At) {
			last = f
		}
	}
	return last.Node != "" && !last.Works
}

// left checks what is seen of waiting runs on the way, and of places at the end.
func (c *checker) left() {
	for _, r := range c.h.Cluster.Unexplained {
		c.violate(RuleNoCause, "%s: %s waits at attempt %d and does not say for what", c.jobs[r.JobID].Name, r.ID, r.Attempt)
	}
	for _, l := range c.h.Cluster.Leftovers {
		c.violate(RuleLeftover, "%s: the fire %s still holds a place of its %s", c.jobs[l.Job].Name, l.Fire, l.Of)
	}
}
