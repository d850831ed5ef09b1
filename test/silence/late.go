package silence

import (
	"fmt"
	"slices"
	"time"
)

// soon is how long after a deadline a success is still one of about then.
const soon = 10 * time.Second

// late: an alert about the deadline of a job is open if, and only if, the last fire before the deadline was missed, and
// no fire has succeeded since. The check ignores runs that ended at about the deadline.
func late(h History, byJob map[string][]Run) (broken []string) {
	isOpen := opened(h.Alerts)
	for _, d := range h.Deadlines {
		missed, sure := missed(byJob[d.Job], d.At)
		if !sure || unsure(h.Steps, d.At) || unsure(h.Steps, d.At.Add(soon)) {
			continue
		}
		want, what := 0, "kept, or made up for"
		if missed {
			want, what = 1, "missed"
		}
		for _, rule := range h.Rules {
			if rule.InARow > 0 || !rule.Sees(d.Job) {
				continue
			}
			if n := isOpen[about{rule.ID, d.Job}]; n != want {
				broken = append(broken, fmt.Sprintf("the deadline %s of the job %s was %s, and %d alerts of the rule %s "+
					"are open", d.At.UTC().Format("15:04:05"), d.Job, what, n, rule.ID))
			}
		}
	}
	slices.Sort(broken)
	return broken
}

// missed reports whether the deadline of a job was missed and nothing has succeeded since, and whether that is sure.
func missed(runs []Run, at time.Time) (yes, sure bool) {
	var due time.Time // of the last fire before it
	for _, r := range runs {
		if !r.Due.IsZero() && r.Due.Before(at) && r.Due.After(due) && r.RetryOf == "" && r.Status != "SKIPPED" {
			due = r.Due
		}
	}
	// The check ignores fires that were left out behind the last one.
	sure = !due.IsZero() && !slices.ContainsFunc(runs, func(r Run) bool {
		return r.Status == "SKIPPED" && !r.Due.Before(due) && r.Due.Before(at)
	})
	kept := false
	for _, f := range fold(runs) {
		switch {
		case f.bad > 0:
		case f.at.After(at.Add(soon)):
			return false, true // made up for
		case f.at.After(at.Add(-apart)):
			sure = false
		default:
			kept = kept || !f.due.Before(due)
		}
	}
	return !kept, sure
}
