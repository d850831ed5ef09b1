package workflow

import (
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Repetition says what the retry of a run does with one of its steps.
type Repetition struct {
	// Repeat: the step is decided anew. Else the retry keeps to what the former run came to.
	Repeat bool
	// Why says so in words.
	Why string
}

// Repetitions says of each step, by its position, what a retry of a closed run does with it. It repeats each step that
// failed or did not run because of a failure, those that are named, all that follow a repeated one, and those that run
// last. A step that was skipped by choice stays so, unless it follows.
func Repetitions(g *Graph, s *wf.State, from []string) ([]Repetition, error) {
	named := make(map[int]bool, len(from))
	for _, name := range from {
		i, known := g.byName[name]
		switch {
		case !known:
			return nil, apperror.InvalidField("from", "unknown_step", fmt.Sprintf(
				"the workflow has no step %.40q in the version of the run; its steps are %s", name, g.names()))
		case !s.Steps[i].Fate.Final():
			return nil, apperror.InvalidField("from", "not_decided", fmt.Sprintf(
				"nothing was decided of the step %s in that run, so it is repeated anyway; leave it out", name))
		}
		named[i] = true
	}
	out := make([]Repetition, len(s.Steps))
	for _, i := range g.Order() {
		out[i] = g.repetition(s, i, named[i], out)
	}
	return out, nil
}

// repetition decides about a step; before has what is decided of the steps that it needs.
func (g *Graph) repetition(s *wf.State, i int, named bool, before []Repetition) Repetition {
	step, state := &g.def.Steps[i], &s.Steps[i]
	switch class := state.Fate.Class(); {
	case step.Finally:
		return Repetition{true, "it runs last in every workflow run (finally)"}
	case named:
		return Repetition{true, "it is named in from"}
	case class == "":
		return Repetition{true, "nothing was decided of it, or it had not ended"}
	case class == wf.ClassFailure:
		return Repetition{true, "it ended as " + string(state.Fate.Status())}
	case class == wf.ClassBlocked:
		return Repetition{true, "it did not run (" + string(state.Fate.Reason()) + ")"}
	}
	for _, at := range g.needs[i] {
		if before[at].Repeat {
			return Repetition{true, "it follows " + g.def.Steps[at].Name + ", which is repeated"}
		}
	}
	return Repetition{false, kept(step, state)}
}

// kept says what a retry keeps of a step that it does not repeat.
func kept(step *wf.Step, state *wf.StepState) string {
	switch items := state.Items; {
	case state.Fate.Class() == wf.ClassSkipped:
		return "it was skipped (" + string(state.Fate.Reason()) + "), and stays so"
	case step.Approval != nil:
		return "it was approved, and nobody is asked again"
	case items != nil && items.Failed.CountBelow(items.Total) > 0:
		return fmt.Sprintf("it succeeded although %d of its %d items failed; the results of the others are reused",
			items.Failed.CountBelow(items.Total), items.Total)
	case items != nil:
		return fmt.Sprintf("the results of its %d items are reused", items.Total)
	}
	return "it succeeded, and its result is reused"
}

// names are some steps of the workflow.
func (g *Graph) names() string {
	const most = 20
	var names []string
	for i := range g.def.Steps {
		if i == most {
			names = append(names, "…")
			break
		}
		names = append(names, g.def.Steps[i].Name)
	}
	return strings.Join(names, ", ")
}
