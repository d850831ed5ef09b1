package workflow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	check "github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// graphs are all unlabelled graphs without circles of n steps: bit (i, k) says that step k needs step i, with i < k.
func graphs(n int) (out [][][]bool) {
	var pairs [][2]int
	for i := range n {
		for k := i + 1; k < n; k++ {
			pairs = append(pairs, [2]int{i, k})
		}
	}
	orders := permutations(n)
	seen := map[int]bool{}
	for bits := range 1 << len(pairs) {
		edge := make([][]bool, n)
		for i := range edge {
			edge[i] = make([]bool, n)
		}
		for p, pair := range pairs {
			edge[pair[0]][pair[1]] = bits>>p&1 == 1
		}
		least := 1 << (n * n)
		for _, order := range orders {
			code := 0
			for i := range n {
				for k := range n {
					if edge[i][k] {
						code |= 1 << (order[i]*n + order[k])
					}
				}
			}
			least = min(least, code)
		}
		if !seen[least] {
			seen[least] = true
			out = append(out, edge)
		}
	}
	return out
}

func permutations(n int) (out [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			p := append(append(append([]int{}, shorter[:at]...), n-1), shorter[at:]...)
			out = append(out, p)
		}
	}
	return out
}

// There are 1, 2, 6, 31 and 302 such graphs (OEIS A003087).
func TestTheGraphsAreAll(t *testing.T) {
	for n, want := range []int{1, 1, 2, 6, 31, 302} {
		require.Len(t, graphs(n), want, n)
	}
}

// The fates of all graphs of up to five steps, with every outcome of every step, are the same in every order of their
// ends, and those of the other evaluator. Conditions are answered by the third outcome.
func TestNoOrderChangesAFate(t *testing.T) {
	decisions := 0
	for n := 1; n <= 5; n++ {
		for _, edges := range graphs(n) {
			def := &wf.Definition{}
			for k := range n {
				s := wf.Step{Name: name(k), When: "params.x", Wait: &wf.Wait{ForSec: 1}}
				for i := range n {
					if edges[i][k] {
						s.Needs = append(s.Needs, wf.Need{Step: name(i)})
					}
				}
				def.Steps = append(def.Steps, s)
			}
			decisions += everyOutcome(t, def)
		}
	}
	t.Logf("%d decisions", decisions)
}

// everyOutcome tries the three outcomes of each step in every order, and counts the decisions.
func everyOutcome(t *testing.T, def *wf.Definition) (decisions int) {
	g, err := workflow.NewGraph(def)
	require.NoError(t, err)
	n, all := len(def.Steps), 1
	for range n {
		all *= 3
	}
	for code := range all {
		would, values := map[string]check.Fate{}, map[int]workflow.Value{}
		for i, rest := 0, code; i < n; i, rest = i+1, rest/3 {
			would[name(i)] = []check.Fate{check.Success, check.Failure, check.Skipped}[rest%3]
			values[i] = workflow.Value{Holds: rest%3 != 2}
		}
		want := reduced(check.Evaluate(def, would))
		var visit func(state *wf.State, ends []workflow.End)
		visit = func(state *wf.State, ends []workflow.End) {
			decisions++
			d := workflow.Decide(g, state, workflow.Input{Now: noon, Ends: ends, Values: values})
			_, next := d.Take(1000)
			live := 0
			for i := range next.Steps {
				if next.Steps[i].Fate != wf.FateLive {
					continue
				}
				live++
				status := entity.StatusSuccess
				if would[name(i)] == check.Failure {
					status = entity.StatusFailed
				}
				visit(next, []workflow.End{{Key: wf.Key{Name: name(i), Item: wf.Whole, Generation: 1}, Status: status}})
			}
			if live > 0 {
				return
			}
			if d.Close == nil {
				t.Fatalf("%+v ends nowhere with %v", def.Steps, would)
			}
			if got := reduced(fatesOf(def, next)); got != want {
				t.Fatalf("%+v with %v ends as %s, and is to end as %s", def.Steps, would, got, want)
			}
		}
		visit(wf.NewState(def, noon), nil)
	}
	return decisions
}
