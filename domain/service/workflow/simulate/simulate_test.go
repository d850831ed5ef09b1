package simulate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/simulate"
)

// fixed answers conditions by their text: "missing A.B" misses a value.
type fixed struct{}

func (fixed) Holds(when string, facts workflow.Facts) (bool, error) {
	if path, is := strings.CutPrefix(when, "missing "); is {
		return false, &workflow.MissingError{Path: strings.Split(path, ".")}
	}
	if step, is := strings.CutPrefix(when, "status "); is {
		return facts.Ends[step].Status == "SUCCESS", nil
	}
	return false, fmt.Errorf("no such condition")
}

func graph(t *testing.T, text string) *workflow.Graph {
	t.Helper()
	var d wf.Definition
	require.NoError(t, json.Unmarshal([]byte(text), &d), text)
	g, err := workflow.NewGraph(&d)
	require.NoError(t, err)
	return g
}

// fates are the steps of a run with status and reason, and the run's own.
func fates(r simulate.Run) (out string) {
	for _, s := range r.Steps {
		out += fmt.Sprintf("%s %s %s, ", s.Name, s.Status, s.Reason)
	}
	return strings.ReplaceAll(out, " ,", ",") + strings.TrimSpace(fmt.Sprint(r.Outcome.Status, " ", r.Outcome.Reason))
}

const diamond = `{"steps": [
	{"name": "a", "wait": {"forSec": 1}}, {"name": "b", "needs": ["a"], "wait": {"forSec": 1}},
	{"name": "c", "needs": ["a"], "wait": {"forSec": 1}, "tolerate": %t},
	{"name": "d", "needs": ["b", "c"], "wait": {"forSec": 1}},
	{"name": "z", "finally": true, "custom": {"jobClass": "k"}}], "onStepFailure": "%s"}`

// The fates are those of docs/workflows.md: blocked by a failure that no edge asks for, stopped, held and gone on.
func TestFatesOfASimulation(t *testing.T) {
	for _, c := range []struct {
		tolerate bool
		mode     string
		outcomes map[string]simulate.Outcome
		want     string
	}{
		{false, "GO_ON", nil, "a SUCCESS, b SUCCESS, c SUCCESS, d SUCCESS, z SUCCESS, SUCCESS"},
		{
			false, "GO_ON",
			map[string]simulate.Outcome{"c": "TIMEOUT"},
			"a SUCCESS, b SUCCESS, c TIMEOUT TIMEOUT, d SKIPPED UPSTREAM_FAILED, z SUCCESS, FAILED STEP_FAILED",
		},
		{
			true, "GO_ON",
			map[string]simulate.Outcome{"c": "FAILED"},
			"a SUCCESS, b SUCCESS, c FAILED ERROR, d SKIPPED UPSTREAM_FAILED, z SUCCESS, SUCCESS",
		},
		{
			false, "STOP",
			map[string]simulate.Outcome{"b": "FAILED"},
			"a SUCCESS, b FAILED ERROR, c CANCELLED OPERATOR, d SKIPPED RUN_STOPPED, z SUCCESS, FAILED STEP_FAILED",
		},
		{
			false, "HOLD",
			map[string]simulate.Outcome{"a": "DEAD", "z": "FAILED"},
			"a DEAD ERROR, b SKIPPED UPSTREAM_FAILED, c SKIPPED UPSTREAM_FAILED, d SKIPPED UPSTREAM_FAILED, z FAILED ERROR, " +
				"FAILED STEP_FAILED",
		},
		{
			false, "",
			map[string]simulate.Outcome{"z": "FAILED"},
			"a SUCCESS, b SUCCESS, c SUCCESS, d SUCCESS, z FAILED ERROR, FAILED FINALLY_FAILED",
		},
	} {
		g := graph(t, fmt.Sprintf(diamond, c.tolerate, c.mode))
		r, err := simulate.First(g, simulate.Plan{Outcomes: c.outcomes}, fixed{})
		require.NoError(t, err)
		require.Equal(t, c.want, fates(r))
	}
}

// Each step says which need, which end and which rule made its fate.
func TestTheReasonsInWords(t *testing.T) {
	g := graph(t, `{"onStepFailure": "HOLD", "steps": [
		{"name": "a", "wait": {"forSec": 1}},
		{"name": "b", "needs": [{"step": "a", "on": ["failure", "skipped"]}], "wait": {"forSec": 1}},
		{"name": "c", "needs": ["a"], "when": "status a", "wait": {"forSec": 1}},
		{"name": "d", "needs": ["c", "f"], "join": "ANY", "wait": {"forSec": 1}},
		{"name": "e", "needs": [{"step": "a", "on": "done"}, {"step": "b", "on": "done"}], "minSuccess": 2,
		 "wait": {"forSec": 1}},
		{"name": "f", "wait": {"forSec": 1}},
		{"name": "g", "needs": ["f"], "wait": {"forSec": 1}},
		{"name": "h", "needs": [{"step": "g", "on": "success"}], "wait": {"forSec": 1}},
		{"name": "i", "needs": ["a"], "when": "missing steps.a.output.x", "wait": {"forSec": 1}},
		{"name": "j", "needs": [{"step": "f", "on": "unsuccessful"}], "when": "missing steps.f.output.x",
		 "wait": {"forSec": 1}},
		{"name": "k", "needs": ["a"], "when": "missing params.p", "wait": {"forSec": 1}},
		{"name": "l", "needs": ["a"], "when": "status a", "wait": {"forSec": 1}},
		{"name": "m", "when": "nonsense", "wait": {"forSec": 1}}]}`)
	r, err := simulate.First(g, simulate.Plan{
		Outcomes: map[string]simulate.Outcome{"f": "FAILED", "m": "FAILED"}, When: map[string]bool{"l": false},
	}, fixed{})
	require.NoError(t, err)
	for i, want := range []string{
		"SUCCESS it needs no other step",
		"SKIPPED it asks for failure or skipped of a, which ended as success: it is skipped, as no failure is in the way",
		"SUCCESS its needs are met: a ended as success; its condition is true",
		"SUCCESS one of its needs is enough (join ANY): c ended as success",
		"SKIPPED 1 of its needs succeeded, and minSuccess is 2, and none failed, so it is skipped",
		"FAILED it needs no other step; an edge asks for its failure",
		"SKIPPED it asks for success of f, which ended as failure: a failure that no edge asks for blocks it",
		"SKIPPED it asks for success of g, which ended as blocked: a failure that no edge asks for blocks it",
		"SUCCESS its needs are met: a ended as success; its condition is taken to hold, as steps.a.output.x is not known " +
			"(--when i=false for the other case)",
		"FAILED its needs are met: f ended as failure; but its condition, or its list, cannot be evaluated; " +
			"steps.f.output.x has no value in this run; " +
			"it is held (onStepFailure HOLD); nobody acts here, so the workflow run goes on after holdSec",
		"SUCCESS its needs are met: a ended as success; its condition is taken to hold, as params.p is not known " +
			"(--when k=false for the other case)",
		"SKIPPED its needs are met: a ended as success; but its condition does not hold: status a; its condition was " +
			"said to be false",
		"FAILED it needs no other step; but its condition, or its list, cannot be evaluated; no such condition; " +
			"it is held (onStepFailure HOLD); nobody acts here, so the workflow run goes on after holdSec",
	} {
		require.Equal(t, want, string(r.Steps[i].Status)+" "+r.Steps[i].Why, r.Steps[i].Name)
	}
}

const mapped = `{"steps": [{"name": "m", "forEach": {"items": %s, "maxParallel": 2, "tolerate": {"count": 1}},
	"custom": {"jobClass": "k"}}, {"name": "n", "needs": ["m"], "wait": {"forSec": 1}}]}`

// A map ends by what it tolerates: one more failure, and no further item starts.
func TestMapsOfASimulation(t *testing.T) {
	for _, c := range []struct {
		list     string
		items    map[string]int
		outcomes map[string]simulate.Outcome
		want     string
		counts   *workflow.Counts
	}{
		{`"${item}"`, nil, nil, "m SUCCESS, n SUCCESS, SUCCESS", &workflow.Counts{Total: 1, Succeeded: 1}},
		{`[1,2,3]`, nil, nil, "m SUCCESS, n SUCCESS, SUCCESS", &workflow.Counts{Total: 3, Succeeded: 3}},
		{`[]`, nil, nil, "m SUCCESS, n SUCCESS, SUCCESS", nil},
		{
			`[1]`,
			map[string]int{"m": 5},
			map[string]simulate.Outcome{"m[3]": "DEAD"},
			"m SUCCESS, n SUCCESS, SUCCESS",
			&workflow.Counts{Total: 5, Succeeded: 4, Failed: 1},
		},
		{
			`[1,2,3,4,5]`, nil,
			map[string]simulate.Outcome{"m": "FAILED", "m[4]": "SUCCESS"},
			"m FAILED STEP_FAILED, n SKIPPED UPSTREAM_FAILED, FAILED STEP_FAILED",
			&workflow.Counts{Total: 5, Failed: 3, NotRun: 2},
		},
	} {
		g := graph(t, fmt.Sprintf(mapped, c.list))
		r, err := simulate.First(g, simulate.Plan{Items: c.items, Outcomes: c.outcomes}, fixed{})
		require.NoError(t, err)
		require.Equal(t, c.want, fates(r), c.list)
		require.Equal(t, c.counts, r.Steps[0].Counts, c.list)
	}
}

// No order of ends changes a fate, but where a failure stops what is live.
func TestAllOrders(t *testing.T) {
	outcomes := map[string]simulate.Outcome{"b": "FAILED"}
	e, err := simulate.All(graph(t, fmt.Sprintf(diamond, false, "GO_ON")), simulate.Plan{Outcomes: outcomes}, fixed{})
	require.NoError(t, err)
	require.Len(t, e.Runs, 1)
	require.True(t, e.Whole)
	require.Equal(t, 6, e.States, "before a, after a, after b, after c, after both, closed")

	e, err = simulate.All(graph(t, fmt.Sprintf(diamond, false, "STOP")), simulate.Plan{Outcomes: outcomes}, fixed{})
	require.NoError(t, err)
	require.Len(t, e.Runs, 2, "c has ended before, or is cancelled")
	var ends []string
	for _, r := range e.Runs {
		ends = append(ends, string(r.Steps[2].Status))
	}
	require.ElementsMatch(t, []string{"SUCCESS", "CANCELLED"}, ends)

	nothing := `{"steps": [{"name": "a", "when": "status b", "wait": {"forSec": 1}}]}`
	e, err = simulate.All(graph(t, nothing), simulate.Plan{}, fixed{})
	require.NoError(t, err)
	require.Len(t, e.Runs, 1)
	require.Equal(t, "a SKIPPED CONDITION, SUCCESS", fates(e.Runs[0]))
	require.True(t, e.Whole)

	wide := `{"steps": [`
	for i := range 20 {
		wide += fmt.Sprintf(`{"name": "s%d", "wait": {"forSec": 1}},`, i)
	}
	e, err = simulate.All(graph(t, strings.TrimSuffix(wide, ",")+`]}`), simulate.Plan{}, fixed{})
	require.NoError(t, err)
	require.False(t, e.Whole)
	require.Equal(t, simulate.MaxStates, e.States)
}

// A seed gives one order, and other seeds give others.
func TestRandomOrders(t *testing.T) {
	g := graph(t, fmt.Sprintf(diamond, false, "GO_ON"))
	orders := map[string]bool{}
	for seed := range uint64(20) {
		r, err := simulate.Random(g, simulate.Plan{}, fixed{}, seed)
		require.NoError(t, err)
		again, err := simulate.Random(g, simulate.Plan{}, fixed{}, seed)
		require.NoError(t, err)
		require.Equal(t, r, again)
		order := ""
		for _, s := range r.Steps {
			order += fmt.Sprint(s.Position)
		}
		orders[order] = true
	}
	require.Equal(t, map[string]bool{"12345": true, "13245": true}, orders)
}

// A plan that does not fit names what is there.
func TestPlansThatDoNotFit(t *testing.T) {
	g := graph(t, fmt.Sprintf(mapped, "[1,2]"))
	p := simulate.Plan{
		Outcomes: map[string]simulate.Outcome{
			"mm": "FAILED", "m[2]": "FAILED", "n[0]": "FAILED", "n": "REJECTED", "m": "BROKEN", "N": "FAILED", "m~2": "FAILED",
		},
		Items: map[string]int{"n": 1, "m": 2, "o": 1}, When: map[string]bool{"m": true},
	}
	require.Equal(t, []string{
		`outcome: "N" is no step; write NAME, or NAME[3] for an item of a map`,
		`outcome: "BROKEN" is none; choose one of SUCCESS, FAILED, TIMEOUT, CANCELLED, SKIPPED, DEAD, REJECTED`,
		"outcome: m has 2 items here, counted from 0; say --items m=3",
		`outcome: "mm" is no step of the workflow; did you mean "m"?`,
		`outcome: "m~2" is no step; write NAME, or NAME[3] for an item of a map`,
		"outcome: n is no approval, and is not rejected; FAILED is the word",
		"outcome: n has no forEach, and so no item 0",
		"items: n has no forEach",
		`items: "o" is no step of the workflow; did you mean "m"?`,
		"when: m has no condition",
	}, p.Check(g))
	require.Empty(t, (&simulate.Plan{Items: map[string]int{"m": 0}}).Check(g))
}
