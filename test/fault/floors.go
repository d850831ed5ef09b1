package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/maximal"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// Floors are what a test has to meet, or it proves little.
type Floors struct {
	// Of workflows: runs that closed, executions of each kind of step, uses of each verb, and kills at each failpoint.
	Runs, Kinds, Verbs, Points int
	// Of faults: how often each kind comes that the rounds take in turn, each kind among them that answers in the stead
	// of the store, as one that meets no statement does not count, and each kind that comes beside the turns.
	Turns, Answers, Beside int
	// Fields is how often a maximal value of each field is stored, Steps how many steps of each clock meet an open alert.
	Fields, Steps int
}

// full is what half an hour meets.
const full = 30 * time.Minute

// FloorsOf are those of a test that disturbs for so long. From half an hour on they are the promise itself (W47). A
// shorter test has to meet half of its share: it begins with empty tables, each fault weighs more in it, and machines
// differ.
func FloorsOf(disturbed time.Duration) Floors {
	share := func(n int) int {
		if disturbed >= full {
			return n
		}
		return int(time.Duration(n) * disturbed / full / 2)
	}
	// A plan comes round to each kind some 16 times in half an hour. Twenty are asked for when there is time for them.
	come := func(n int) int {
		if disturbed < full {
			return share(n)
		}
		return min(int(time.Duration(n)*disturbed/full), oftenEnough)
	}
	return Floors{
		Runs: share(20_000), Kinds: share(200), Verbs: share(200), Points: share(oftenEnough),
		Turns: come(12), Answers: come(8), Beside: share(oftenEnough), Fields: share(50), Steps: share(10),
	}
}

// oftenEnough is how often a fault comes until a run without a violation says something about it.
const oftenEnough = 20

// Struck is what was done to a cluster, as far as floors ask for it.
type Struck struct {
	// Asked are the kinds that come to a test; Counts says how often each has come.
	Asked  []Kind
	Counts map[Kind]int
	// Fields counts the maximal values that were stored, by field; Steps those of clocks that met an open alert.
	Fields map[string]int
	Steps  map[Kind]int
}

// MissedFaults says which floors of faults were not reached. A test whose kinds were not drawn has none.
func (f Floors) MissedFaults(s Struck) (missed []string) {
	if len(s.Asked) == 0 {
		return nil
	}
	for _, k := range s.Asked {
		missed = below(missed, "the fault "+string(k), s.Counts[k], f.of(k))
	}
	for _, field := range maximal.Fields() {
		missed = below(missed, "maximal values of the field "+field, s.Fields[field], f.Fields)
	}
	for _, k := range []Kind{ClockStep, StoreStep} {
		if slices.Contains(s.Asked, k) {
			missed = below(missed, "an alert that was open at the fault "+string(k), s.Steps[k], f.Steps)
		}
	}
	return missed
}

// of is the floor of a kind.
func (f Floors) of(k Kind) int {
	switch {
	case k == KillFlow || slices.Contains(WorkerKinds(), k):
		return f.Beside
	case k.family() == "answers":
		return f.Answers
	}
	return f.Turns
}

// below adds a floor that was not reached to those that were missed.
func below(missed []string, what string, got, floor int) []string {
	if got >= floor {
		return missed
	}
	return append(missed, fmt.Sprintf("%s: %d, and at least %d were to be met", what, got, floor))
}

// Missed says which floors of workflows were not reached.
func (f Floors) Missed(t judge.Tally, points map[string]int) (missed []string) {
	ask := func(what string, got, floor int) { missed = below(missed, what, got, floor) }
	ask("workflow runs that closed", t.Closed, f.Runs)
	ask("workflow runs that are decided again", t.Again, f.Runs/2)
	for _, kind := range judge.Kinds() {
		ask("steps of the kind "+kind, t.Kinds[kind], f.Kinds)
	}
	for _, verb := range judge.Verbs() {
		ask("the verb "+verb, t.Verbs[verb], f.Verbs)
	}
	for _, point := range crash.FlowPoints() {
		ask("kills at "+point, points[point], f.Points)
	}
	return missed
}

// pointLines shows how often nodes were killed at each failpoint.
func pointLines(points map[string]int) string {
	parts := make([]string, 0, len(points))
	for _, p := range slices.Sorted(maps.Keys(points)) {
		parts = append(parts, fmt.Sprintf("%d %s", points[p], p))
	}
	return "kills at failpoints: " + strings.Join(parts, ", ") + "\n"
}
