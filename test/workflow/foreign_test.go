package workflow_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	check "github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// facts reads a table of foreign facts.
func facts(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}

// list reads a list of a table.
func list(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Split(text, ",")
}

// number reads one of a table.
func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// failures lets those steps, or items of a map, fail.
func failures(of []string) func(key string) check.Fate {
	return func(key string) check.Fate {
		if slices.Contains(of, strings.TrimPrefix(key, "s")) {
			return check.Failure
		}
		return check.Success
	}
}

// edge is how docs/workflows.md writes a trigger rule of Airflow.
type edge struct {
	on   []wf.Word
	join wf.Join
	min  int
}

var airflow = map[string]edge{
	"all_success": {nil, "", 0}, "all_failed": {[]wf.Word{"unsuccessful"}, "", 0}, "all_done": {[]wf.Word{"done"}, "", 0},
	"all_skipped":                 {[]wf.Word{"skipped"}, "", 0},
	"none_skipped":                {[]wf.Word{"success", "failure", "blocked"}, "", 0},
	"none_failed":                 {[]wf.Word{"ok"}, "", 0},
	"one_success":                 {nil, wf.JoinAny, 0},
	"one_failed":                  {[]wf.Word{"unsuccessful"}, wf.JoinAny, 0},
	"one_done":                    {[]wf.Word{"success", "failure"}, wf.JoinAny, 0},
	"none_failed_min_one_success": {[]wf.Word{"ok"}, "", 1},
	"all_done_min_one_success":    {[]wf.Word{"success", "failure", "blocked"}, "", 1},
}

// Three fields say all that the trigger rules of Airflow say. A step runs where Airflow runs the task, for all states
// of up to five upstream tasks. Where none runs, Airflow says skipped in two rules where a failure stands behind it.
func TestTriggerRulesOfAirflow(t *testing.T) {
	rows := facts(t, "airflow-trigger-rules.tsv")
	require.Len(t, rows, 11*125)
	fates := map[string]wf.Fate{
		"success": wf.FateSucceeded, "failed": wf.FateFailed, "skipped": wf.FateCondition, "upstream_failed": wf.FateUpstreamFailed,
	}
	others := map[string]int{}
	for _, row := range rows {
		rule, upstreams, want := row[0], strings.Split(row[1], ","), row[2]
		def := &wf.Definition{}
		last := wf.Step{Name: "last", Join: airflow[rule].join, MinSuccess: airflow[rule].min, Wait: &wf.Wait{ForSec: 1}}
		for i := range upstreams {
			def.Steps = append(def.Steps, wf.Step{Name: name(i), Wait: &wf.Wait{ForSec: 1}})
			last.Needs = append(last.Needs, wf.Need{Step: name(i), On: airflow[rule].on})
		}
		def.Steps = append(def.Steps, last)
		g, err := workflow.NewGraph(def)
		require.NoError(t, err)
		state := wf.NewState(def, noon)
		for i, u := range upstreams {
			state.Steps[i].Fate = fates[u]
		}
		fate := workflow.Decide(g, state, workflow.Input{Now: noon}).State.Steps[len(upstreams)].Fate
		got := map[wf.Fate]string{
			wf.FateLive: "run", wf.FateUpstreamFailed: "upstream_failed", wf.FateUpstreamSkipped: "skipped",
		}[fate]
		require.Equal(t, want == "run", got == "run", "%s of %s: %s, and Airflow says %s", rule, row[1], got, want)
		if got != want {
			others[rule+": "+got+", Airflow "+want]++
		}
	}
	require.Equal(t, map[string]int{
		"all_skipped: upstream_failed, Airflow skipped": 105, "one_done: upstream_failed, Airflow skipped": 15,
	}, others)
}

// With plain needs those steps run that make -k and ninja -k 0 run.
func TestStepsRunAsTargetsOfMake(t *testing.T) {
	rows := facts(t, "make-keep-going.tsv")
	require.Len(t, rows, 1000)
	for _, row := range rows {
		n := number(t, row[0])
		def := &wf.Definition{}
		for i := range n {
			def.Steps = append(def.Steps, wf.Step{Name: name(i), Wait: &wf.Wait{ForSec: 1}})
		}
		for _, e := range list(row[1]) {
			from, to, _ := strings.Cut(e, ">")
			k := number(t, to)
			def.Steps[k].Needs = append(def.Steps[k].Needs, wf.Need{Step: "s" + from})
		}
		d := newRun(t, def, failures(list(row[2])), nil)
		d.inOrder()
		var ran []string
		for i := range n {
			if d.State.Steps[i].Fate.Status() != entity.StatusSkipped {
				ran = append(ran, strconv.Itoa(i))
			}
		}
		require.Equal(t, list(row[3]), ran, row)
	}
}
