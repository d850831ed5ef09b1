package silence

import (
	"fmt"
	"slices"
)

// counted: what the scheduler counts of a job are its fires, each by the worst of its shards. A run that
// somebody asked for again is one of its own.
func counted(h History, byJob map[string][]Run) (broken []string) {
	for _, said := range h.Statistics {
		if found := count(said.Job, byJob[said.Job]); found != said {
			broken = append(broken, fmt.Sprintf("the rows of the job %s come to %+v, and the statistics say %+v", said.Job,
				found, said))
		}
	}
	slices.Sort(broken)
	return broken
}

// states are the ends of runs, the worst first.
func states() []string {
	return []string{"DEAD", "TIMEOUT", "FAILED", "CANCELLED", "SKIPPED", "SUCCESS"}
}

func count(job string, runs []Run) Statistic {
	out, worst := Statistic{Job: job}, map[string]int{}
	for _, r := range runs {
		key, state := "fire "+r.Fire, slices.Index(states(), r.Status)
		switch {
		case r.Range:
			out.Skipped += max(r.Skips, 1)
			continue
		case r.RetryOf != "":
			key = "again " + r.ID
		}
		if was, known := worst[key]; state >= 0 && (!known || state < was) {
			worst[key] = state
		}
	}
	for _, state := range worst {
		to := []*int{&out.Dead, &out.Timeout, &out.Failed, &out.Cancelled, &out.Skipped, &out.Success}[state]
		*to++
		if to != &out.Skipped {
			out.Runs++
		}
	}
	return out
}
