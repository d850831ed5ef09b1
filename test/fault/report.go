package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// Report is what a run came to.
type Report struct {
	Seed int64
	// Took is the time of the faults, Quiet how long it took until nothing was live.
	Took, Quiet time.Duration
	// Asked are the kinds that the plan was drawn from.
	Asked  []Kind
	Counts map[Kind]int
	Clocks map[Kind]clockSteps
	// Dropped is how many replies of commits were lost, Starts how many
	// processes were started, Refused how many calls the targets refused.
	Dropped, Refused int
	// Given is how many statements were answered in the stead of the store.
	Given  int
	Starts int64
	// Gaps are those after deaths, Alone those that no other fault touched.
	Gaps, Alone []time.Duration
	Answers     map[int]int
	Slowest     time.Duration
	Most        history.Holding
	// Maximal are the definitions at the edge of what validation takes.
	Maximal *crash.Maximal
	// Works are how many runs there were of jobs that are there for their own sake.
	Works map[string]int
	// Flows counts what became of workflow runs, Points the kills at failpoints; nil: there were no workflows.
	Flows  *judge.Tally
	Points map[string]int
	history.Summary
}

func (r *Report) fill(rig *rig.Rig, s *Striker, h history.History) {
	r.Counts, r.Clocks, r.Points, r.Answers = s.counts, s.clocks, s.points, map[int]int{}
	r.Gaps, r.Alone = history.Gaps(h)
	r.Works = map[string]int{}
	names := map[string]string{}
	for _, j := range h.Jobs {
		names[j.ID] = j.Name
	}
	for _, row := range h.Rows {
		for _, work := range []string{"64 shards", "accepted", "handler", "command", "worker"} {
			if strings.HasPrefix(names[row.JobID], work) && (row.ShardIndex == 0) {
				r.Works[work]++
			}
		}
	}
	for _, m := range rig.Members {
		r.Dropped += m.Store.Dropped()
		r.Given += m.Store.Answered()
		r.Starts += m.Starts()
	}
	for _, c := range h.Calls {
		if c.Answer == history.AnswerRefused {
			r.Refused++
		}
	}
	for _, a := range h.Cluster.Answers {
		r.Answers[a.Status]++
		r.Slowest = max(r.Slowest, a.Took)
	}
	for _, x := range h.Cluster.Holdings {
		r.Most.Descriptors, r.Most.Memory = max(r.Most.Descriptors, x.Descriptors), max(r.Most.Memory, x.Memory)
		r.Most.Connections = max(r.Most.Connections, x.Connections)
	}
	r.Summary = history.Summarize(h)
}

// String is the report for people.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: disturbed for %s, quiet after %s\n", r.Seed, r.Took.Round(time.Second),
		r.Quiet.Round(time.Second))
	for _, k := range slices.Sorted(maps.Keys(r.Counts)) {
		fmt.Fprintf(&b, "  %-44s %d times\n", k, r.Counts[k])
	}
	fmt.Fprintf(&b, "%d starts of processes, %d replies of commits lost, %d errors answered in the stead of the store, "+
		"%d calls with old tokens refused by the "+
		"targets, FROZEN allowed %d times\n",
		r.Starts, r.Dropped, r.Given, r.Refused, r.Frozen)
	fmt.Fprintf(&b, "steps of clocks, and those with an alert open: nodes' %d, %d; the store's %d, %d\n",
		r.Clocks[ClockStep].all, r.Clocks[ClockStep].open, r.Clocks[StoreStep].all, r.Clocks[StoreStep].open)
	fmt.Fprintf(&b, "fires of jobs by what they begin with: %v\n", r.Works)
	b.WriteString(r.Maximal.Line(r.Rows))
	fmt.Fprintf(&b, "%.0f rows a second\n", float64(r.Rows)/r.Took.Seconds())
	fmt.Fprintf(&b, "jobs of a node that died were not fired for %s; with no other fault %s\n", spread(r.Gaps),
		spread(r.Alone))
	fmt.Fprintf(&b, "answers of the API during faults: %v, slowest %s\n", r.Answers, r.Slowest.Round(time.Millisecond))
	fmt.Fprintf(&b, "a node held at most %d descriptors, %d MiB, %d connections to the store\n", r.Most.Descriptors,
		r.Most.Memory>>20, r.Most.Connections)
	b.WriteString(pointLines(r.Points))
	if r.Flows != nil {
		b.WriteString(r.Flows.String())
	}
	for _, missed := range r.Missed() {
		fmt.Fprintf(&b, "too little of %s\n", missed)
	}
	return b.String() + r.Summary.String()
}

// Missed says which floors were not reached.
func (r Report) Missed() []string {
	floors, steps := FloorsOf(r.Took), map[Kind]int{}
	for k, n := range r.Clocks {
		steps[k] = n.open
	}
	missed := floors.MissedFaults(Struck{Asked: r.Asked, Counts: r.Counts, Fields: r.Maximal.Stored, Steps: steps})
	if r.Flows != nil {
		missed = append(missed, floors.Missed(*r.Flows, r.Points)...)
	}
	return missed
}

// spread shows sorted durations.
func spread(d []time.Duration) string {
	n := len(d)
	if n == 0 {
		return "(none)"
	}
	return fmt.Sprintf("p50 %s, max %s (%d)", d[n/2].Round(time.Millisecond), d[n-1].Round(time.Millisecond), n)
}

// Full is the report with every violation.
func (r Report) Full() string {
	var b strings.Builder
	b.WriteString(r.String())
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\n%s: %s", v.Rule, v.Detail)
	}
	return b.String()
}
