package workflow_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// A machine of Step Functions is a workflow by docs/workflows.md: Next is an edge on success, Catch an edge on failure
// of a step that tolerates it, and where several lead to one state, the first suffices. The same steps run, and the run
// ends the same.
func TestPathsOfStepFunctions(t *testing.T) {
	rows := facts(t, "stepfunctions-paths.tsv")
	require.Len(t, rows, 500)
	for _, row := range rows {
		def := &wf.Definition{}
		at := map[string]int{}
		for i, state := range list(row[0]) {
			at[state] = i
			def.Steps = append(def.Steps, wf.Step{Name: "s" + state, Join: wf.JoinAny, Wait: &wf.Wait{ForSec: 1}})
		}
		lead := func(edges, on string) {
			for _, e := range list(edges) {
				from, to, _ := strings.Cut(e, ">")
				if on == "failure" {
					def.Steps[at[from]].Tolerate = true
				}
				needs := &def.Steps[at[to]].Needs
				k := slices.IndexFunc(*needs, func(n wf.Need) bool { return n.Step == "s"+from })
				if k < 0 {
					*needs = append(*needs, wf.Need{Step: "s" + from})
					k = len(*needs) - 1
				}
				(*needs)[k].On = append((*needs)[k].On, wf.Word(on))
			}
		}
		lead(row[1], "success")
		lead(row[2], "failure")
		for i := range def.Steps {
			if len(def.Steps[i].Needs) == 0 {
				def.Steps[i].Join = ""
			}
		}
		d := newRun(t, def, failures(list(row[3])), nil)
		d.inOrder()
		require.Empty(t, d.check())
		var ran []string
		for i, s := range d.State.Steps {
			if s.Fate.Status() != entity.StatusSkipped {
				ran = append(ran, strings.TrimPrefix(def.Steps[i].Name, "s"))
			}
		}
		require.Equal(t, list(row[4]), ran, row)
		require.Equal(t, ending(row[5]), d.Closed.Status, row)
	}
}

// ending is how a run ends here that ends so in Step Functions.
func ending(status string) entity.Status {
	return map[string]entity.Status{"SUCCEEDED": entity.StatusSuccess, "FAILED": entity.StatusFailed}[status]
}

// A map without tolerance fails with the first of its items, one without items succeeds, whatever may run at once.
func TestMapsOfStepFunctions(t *testing.T) {
	rows := facts(t, "stepfunctions-maps.tsv")
	require.Len(t, rows, 3*63)
	for _, row := range rows {
		got := mapOf(t, &wf.ForEach{MaxParallel: number(t, row[0])}, number(t, row[1]), list(row[2]))
		require.Equal(t, ending(row[3]), got, row)
	}
	// A map that says how many failures it tolerates: the documentation of Step Functions, "Setting failure thresholds for
	// Distributed Map states" (maprun-fail-threshold). The state fails once the number, or the share, is exceeded.
	for _, c := range []struct {
		count, percent, items, failed int
		status                        string
	}{
		{0, 0, 10, 1, "FAILED"},
		{1, 0, 10, 1, "SUCCEEDED"},
		{1, 0, 10, 2, "FAILED"},
		{9, 0, 10, 9, "SUCCEEDED"},
		{20, 0, 10, 10, "SUCCEEDED"},
		{0, 10, 10, 1, "SUCCEEDED"},
		{0, 10, 10, 2, "FAILED"},
		{0, 10, 9, 1, "FAILED"},
		{0, 33, 3, 1, "FAILED"},
		{0, 34, 3, 1, "SUCCEEDED"},
		{0, 99, 10, 10, "FAILED"},
		{0, 100, 10, 10, "SUCCEEDED"},
		{0, 50, 0, 0, "SUCCEEDED"},
	} {
		var failing []string
		for i := range c.failed {
			failing = append(failing, strconv.Itoa(c.items-1-i))
		}
		each := &wf.ForEach{Tolerate: &wf.Tolerate{Count: c.count, Percent: c.percent}}
		require.Equal(t, ending(c.status), mapOf(t, each, c.items, failing), c)
	}
}

// mapOf is how a run ends that has one map.
func mapOf(t *testing.T, each *wf.ForEach, items int, failing []string) entity.Status {
	t.Helper()
	def := &wf.Definition{Steps: []wf.Step{{Name: "map", ForEach: each, Wait: &wf.Wait{ForSec: 1}}}}
	keys := make([]string, len(failing))
	for i, at := range failing {
		keys[i] = fmt.Sprintf("map[%s]", at)
	}
	d := newRun(t, def, failures(keys), map[string]int{"map": items})
	d.inOrder()
	require.Empty(t, d.check())
	return d.Closed.Status
}
