package workflow

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// RetryCause says why a retry repeats a step, or does not.
type RetryCause string

// The causes, of which the last four are those of steps that are not repeated.
const (
	CauseFinally    RetryCause = "FINALLY"
	CauseNamed      RetryCause = "NAMED"
	CauseNotDecided RetryCause = "NOT_DECIDED"
	CauseFailed     RetryCause = "FAILED"
	CauseNotRun     RetryCause = "NOT_RUN"
	CauseFollows    RetryCause = "FOLLOWS"
	CauseSkipped    RetryCause = "SKIPPED"
	CauseApproved   RetryCause = "APPROVED"
	CauseItems      RetryCause = "ITEMS"
	CauseSucceeded  RetryCause = "SUCCEEDED"
)

// RetryAction is what a retry does with a step.
type RetryAction string

// The actions.
const (
	ActionRepeat RetryAction = "REPEAT"
	ActionReuse  RetryAction = "REUSE"
)

// Repetition says what the retry of a run does with one of its steps.
type Repetition struct {
	// Repeat: the step is decided anew. Else the retry keeps to what the former run came to.
	Repeat bool
	Cause  RetryCause
	// Follows is the repeated step that it follows, for that cause.
	Follows string
	// Why says so in words.
	Why string
}

// Action is what the retry does with the step.
func (r Repetition) Action() RetryAction {
	if r.Repeat {
		return ActionRepeat
	}
	return ActionReuse
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
			return nil, g.NoStepIn("from", name)
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
	repeat := func(cause RetryCause, why string) Repetition { return Repetition{Repeat: true, Cause: cause, Why: why} }
	switch class := state.Fate.Class(); {
	case step.Finally:
		return repeat(CauseFinally, "it runs last in every workflow run (finally)")
	case named:
		return repeat(CauseNamed, "it is named in from")
	case class == "":
		return repeat(CauseNotDecided, "nothing was decided of it, or it had not ended")
	case class == wf.ClassFailure:
		return repeat(CauseFailed, "it ended as "+string(state.Fate.Status()))
	case class == wf.ClassBlocked:
		return repeat(CauseNotRun, "it did not run ("+string(state.Fate.Reason())+")")
	}
	for _, at := range g.needs[i] {
		if name := g.def.Steps[at].Name; before[at].Repeat {
			return Repetition{true, CauseFollows, name, "it follows " + name + ", which is repeated"}
		}
	}
	return kept(step, state)
}

// kept says what a retry keeps of a step that it does not repeat.
func kept(step *wf.Step, state *wf.StepState) Repetition {
	keep := func(cause RetryCause, why string) Repetition { return Repetition{Cause: cause, Why: why} }
	switch items := state.Items; {
	case state.Fate.Class() == wf.ClassSkipped:
		return keep(CauseSkipped, "it was skipped ("+string(state.Fate.Reason())+"), and stays so")
	case step.Approval != nil:
		return keep(CauseApproved, "it was approved, and nobody is asked again")
	case items != nil && items.Failed.CountBelow(items.Total) > 0:
		return keep(CauseItems, fmt.Sprintf("it succeeded although %d of its %d items failed; the results of the others are "+
			"reused", items.Failed.CountBelow(items.Total), items.Total))
	case items != nil:
		return keep(CauseItems, fmt.Sprintf("the results of its %d items are reused", items.Total))
	}
	return keep(CauseSucceeded, "it succeeded, and its result is reused")
}
