// Package workflow decides what becomes of the steps of a workflow run (docs/workflows.md). It asks nobody: the same
// definition, state and ends always give the same decision.
package workflow

import (
	"fmt"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Graph is a definition made ready for decisions. It is immutable and safe for concurrent use.
type Graph struct {
	def    *wf.Definition
	byName map[string]int
	// needs are, for each step, the positions of the steps in its Needs.
	needs [][]int
	// order has each step that does not run last, after all that it needs; last has the others.
	order, last []int
	// awaited: an edge asks for a failure of the step.
	awaited []bool
}

// NewGraph prepares a definition. Its error is for one that validation would have refused.
func NewGraph(d *wf.Definition) (*Graph, error) {
	n := len(d.Steps)
	if n == 0 || n > wf.MaxSteps {
		return nil, fmt.Errorf("a workflow has 1 to %d steps; this one has %d", wf.MaxSteps, n)
	}
	g := &Graph{def: d, byName: make(map[string]int, n), needs: make([][]int, n), awaited: make([]bool, n)}
	for i := range d.Steps {
		if _, twice := g.byName[d.Steps[i].Name]; twice {
			return nil, fmt.Errorf("two steps are named %s", d.Steps[i].Name)
		}
		g.byName[d.Steps[i].Name] = i
	}
	for i := range d.Steps {
		for k := range d.Steps[i].Needs {
			need := &d.Steps[i].Needs[k]
			at, known := g.byName[need.Step]
			if !known || d.Steps[at].Finally || d.Steps[i].Finally {
				return nil, fmt.Errorf("the step %s cannot need %s", d.Steps[i].Name, need.Step)
			}
			g.needs[i] = append(g.needs[i], at)
			g.awaited[at] = g.awaited[at] || need.Accepts(wf.ClassFailure)
		}
	}
	if !g.sort() {
		return nil, fmt.Errorf("steps need one another in a circle")
	}
	return g, nil
}

// sort puts each step after the ones that it needs; false where that cannot be.
func (g *Graph) sort() bool {
	open := make([]int, len(g.needs)) // of each step the needs that are not placed yet
	followers := make([][]int, len(g.needs))
	for i, needs := range g.needs {
		open[i] = len(needs)
		for _, at := range needs {
			followers[at] = append(followers[at], i)
		}
	}
	for i := range g.needs {
		switch {
		case g.def.Steps[i].Finally:
			g.last = append(g.last, i)
		case open[i] == 0:
			g.order = append(g.order, i)
		}
	}
	for at := 0; at < len(g.order); at++ {
		for _, i := range followers[g.order[at]] {
			if open[i]--; open[i] == 0 {
				g.order = append(g.order, i)
			}
		}
	}
	return len(g.order)+len(g.last) == len(g.needs)
}

// Definition is what the graph was made of.
func (g *Graph) Definition() *wf.Definition { return g.def }

// Step is the position of a step by its name.
func (g *Graph) Step(name string) (int, bool) {
	i, known := g.byName[name]
	return i, known
}

// Order lists the steps, each after all that it needs.
func (g *Graph) Order() []int { return append(append([]int{}, g.order...), g.last...) }

// Needs are the positions of the steps that a step needs, in the order of its Needs.
func (g *Graph) Needs(step int) []int { return g.needs[step] }

// alarming reports whether a failure of the step is one that no edge asks for, and that nobody tolerates.
func (g *Graph) alarming(step int) bool {
	s := &g.def.Steps[step]
	return !s.Tolerate && !s.Finally && !g.awaited[step]
}
