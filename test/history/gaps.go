package history

import (
	"slices"
	"time"
)

// Gaps are, for each death of a node and each job that it planned, how long
// the job was not fired; shortest first. A node plans the jobs of which it
// holds the last fire before its death, because it starts them itself. Alone
// are those that no other fault touched within the bound.
func Gaps(h History) (all, alone []time.Duration) {
	c := &checker{h: h}
	rows := map[string][]Row{}
	for _, r := range h.Rows {
		if planned(r) && !r.CreateTime.IsZero() {
			r.CreateTime = c.earliest(r.CreateTime)
			rows[r.JobID] = append(rows[r.JobID], r)
		}
	}
	for _, j := range h.Jobs {
		if !j.dense() {
			continue
		}
		list := rows[j.ID]
		slices.SortFunc(list, func(a, b Row) int { return a.CreateTime.Compare(b.CreateTime) })
		for _, f := range h.Cluster.Faults {
			if f.Harm != HarmDeath || f.Worker || f.From.After(j.Until) {
				continue
			}
			next := slices.IndexFunc(list, func(r Row) bool { return r.CreateTime.After(f.From) })
			if next > 0 && list[next-1].NodeID == f.Node {
				gap := list[next].CreateTime.Sub(f.From)
				all = append(all, gap)
				if c.deadline(f.From, resumeBound, false).Equal(f.From.Add(resumeBound)) {
					alone = append(alone, gap)
				}
			}
		}
	}
	slices.Sort(all)
	slices.Sort(alone)
	return all, alone
}

// Unusual names the runs whose calls do not simply follow one another, or were
// not answered: those of which it matters which node made them.
func Unusual(calls []Call) map[string]bool {
	last, odd := map[string]Call{}, map[string]bool{}
	sorted := slices.Clone(calls)
	slices.SortStableFunc(sorted, func(a, b Call) int { return a.Start.Compare(b.Start) })
	for _, c := range sorted {
		former, again := last[c.Execution]
		if again && (c.Start.Before(former.End) || c.Token <= former.Token) || c.Answer == AnswerCut ||
			c.Answer == AnswerRefused {
			odd[c.Execution] = true
		}
		last[c.Execution] = c
	}
	return odd
}
