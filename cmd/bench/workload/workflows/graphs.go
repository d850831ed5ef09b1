package workflows

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

const (
	// chainSteps, graphSteps and mapItems are the sizes of the workflows that are compared.
	chainSteps = 10
	graphSteps = 200
	mapItems   = 10_000
	// mapParallel is how many items of a map are live at once.
	mapParallel = 256
	// near is how far back the needs of a step of a random graph reach, and mostNeeds how many there are at most. So a
	// graph is about as deep as it is wide.
	near      = 20
	mostNeeds = 3
)

// stepClass is the handler of the steps.
const stepClass = "step"

func step(i int, needs ...int) wf.Step {
	s := wf.Step{Name: fmt.Sprintf("s%d", i), Custom: &wf.Custom{JobClass: stepClass}}
	for _, n := range needs {
		s.Needs = append(s.Needs, wf.Need{Step: fmt.Sprintf("s%d", n)})
	}
	return s
}

// chain is a workflow of steps that follow one another.
func chain() *wf.Definition {
	d := &wf.Definition{Steps: []wf.Step{step(0)}}
	for i := 1; i < chainSteps; i++ {
		d.Steps = append(d.Steps, step(i, i-1))
	}
	return d
}

// randomGraph is a workflow whose steps each need one to three of those shortly before.
func randomGraph(r *rand.Rand) *wf.Definition {
	d := &wf.Definition{Steps: []wf.Step{step(0)}}
	for i := 1; i < graphSteps; i++ {
		from := max(i-near, 0)
		needs := r.Perm(i - from)[:min(1+r.IntN(mostNeeds), i-from)]
		for k := range needs {
			needs[k] += from
		}
		d.Steps = append(d.Steps, step(i, needs...))
	}
	return d
}

// wideMap is a workflow of one step over so many items.
func wideMap(n int) *wf.Definition {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	text, _ := json.Marshal(items) // numbers always marshal
	s := step(0)
	s.ForEach = &wf.ForEach{Items: text, MaxParallel: mapParallel}
	return &wf.Definition{Steps: []wf.Step{s}}
}

// itemsOf are the items of a map; 0 for other steps.
func itemsOf(s *wf.Step) int {
	var items []int
	if s.ForEach == nil || json.Unmarshal(s.ForEach.Items, &items) != nil {
		return 0
	}
	return len(items)
}

// executions are how many handler entries one run has, and edges how many of them follow another one. Each item of a
// map follows one that ended, but for the first of its window.
func executions(d *wf.Definition) (all, edges int) {
	for i := range d.Steps {
		switch s := &d.Steps[i]; {
		case s.ForEach != nil:
			all, edges = all+itemsOf(s), edges+itemsOf(s)
		case len(s.Needs) > 0:
			all, edges = all+1, edges+1
		default:
			all++
		}
	}
	return all, edges
}
