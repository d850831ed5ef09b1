package history

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The bounds of a cluster.
const (
	retryBound  = 15 * time.Second
	resumeBound = 10 * time.Second
	// workerBound is the lease of a worker, and two seconds until its runs begin elsewhere, and as long as nodes have.
	workerBound = 20*time.Second + 2*time.Second + resumeBound
	// settleBound is how long a node may speak of the past after a fault.
	settleBound = 8 * time.Second
)

// cluster checks what only several nodes show.
func (c *checker) cluster(rows map[string][]Row) {
	c.looks()
	c.replies()
	c.members()
	c.holdings()
	c.outputs()
	c.fenced()
	c.harmless()
	c.reasons()
	c.left()
	for _, t := range c.h.Cluster.Twins {
		if t.Accepted && !c.silent(t.Node, t.At) {
			c.violate(RuleTwin, "a second process was let in as %s at %s, beside the first", t.Node, t.At.Format(clockTime))
		}
	}
	for _, x := range c.h.Cluster.Exits {
		if x.Code < 0 || x.Code > 0 && !c.disturbed(x.Node, x.At, time.Second) {
			c.violate(RuleStop, "%s ended with %d at %s", x.Node, x.Code, x.At.Format(clockTime))
		}
	}
	for _, f := range c.h.Cluster.Faults {
		if f.Harm == HarmDeath {
			c.goesOn(f)
			if !f.Worker {
				c.resumes(f, rows)
			}
		}
	}
}

// looks checks that what was final on the way stayed as it was.
func (c *checker) looks() {
	for _, seen := range c.h.Cluster.Looks {
		row, ok := c.rows[seen.ID]
		if !ok || row.Status != seen.Status || row.Reason != seen.Reason || row.Attempt != seen.Attempt ||
			row.NodeID != seen.NodeID {
			c.violate(RuleChanged, "%s: %s was %s(%s) at attempt %d of %s, and is %s(%s) at attempt %d of %s, since %s",
				c.jobs[seen.JobID].Name, seen.ID,
				seen.Status, seen.Reason, seen.Attempt, seen.NodeID, row.Status, row.Reason, row.Attempt, row.NodeID,
				row.EndTime.Format(clockTime))
		}
	}
}

// replies checks the API. A node in trouble may say so, or say nothing.
func (c *checker) replies() {
	for _, r := range c.h.Cluster.Answers {
		refused := r.Status == 0 || r.Status == http.StatusServiceUnavailable
		signedOut := r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden // its session holds
		if r.Status < 500 && !refused && !signedOut || refused && c.disturbed(r.Node, r.At, settleBound) {
			continue
		}
		c.violate(RuleServerError, "%s: %s answered %d at %s after %s: %s", r.Node, r.What, r.Status, r.At.Format(clockTime),
			r.Took, r.Detail)
	}
}

func (c *checker) members() {
	last := map[string]Member{}
	for _, m := range c.h.Cluster.Sights {
		if former := last[m.ID]; m.Epoch < former.Epoch {
			c.violate(RuleMembers, "the epoch of %s fell from %d to %d", m.ID, former.Epoch, m.Epoch)
		}
		last[m.ID] = m
	}
	for _, id := range c.h.Cluster.Nodes {
		if last[id].Status != "UP" {
			c.violate(RuleMembers, "%s is %q after everything was healed", id, last[id].Status)
		}
	}
}

// holdings checks each figure of each node; the first moment at which one was too high is told.
func (c *checker) holdings() {
	bound, told := c.h.Cluster.Bound, map[string]bool{}
	for _, x := range c.h.Cluster.Holdings {
		within := x.Descriptors <= bound.Descriptors && x.Memory <= bound.Memory && x.Connections <= bound.Connections
		if within || told[x.Node] {
			continue
		}
		told[x.Node] = true
		c.violate(RuleUnbounded, "%s held %d descriptors, %d MiB and %d connections at %s, during: %s", x.Node, x.Descriptors,
			x.Memory>>20, x.Connections, x.At.Format(clockTime), c.faultsAt(x.At))
	}
}

// faultsAt names what was done to whom at a moment.
func (c *checker) faultsAt(at time.Time) string {
	var names []string
	for _, f := range c.h.Cluster.Faults {
		if !f.From.After(at) && !f.Until.Before(at) {
			names = append(names, strings.TrimSpace(f.Kind+" "+f.Node))
		}
	}
	if len(names) == 0 {
		return "no fault"
	}
	return strings.Join(names, ", ")
}

// outputs checks the last attempt's lines, and that no other attempt's stand
// under its number.
func (c *checker) outputs() {
	for _, o := range c.h.Cluster.Outputs {
		row := c.rows[o.Execution]
		var last []string
		for _, l := range o.Lines {
			if l.Stream != "STDOUT" { // evidence of refused reports, for instance
				continue
			}
			if !strings.HasPrefix(l.Line, fmt.Sprintf("attempt %d ", l.Attempt)) {
				c.violate(RuleLogs, "%s shows %q under attempt %d", o.Execution, l.Line, l.Attempt)
			}
			if l.Attempt == row.Attempt {
				last = append(last, l.Line)
			}
		}
		if want := OutputLines(row.Attempt); row.Status == "SUCCESS" && !slices.Equal(last, want) {
			c.violate(RuleLogs, "%s has put out %q at its last attempt, not %q", o.Execution, last, want)
		}
	}
}

// goesOn checks that what ran on a node when it died ran again, or ended.
func (c *checker) goesOn(death Fault) {
	bound := retryBound
	if death.Worker {
		bound = workerBound
	}
	until := c.deadline(death.From, bound, death.Worker)
	for _, call := range c.h.Calls {
		near := call.Answer == AnswerCut && call.Start.Before(death.From) && call.End.After(death.From.Add(-time.Second)) &&
			call.End.Before(death.From.Add(time.Second))
		row := c.rows[call.Execution]
		if !near || c.nodeOf(call.Execution, call.Attempt) != death.Node {
			continue
		}
		if row.Attempt == call.Attempt {
			if c.earliest(row.EndTime).After(until) {
				c.violate(RuleLateRetry, "%s: %s was cut at %s and ended only after %s", c.jobs[row.JobID].Name, row.ID,
					call.End.Format(clockTime), row.EndTime.Sub(death.From))
			}
			continue
		}
		next := c.calls[attempt{call.Execution, call.Attempt + 1}]
		if len(next) > 0 && next[0].Start.After(until) {
			c.violate(RuleLateRetry, "%s: %s was cut at %s and ran again only after %s", c.jobs[row.JobID].Name, row.ID,
				call.End.Format(clockTime), next[0].Start.Sub(death.From))
		}
	}
}

// resumes checks that every job that fires at least each second goes on.
func (c *checker) resumes(death Fault, rows map[string][]Row) {
	until := c.deadline(death.From, resumeBound, false)
	for _, j := range c.h.Jobs {
		if !j.dense() || !until.Before(j.Until) || j.From.After(death.From) {
			continue
		}
		if !slices.ContainsFunc(rows[j.ID], func(r Row) bool {
			return planned(r) && slices.ContainsFunc(c.moments(r.CreateTime), func(at time.Time) bool {
				return at.After(death.From) && !at.After(until)
			})
		}) {
			c.violate(RuleNoResume, "%s: nothing was fired from %s, when %s died, to %s", j.Name, death.From.Format(clockTime),
				death.Node, until.Format(clockTime))
		}
	}
}

func (j Job) dense() bool { return j.Step > 0 && j.Step <= time.Second }
