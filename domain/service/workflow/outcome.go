package workflow

import (
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Outcome is what a whole run came to.
type Outcome struct {
	Status entity.Status
	Reason entity.Reason
	// Warnings counts failures that are tolerated.
	Warnings int
}

// outcome is set when every step is final.
func (d *decider) outcome() *Outcome {
	if !d.decided(d.g.order) || !d.decided(d.g.last) {
		return nil
	}
	o := OutcomeOf(d.g, d.s)
	return &o
}

// OutcomeOf folds the steps that are final. Steps that run last see it as ${run.outcome}, when all others are final.
func OutcomeOf(g *Graph, s *wf.State) Outcome {
	failed, lastFailed, warnings := false, false, 0
	for i := range s.Steps {
		step := &g.def.Steps[i]
		switch {
		case s.Steps[i].Fate.Class() != wf.ClassFailure:
		case step.Tolerate:
			warnings++
		case step.Finally:
			lastFailed = true
		default:
			failed = true
		}
	}
	o := Outcome{Status: entity.StatusSuccess, Warnings: warnings}
	switch {
	case s.Cause == wf.CauseCancelled:
		o.Status = entity.StatusCancelled
	case s.Cause == wf.CauseDeleted:
		o.Status, o.Reason = entity.StatusCancelled, entity.ReasonDeleted
	case s.Cause == wf.CauseTimeout:
		o.Status, o.Reason = entity.StatusTimeout, entity.ReasonTimeout
	case failed || s.Cause == wf.CauseStopped:
		o.Status, o.Reason = entity.StatusFailed, entity.ReasonStepFailed
	case lastFailed:
		o.Status, o.Reason = entity.StatusFailed, entity.ReasonFinallyFailed
	}
	return o
}

// Close marks the state of a run that is closed. Later ends change nothing.
func Close(s *wf.State) *wf.State {
	s = s.Clone()
	s.Phase = wf.PhaseClosed
	return s
}
