package history

import (
	"slices"
	"strings"
)

// Next is a job that a job starts at the end of its fires.
type Next struct {
	// Name is that of the job. On is SUCCESS, FAILURE or END.
	Name, On string
}

// on reports whether the outcome of a fire starts the job.
func (n Next) on(outcome string) bool {
	switch outcome {
	case "SUCCESS", "FAILURE":
		return n.On == outcome || n.On == "END"
	case "CANCELLED":
		return n.On == "END"
	}
	return false
}

// outcome is that of the shards of a fire: the worst; empty while one of them is live.
func outcome(shards []Row) string {
	worst, order := 0, []string{"SUCCESS", "SKIPPED", "CANCELLED", "FAILURE"}
	for _, r := range shards {
		if !r.Final() {
			return ""
		}
		at := slices.Index(order, r.Status)
		if at < 0 {
			at = len(order) - 1 // FAILED, TIMEOUT and DEAD
		}
		worst = max(worst, at)
	}
	return order[worst]
}

// fire names a fire of a job.
type fire struct{ job, key string }

// chains are the fires by their job and key, and the runs of chained fires by their job and the run that started them.
func (h History) chains() (fires map[fire][]Row, started map[fire][]Row) {
	fires, started = map[fire][]Row{}, map[fire][]Row{}
	for _, r := range h.Rows {
		if r.SkipCount > 0 {
			continue
		}
		fires[fire{r.JobID, r.FireKey}] = append(fires[fire{r.JobID, r.FireKey}], r)
		if r.Trigger == "DEPENDENCY" && !strings.HasPrefix(r.FireKey, "run:") { // a step of a workflow is judged with its run
			started[fire{r.JobID, r.StartedBy}] = append(started[fire{r.JobID, r.StartedBy}], r)
		}
	}
	return fires, started
}

// owed calls a function with each job that the end of a fire starts: the job that ended, the id of the first execution
// of its fire, and the one that follows.
func (h History) owed(fires map[fire][]Row, do func(j Job, first string, next Job)) {
	for _, j := range h.Jobs {
		if len(j.Next) == 0 {
			continue
		}
		for at, shards := range fires {
			if at.job != j.ID {
				continue
			}
			first := slices.MinFunc(shards, func(a, b Row) int { return a.ShardIndex - b.ShardIndex })
			came := outcome(shards)
			for _, next := range h.Jobs {
				if slices.ContainsFunc(j.Next, func(n Next) bool { return n.Name == next.Name && n.on(came) }) {
					do(j, first.ID, next)
				}
			}
		}
	}
}

// Owes reports whether an end has not started yet what follows it.
func (h History) Owes() (owes bool) {
	fires, started := h.chains()
	h.owed(fires, func(_ Job, first string, next Job) { owes = owes || len(started[fire{next.ID, first}]) == 0 })
	return owes
}

// followed checks that each end has started what follows it, once and with all shards, and nothing else.
func (c *checker) followed() {
	fires, started := c.h.chains()
	asked := map[fire]bool{}
	c.h.owed(fires, func(j Job, first string, next Job) {
		at := fire{next.ID, first}
		asked[at] = true
		keys := map[string]bool{}
		for _, r := range started[at] {
			keys[r.FireKey] = true
		}
		switch rows := started[at]; {
		case len(keys) == 0:
			c.violate(RuleNotFollowed, "%s: the end of %s did not start %s", j.Name, first, next.Name)
		case len(keys) > 1:
			c.violate(RuleFollowedTwice, "%s: the end of %s started %s %d times", j.Name, first, next.Name, len(keys))
		case len(rows) != max(next.Shards, 1) && outcome(rows) != "SKIPPED":
			c.violate(RuleMissingShard, "%s: %d of %d shards follow %s", next.Name, len(rows), next.Shards, first)
		}
	})
	for at, rows := range started {
		if !asked[at] {
			c.violate(RuleFollowedTwice, "%s: %s follows %s, whose end asks for nothing", c.jobs[at.job].Name, rows[0].ID,
				rows[0].StartedBy)
		}
	}
}
