package crash

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
	h     History
	jobs  map[string]Job
	found []Violation
}

// Check compares the history with the rules and returns what is broken.
func Check(h History) []Violation {
	c := &checker{h: h, jobs: map[string]Job{}}
	for _, j := range h.Jobs {
		c.jobs[j.ID] = j
	}
	rows := map[string][]Row{}
	for _, r := range h.Rows {
		rows[r.JobID] = append(rows[r.JobID], r)
	}
	c.rows()
	for _, j := range h.Jobs {
		c.grid(j, rows[j.ID])
		c.shards(j, rows[j.ID])
	}
	c.calls()
	c.triggers()
	return c.found
}

func (c *checker) violate(rule, format string, args ...any) {
	c.found = append(c.found, Violation{rule, fmt.Sprintf(format, args...)})
}

// rows checks each row by itself, and that none stands twice.
func (c *checker) rows() {
	type identity struct {
		job, fire string
		shard     int
	}
	seen := map[identity]string{}
	called := map[string]bool{}
	for _, call := range c.h.Calls {
		called[call.Execution] = true
	}
	for _, r := range c.h.Rows {
		j := c.jobs[r.JobID]
		id := identity{r.JobID, r.FireKey, r.ShardIndex}
		if other, ok := seen[id]; ok {
			c.violate(RuleDoubleRow, "%s: %s and %s are the same fire %s, shard %d", j.Name, other, r.ID, r.FireKey, r.ShardIndex)
		}
		seen[id] = r.ID
		switch r.Status {
		case "WAITING", "RUNNING":
			c.violate(RuleStuck, "%s: %s (%s) is still %s", j.Name, r.ID, r.FireKey, r.Status)
		case "SUCCESS":
			if j.Called && !called[r.ID] {
				c.violate(RuleUnseenSuccess, "%s: %s succeeded, but the target never saw it", j.Name, r.ID)
			}
		default:
			if r.Reason == "" && r.Status != "TIMEOUT" {
				c.violate(RuleNoReason, "%s: %s is %s without a reason", j.Name, r.ID, r.Status)
			}
		}
		if r.Status == "DEAD" && r.Reason != "NODE_LOST" && r.Attempt < j.MaxRetries+1 {
			c.violate(RuleEarlyDead, "%s: %s is dead after %d attempts of %d", j.Name, r.ID, r.Attempt, j.MaxRetries+1)
		}
	}
}

func planned(r Row) bool { return r.Trigger == "SCHEDULE" || r.Trigger == "MISFIRE" }

// grid checks that each nominal time is decided exactly once, and no other is.
func (c *checker) grid(j Job, rows []Row) {
	if j.Step == 0 && !j.Once {
		return
	}
	decided := map[int64]int{}
	for _, r := range rows {
		if !planned(r) {
			continue
		}
		if r.SkipCount > 0 {
			for at := j.first(r.SkipFrom); at.Before(r.SkipTo); at = at.Add(j.Step) {
				decided[at.UnixMilli()]++
			}
			continue
		}
		if r.ShardIndex == 0 {
			decided[r.ScheduledTime.UnixMilli()]++
		}
		if !j.on(r.ScheduledTime) {
			c.violate(RuleExtraFire, "%s: nothing was planned at %s", j.Name, r.ScheduledTime)
		}
	}
	for at := j.first(j.From); at.Before(j.Until); at = at.Add(j.Step) {
		switch n := decided[at.UnixMilli()]; {
		case n == 0:
			c.violate(RuleMissingFire, "%s: nothing is recorded of %s", j.Name, at)
		case n > 1:
			c.violate(RuleDecidedTwice, "%s: %s was decided %d times", j.Name, at, n)
		}
		if j.Once {
			break
		}
	}
}

// first is the first nominal time at or after t.
func (j Job) first(t time.Time) time.Time {
	if j.Once || j.Step == 0 {
		return j.Origin
	}
	past := t.Sub(j.Origin)
	if !t.Before(j.Origin) {
		past += j.Step - 1
	}
	return j.Origin.Add(past - past%j.Step)
}

// on reports whether t is a nominal time of the job.
func (j Job) on(t time.Time) bool {
	if j.Once {
		return t.Equal(j.Origin)
	}
	return t.Sub(j.Origin)%j.Step == 0
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

// calls checks what the target saw.
func (c *checker) calls() {
	type attempt struct {
		execution string
		number    int
	}
	seen := map[attempt]bool{}
	byJob := map[string][]Call{}
	tokens := map[string]Call{}
	calls := slices.Clone(c.h.Calls)
	slices.SortStableFunc(calls, func(a, b Call) int { return a.Start.Compare(b.Start) })
	for _, call := range calls {
		id := attempt{call.Execution, call.Attempt}
		if seen[id] {
			c.violate(RuleDoubleAttempt, "attempt %d of %s was made twice", call.Attempt, call.Execution)
		}
		seen[id] = true
		if former, ok := tokens[call.Execution]; ok && call.Token <= former.Token && call.Attempt != former.Attempt {
			c.violate(RuleTokenFell, "%s: attempt %d has token %d after %d", call.Execution, call.Attempt, call.Token, former.Token)
		}
		tokens[call.Execution] = call
		byJob[call.Job] = append(byJob[call.Job], call)
	}
	for id, calls := range byJob {
		if j := c.jobs[id]; j.OneAtATime {
			c.exclusive(j, calls)
		}
	}
}

// exclusive checks jobs whose runs follow one another.
func (c *checker) exclusive(j Job, calls []Call) {
	for i := 1; i < len(calls); i++ {
		a, b := calls[i-1], calls[i]
		if b.Start.Before(a.End.Add(-slop)) {
			c.violate(RuleOverlap, "%s: %s began %s before %s had ended", j.Name, b.Execution, a.End.Sub(b.Start), a.Execution)
		}
		if b.Token < a.Token {
			c.violate(RuleTokenFell, "%s: token %d after %d", j.Name, b.Token, a.Token)
		}
		if j.Delay > 0 && a.Execution != b.Execution && b.Start.Before(a.End.Add(j.Delay-slop)) {
			c.violate(RuleShortRest, "%s: only %s of rest before %s", j.Name, b.Start.Sub(a.End), b.Execution)
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
		c.violate(RuleLostTrigger, "%d runs by hand were not acknowledged, and %d calls were not answered", unasked, c.h.Unanswered)
	}
}
