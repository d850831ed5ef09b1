package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/history/kept"
)

// Report is what a simulation came to.
type Report struct {
	Seed   uint64
	Took   time.Duration
	Counts map[Kind]int
	Log    []byte
	// Deaths is how many nodes were declared dead, Stops how often one stopped its work, Lives how many processes began.
	Deaths, Stops, Lives int
	// Alerts and Messages are those of the rule.
	Alerts, Messages int
	// Kept is what was judged.
	Kept kept.Kept
	history.Summary
}

func (r *Report) fill(w *world) {
	r.Seed, r.Counts = w.Seed, w.counts
	r.Kept = kept.Kept{Seed: w.Seed, History: w.h, Deliveries: w.d}
	r.Log = w.log.text.Bytes()
	r.Summary = r.Kept.Judge()
	r.Deaths = len(w.h.Cluster.Deaths)
	for _, f := range w.h.Cluster.Fences {
		if !f.Works {
			r.Stops++
		}
	}
	for _, m := range w.members {
		r.Lives += m.lives
	}
	r.Alerts, r.Messages = len(w.d.Alerts), len(w.d.Messages)
}

// String is the report for people.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: disturbed for %s of virtual time\n", r.Seed, r.Took.Round(time.Second))
	for _, k := range slices.Sorted(maps.Keys(r.Counts)) {
		fmt.Fprintf(&b, "  %-60s %d times\n", k, r.Counts[k])
	}
	fmt.Fprintf(&b, "%d processes began, a node was declared dead %d times, one stopped its work %d times; %d alerts, %d "+
		"messages\n", r.Lives, r.Deaths, r.Stops, r.Alerts, r.Messages)
	b.WriteString(r.Summary.String())
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\n%s: %s", v.Rule, v.Detail)
	}
	return b.String()
}
