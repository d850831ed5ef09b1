package history

import (
	"fmt"
	"slices"
	"time"
)

// slop is what two clocks readings on one machine may differ by: the target
// notes the end of a call when it sees the connection close.
const slop = 60 * time.Millisecond

// checker collects violations.
type checker struct {
	h    History
	jobs map[string]Job
	rows map[string]Row
	// calls of an attempt, in the order in which they began.
	calls map[attempt][]Call
	found []Violation
	// askedAt remembers asked, by nanoseconds: it is asked for each row and step.
	askedAt map[int64]time.Time
	// allowed counts the uses of FROZEN, the one allowance.
	allowed int
}

// attempt names one attempt of a run.
type attempt struct {
	execution string
	number    int
}

// Check compares the history with the rules and returns what is broken.
func Check(h History) []Violation { return check(h).found }

func check(h History) *checker {
	c := &checker{h: h, jobs: map[string]Job{}, rows: map[string]Row{}, calls: map[attempt][]Call{}}
	for _, j := range h.Jobs {
		c.jobs[j.ID] = j
	}
	rows := map[string][]Row{}
	for _, r := range h.Rows {
		rows[r.JobID] = append(rows[r.JobID], r)
		c.rows[r.ID] = r
	}
	c.h.Calls = slices.Clone(h.Calls)
	slices.SortStableFunc(c.h.Calls, func(a, b Call) int { return a.Start.Compare(b.Start) })
	for _, call := range c.h.Calls {
		id := attempt{call.Execution, call.Attempt}
		c.calls[id] = append(c.calls[id], call)
	}
	c.eachRow()
	for _, j := range h.Jobs {
		c.grid(j, rows[j.ID])
		c.shards(j, rows[j.ID])
	}
	c.eachCall()
	c.attempts()
	c.triggers()
	c.followed()
	c.statistics(rows)
	if len(h.Cluster.Nodes) > 0 {
		c.cluster(rows)
	}
	return c
}

func (c *checker) violate(rule, format string, args ...any) {
	c.found = append(c.found, Violation{rule, fmt.Sprintf(format, args...)})
}

// eachRow checks each row by itself, and that none stands twice.
func (c *checker) eachRow() {
	type identity struct {
		job, fire string
		shard     int
	}
	seen := map[identity]string{}
	for _, r := range c.h.Rows {
		j := c.jobs[r.JobID]
		id := identity{r.JobID, r.FireKey, r.ShardIndex}
		if other, ok := seen[id]; ok {
			c.violate(RuleDoubleRow, "%s: %s and %s are the same fire %s, shard %d, of %s", j.Name, other, r.ID,
				r.FireKey, r.ShardIndex, r.CreateTime.Format(clockTime))
		}
		seen[id] = r.ID
		switch r.Status {
		case "WAITING", "RUNNING":
			c.violate(RuleStuck, "%s: %s (%s) is still %s, since %s", j.Name, r.ID, r.FireKey, r.Status,
				r.CreateTime.Format(clockTime))
		case "SUCCESS":
			c.seen(RuleUnseenSuccess, j, r, AnswerOK, AnswerUnsure)
		default:
			asked := r.Status == "CANCELLED" && slices.Contains(c.h.Cancels, r.ID)
			if r.Reason == "" && r.Status != "TIMEOUT" && !asked {
				c.violate(RuleNoReason, "%s: %s is %s without a reason, since %s", j.Name, r.ID, r.Status,
					r.EndTime.Format(clockTime))
			}
		}
		if r.Status == "TIMEOUT" && j.Called && !c.leaptOver(r) { // all targets end in time
			c.violate(RuleFalseFailure, "%s: %s timed out at attempt %d of %s at %s", j.Name, r.ID, r.Attempt, r.NodeID,
				r.EndTime.Format(clockTime))
		}
		if (r.Status == "FAILED" || r.Status == "DEAD") && r.Reason != "NODE_LOST" && r.Reason != "SHUTDOWN" {
			c.seen(RuleFalseFailure, j, r, AnswerFailed, AnswerRefused)
		}
		if r.Status == "DEAD" && r.Reason != "NODE_LOST" && r.Attempt < j.MaxRetries+1 {
			c.violate(RuleEarlyDead, "%s: %s is dead after %d attempts of %d, since %s", j.Name, r.ID, r.Attempt,
				j.MaxRetries+1, r.EndTime.Format(clockTime))
		}
	}
}

// seen checks that the target answered the last attempt of a run so.
func (c *checker) seen(rule string, j Job, r Row, answers ...Answer) {
	calls := c.calls[attempt{r.ID, r.Attempt}]
	if j.Called && !slices.ContainsFunc(calls, func(call Call) bool { return slices.Contains(answers, call.Answer) }) {
		c.violate(rule, "%s: %s is %s(%s %s) at attempt %d of %s since %s, of which the target saw %+v", j.Name, r.ID,
			r.Status, r.Reason, r.ErrorMessage, r.Attempt, r.NodeID, r.EndTime.Format(clockTime), calls)
	}
}

// shards checks that a fire that was not skipped has all its shards.
func (c *checker) shards(j Job, rows []Row) {
	if j.Shards <= 1 {
		return
	}
	present := map[string][]int{}
	skipped := map[string]bool{}
	for _, r := range rows {
		if planned(r) && r.SkipCount == 0 {
			present[r.FireKey] = append(present[r.FireKey], r.ShardIndex)
			skipped[r.FireKey] = skipped[r.FireKey] || r.Status == "SKIPPED"
		}
	}
	for fire, shards := range present {
		if len(shards) != j.Shards && !skipped[fire] {
			c.violate(RuleMissingShard, "%s: the fire %s has the shards %v of %d", j.Name, fire, shards, j.Shards)
		}
	}
}

// triggers checks the runs by hand.
func (c *checker) triggers() {
	count := map[string]int{}
	for _, r := range c.h.Rows {
		count[r.ID]++
	}
	keys := map[string]string{}
	for _, t := range c.h.Triggers {
		if other, ok := keys[t.Key]; ok && other != t.Execution {
			c.violate(RuleLostTrigger, "the key %s made %s and %s", t.Key, other, t.Execution)
		}
		keys[t.Key] = t.Execution
		if count[t.Execution] != 1 {
			c.violate(RuleLostTrigger, "%s was acknowledged and has %d rows", t.Execution, count[t.Execution])
		}
	}
	runs := map[string]bool{}
	for _, t := range c.h.Triggers {
		runs[t.Execution] = true
	}
	unasked := 0
	for _, r := range c.h.Rows {
		if r.Trigger == "MANUAL" && !runs[r.ID] {
			unasked++
		}
	}
	if unasked > c.h.Unanswered {
		c.violate(RuleLostTrigger, "%d runs by hand were not acknowledged, and %d calls were not answered", unasked,
			c.h.Unanswered)
	}
}
