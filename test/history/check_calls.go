package history

import (
	"slices"
	"time"
)

// eachCall checks what the targets saw, call by call, and jobs whose runs
// follow one another.
func (c *checker) eachCall() {
	byJob, byGroup, byNode := map[string][]Call{}, map[string][]Call{}, map[string][]Call{}
	for _, call := range c.h.Calls {
		j := c.jobs[call.Job]
		if planned := c.rows[call.Execution]; planned.Trigger == "SCHEDULE" &&
			call.Start.Add(c.aheadFor(planned, call.Start)).Before(planned.ScheduledTime.Add(-slop)) {
			c.violate(RuleEarly, "%s: %s began %s early", j.Name, call.Execution, planned.ScheduledTime.Sub(call.Start))
		}
		if !j.Deleted.IsZero() && call.Start.After(j.Deleted.Add(deletedBound)) && !c.frozen(call, j.Deleted) {
			c.violate(RuleDeleted, "%s: attempt %d of %s began %s after the job was deleted", j.Name, call.Attempt,
				call.Execution, call.Start.Sub(j.Deleted))
		}
		if node := c.nodeOf(call.Execution, call.Attempt); node != "" {
			if len(j.Nodes) > 0 && !slices.Contains(j.Nodes, node) {
				c.violate(RuleWrongNode, "%s: attempt %d of %s ran on %s, which does not have its handler", j.Name, call.Attempt,
					call.Execution, node)
			}
			if j.CommandSlots > 0 {
				byNode[node] = append(byNode[node], call)
			}
		}
		if call.Answer != AnswerRefused { // what had no effect
			byJob[call.Job] = append(byJob[call.Job], call)
			byGroup[j.Group] = append(byGroup[j.Group], call)
		} else if !c.frozen(call, call.Start) {
			c.violate(RuleTokenFell, "%s: attempt %d of %s came at %s with the old token %d; its caller had hung up before: %v",
				j.Name, call.Attempt, call.Execution, call.Start.Format(clockTime), call.Token, call.Gone)
		}
	}
	for id, calls := range byJob {
		switch j := c.jobs[id]; {
		case j.OneAtATime:
			c.exclusive(j, calls)
		case j.AtMost > 0:
			c.limited(j.Name, j.AtMost, time.Time{}, calls)
		}
	}
	for group, calls := range byGroup {
		if j := c.jobs[calls[0].Job]; j.GroupAtMost > 0 {
			c.limited("the group "+group, j.GroupAtMost, j.LimitFrom, calls)
		}
	}
	for node, calls := range byNode {
		c.limited("commands on "+node, c.jobs[calls[0].Job].CommandSlots, time.Time{}, calls)
	}
}

// deletedBound is how long a start may be under way that the deletion met.
const deletedBound = time.Second

// limited checks how many calls there are at once, at the begin of each. A run
// that had begun before the limit keeps its place for its later attempts, too.
func (c *checker) limited(name string, most int, from time.Time, calls []Call) {
	var open []Call
	had := map[string]bool{}
	for _, call := range calls {
		had[call.Execution] = had[call.Execution] || !call.Start.After(from)
		open = slices.DeleteFunc(open, func(o Call) bool {
			return o.End.Before(call.Start.Add(slop)) || c.frozen(o, call.Start)
		})
		if open = append(open, call); len(open) > most && !had[call.Execution] {
			c.violate(RuleLimit, "%s: %d calls at once at %s, the last one of %s", name, len(open), call.Start.Format(clockTime),
				call.Execution)
		}
	}
}

// attempts checks the attempts of each run against one another.
func (c *checker) attempts() {
	runs := map[string][]Call{}
	for _, call := range c.h.Calls {
		runs[call.Execution] = append(runs[call.Execution], call)
	}
	for execution, calls := range runs {
		j := c.jobs[calls[0].Job]
		if j.OnceOnly && len(calls) > 1 {
			c.violate(RuleRanAgain, "%s: %s was begun %d times, for the last time at %s", j.Name, execution, len(calls),
				calls[len(calls)-1].Start.Format(clockTime))
		}
		former := calls[0]
		for _, call := range calls[1:] {
			c.follows(j, former, call)
			if call.Token >= former.Token {
				former = call
			}
		}
	}
	for id, calls := range c.calls {
		if len(calls) > 1 {
			c.violate(RuleDoubleAttempt, "attempt %d of %s was made %d times, for the last time at %s", id.number, id.execution,
				len(calls), calls[len(calls)-1].Start.Format(clockTime))
		}
	}
}

// follows checks a call that began after another one of its run.
func (c *checker) follows(j Job, former, call Call) {
	if former.Attempt == call.Attempt {
		return
	}
	if call.Token <= former.Token && !c.frozen(call, former.Start) {
		c.violate(RuleTokenFell, "%s: attempt %d of %s has token %d after %d", j.Name, call.Attempt, call.Execution,
			call.Token, former.Token)
	}
	if call.Start.Before(former.End.Add(-slop)) && !c.frozen(former, call.Start) {
		c.violate(RuleTwoAttempts, "%s: attempt %d of %s began at %s, %s before attempt %d had ended", j.Name, call.Attempt,
			call.Execution,
			call.Start.Format(clockTime), former.End.Sub(call.Start), former.Attempt)
	}
}

// clockTime is how moments are shown.
const clockTime = "15:04:05.000"

// exclusive checks jobs whose runs follow one another.
func (c *checker) exclusive(j Job, calls []Call) {
	a := calls[0]
	for _, b := range calls[1:] {
		zombie := b.Token < a.Token
		if zombie && !c.frozen(b, a.Start) {
			c.violate(RuleTokenFell, "%s: token %d of %s after %d of %s", j.Name, b.Token, b.Execution, a.Token, a.Execution)
		}
		if b.Start.Before(a.End.Add(-slop)) && !c.frozen(a, b.Start) && !zombie {
			c.violate(RuleOverlap, "%s: attempt %d of %s began at %s, %s before attempt %d of %s had ended", j.Name, b.Attempt,
				b.Execution,
				b.Start.Format(clockTime), a.End.Sub(b.Start), a.Attempt, a.Execution)
		}
		rest := j.Delay - c.leapt(a.End, b.Start)
		if j.Delay > 0 && a.Execution != b.Execution && b.Start.Before(a.End.Add(rest-slop)) && !c.frozen(a, b.Start) &&
			!zombie {
			c.violate(RuleShortRest, "%s: only %s of rest before %s", j.Name, b.Start.Sub(a.End), b.Execution)
		}
		if !zombie {
			a = b
		}
	}
}
