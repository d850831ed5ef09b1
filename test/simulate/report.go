package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Report is what a simulation came to.
type Report struct {
	Seed   uint64
	Took   time.Duration
	Counts map[Kind]int
	Log    []byte
	// History is what was judged.
	History history.History
	history.Summary
}

func (r *Report) fill(w *world) {
	r.Seed, r.Counts, r.History = w.Seed, w.counts, w.h
	r.Log = w.log.text.Bytes()
	r.Summary = history.Summarize(w.h)
}

// String is the report for people.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: disturbed for %s of virtual time\n", r.Seed, r.Took.Round(time.Second))
	for _, k := range slices.Sorted(maps.Keys(r.Counts)) {
		fmt.Fprintf(&b, "  %-60s %d times\n", k, r.Counts[k])
	}
	b.WriteString(r.Summary.String())
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "\n%s: %s", v.Rule, v.Detail)
	}
	return b.String()
}
