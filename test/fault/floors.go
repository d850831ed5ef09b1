package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/workflow/judge"
)

// Floors are what a test of workflows has to meet, or it proves little: runs that closed, executions of each kind of
// step, uses of each verb, and kills at each failpoint of workflows.
type Floors struct{ Runs, Kinds, Verbs, Points int }

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
	return Floors{Runs: share(20_000), Kinds: share(200), Verbs: share(200), Points: share(20)}
}

// Missed says which floors were not reached.
func (f Floors) Missed(t judge.Tally, points map[string]int) (missed []string) {
	ask := func(what string, got, floor int) {
		if got < floor {
			missed = append(missed, fmt.Sprintf("%s: %d, and at least %d were to be met", what, got, floor))
		}
	}
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
