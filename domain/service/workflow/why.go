package workflow

import (
	"fmt"
	"slices"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Why says in words why a step came to where it stands: which need, how that ended, and which rule followed.
func Why(g *Graph, s *wf.State, i int) string {
	step, state := &g.def.Steps[i], &s.Steps[i]
	switch state.Fate {
	case wf.FateOpen:
		return "nothing is decided: " + waiting(g, s, i)
	case wf.FateUpstreamFailed:
		return blockedBy(g, s, i)
	case wf.FateUpstreamSkipped:
		return skippedBy(g, s, i)
	case wf.FateRunCancelled:
		return "it had not started when the workflow run was cancelled, or took too long"
	case wf.FateRunStopped:
		return "it had not started when a failure stopped the workflow run (onStepFailure STOP)"
	case wf.FateReused:
		return "a former workflow run did it"
	}
	why := started(g, s, i)
	switch {
	case state.Fate == wf.FateCondition:
		return why + "; but its condition does not hold: " + step.When
	case state.Fate == wf.FateInvalid:
		return why + "; but its condition, or its list, cannot be evaluated"
	case state.Fate == wf.FateEmpty:
		return why + "; its list is empty, which is a success"
	case state.Fate == wf.FateSkippedByHand || state.Fate == wf.FateSucceededByHand:
		return why + "; a person decided what it came to"
	case state.Items != nil:
		why += "; " + itemsSaid(step, state.Items)
	}
	return why + failed(g, s, i)
}

// started says why a step was to run.
func started(g *Graph, s *wf.State, i int) string {
	step := &g.def.Steps[i]
	switch {
	case step.Finally:
		return "it runs last, whatever became of the others (finally)"
	case len(step.Needs) == 0:
		return "it needs no other step"
	}
	var met []string
	for k, at := range g.needs[i] {
		if class := s.Steps[at].Fate.Class(); s.Steps[at].Decided() && step.Needs[k].Accepts(class) {
			met = append(met, step.Needs[k].Step+" ended as "+string(class))
		}
	}
	if step.Any() {
		return "one of its needs is enough (join ANY): " + strings.Join(met, ", ")
	}
	why := "its needs are met: " + strings.Join(met, ", ")
	if step.MinSuccess > 0 {
		why += fmt.Sprintf("; at least %d of them succeeded (minSuccess)", step.MinSuccess)
	}
	return why
}

// unmet lists the needs that ended in a way that was not asked for, of the classes given.
func unmet(g *Graph, s *wf.State, i int, classes ...wf.Class) (said []string) {
	step := &g.def.Steps[i]
	for k, at := range g.needs[i] {
		need, class := &step.Needs[k], s.Steps[at].Fate.Class()
		if !need.Accepts(class) && slices.Contains(classes, class) {
			said = append(said, fmt.Sprintf("it asks for %s of %s, which ended as %s", asked(need), need.Step, class))
		}
	}
	return said
}

func asked(n *wf.Need) string {
	if n.On == nil {
		return string(wf.ClassSuccess)
	}
	words := make([]string, len(n.On))
	for i, w := range n.On {
		words[i] = string(w)
	}
	return strings.Join(words, " or ")
}

func blockedBy(g *Graph, s *wf.State, i int) string {
	if said := unmet(g, s, i, wf.ClassFailure, wf.ClassBlocked); len(said) > 0 {
		return strings.Join(said, "; ") + ": a failure that no edge asks for blocks it"
	}
	return tooFew(g, s, i) + ", and one of them failed or was blocked, which blocks it"
}

func skippedBy(g *Graph, s *wf.State, i int) string {
	if said := unmet(g, s, i, wf.ClassSuccess, wf.ClassSkipped); len(said) > 0 {
		return strings.Join(said, "; ") + ": it is skipped, as no failure is in the way"
	}
	return tooFew(g, s, i) + ", and none failed, so it is skipped"
}

// tooFew says that minSuccess was missed.
func tooFew(g *Graph, s *wf.State, i int) string {
	succeeded := 0
	for _, at := range g.needs[i] {
		if s.Steps[at].Fate.Class() == wf.ClassSuccess {
			succeeded++
		}
	}
	return fmt.Sprintf("%d of its needs succeeded, and minSuccess is %d", succeeded, g.def.Steps[i].MinSuccess)
}

// waiting says which needs are not final.
func waiting(g *Graph, s *wf.State, i int) string {
	var open []string
	for _, at := range g.needs[i] {
		switch {
		case s.Steps[at].Held():
			open = append(open, g.def.Steps[at].Name+" is held")
		case !s.Steps[at].Decided():
			open = append(open, g.def.Steps[at].Name+" has not ended")
		}
	}
	if len(open) == 0 {
		return "the others have not ended"
	}
	return strings.Join(open, ", ")
}

// itemsSaid says what became of the items of a map, and what it tolerates.
func itemsSaid(step *wf.Step, m *wf.Items) string {
	c := CountsOf(m)
	said := fmt.Sprintf("of %d items %d succeeded, %d failed and %d did not run", c.Total, c.Succeeded, c.Failed, c.NotRun)
	switch t := step.ForEach.Tolerate; {
	case t == nil:
	case t.Percent > 0:
		said += fmt.Sprintf("; it tolerates %d %%", t.Percent)
	default:
		said += fmt.Sprintf("; it tolerates %d", t.Count)
	}
	return said
}

// failed says what the failure of a step means for the run.
func failed(g *Graph, s *wf.State, i int) string {
	step, state := &g.def.Steps[i], &s.Steps[i]
	switch {
	case state.Fate.Class() != wf.ClassFailure:
		return ""
	case step.Tolerate:
		return "; its failure is tolerated"
	case g.awaited[i]:
		return "; an edge asks for its failure"
	case state.Held():
		return "; it is held for a person (onStepFailure HOLD)"
	}
	return ""
}
