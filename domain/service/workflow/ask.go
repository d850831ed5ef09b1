package workflow

import (
	"slices"
	"time"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// verb does what a person asks of a step. A verb that does not fit the step changes nothing: it came too late.
func (d *decider) verb(a Asked) {
	if a.Step < 0 || a.Step >= len(d.s.Steps) || !slices.Contains(Verbs(d.s, a.Step), a.Verb) {
		return
	}
	s := &d.s.Steps[a.Step]
	if a.Verb == CancelItems {
		s.Items.Cancelled = true
		return
	}
	s.Generation++
	s.HeldUntil = time.Time{}
	switch a.Verb {
	case Repeat:
		s.Fate, s.Owed = wf.FateOpen, false
	case Skip:
		s.Fate, s.Owed, s.Items = wf.FateSkippedByHand, true, nil
	case Succeed:
		s.Fate, s.Owed, s.Items = wf.FateSucceededByHand, true, nil
	case CancelItems:
	}
}

// Verbs are those that a person may ask of a step now. A step whose successors are decided has none: only a retry of
// the run repeats it.
func Verbs(s *wf.State, step int) []Verb {
	one := &s.Steps[step]
	switch {
	case s.Phase != wf.PhaseOpen && s.Phase != wf.PhasePaused:
	case one.Fate == wf.FateLive && one.Items != nil && !one.Items.Cancelled:
		return []Verb{CancelItems}
	case one.Held() && !one.Owed && one.Generation < wf.MaxGeneration:
		return []Verb{Repeat, Skip, Succeed}
	}
	return nil
}

// command does what somebody asks of the run.
func (d *decider) command() {
	over := d.decided(d.g.order) && d.decided(d.g.last)
	switch d.in.Command {
	case Pause:
		if d.s.Phase == wf.PhaseOpen && !over {
			d.s.Phase = wf.PhasePaused
		}
	case Resume:
		if d.s.Phase == wf.PhasePaused {
			d.s.Phase = wf.PhaseOpen
		}
	case Cancel:
		if d.s.Phase != wf.PhaseCancelling && !over {
			d.s.Phase, d.s.Cause = wf.PhaseCancelling, wf.CauseCancelled
		}
	case Delete:
		if !over {
			d.s.Phase, d.s.Cause = wf.PhaseCancelling, wf.CauseDeleted
		}
	}
}

// time does what follows from the moment alone.
func (d *decider) time() {
	if at := d.timeout(); !at.IsZero() && !d.in.Now.Before(at) && !(d.decided(d.g.order) && d.decided(d.g.last)) {
		d.s.Phase, d.s.Cause = wf.PhaseCancelling, wf.CauseTimeout
	}
	if d.s.Phase != wf.PhaseOpen {
		return
	}
	for i := range d.s.Steps {
		if s := &d.s.Steps[i]; s.Held() && !d.in.Now.Before(s.HeldUntil) {
			s.HeldUntil = time.Time{}
		}
	}
}

// timeout is when the run is stopped because it takes too long; zero is never.
func (d *decider) timeout() time.Time {
	if d.g.def.TimeoutSec <= 0 || d.s.Phase != wf.PhaseOpen && d.s.Phase != wf.PhasePaused {
		return time.Time{}
	}
	return d.s.Opened.Add(time.Duration(d.g.def.TimeoutSec) * time.Second)
}

func (d *decider) wake() time.Time {
	at := d.timeout()
	for i := range d.s.Steps {
		until := d.s.Steps[i].HeldUntil
		if d.s.Phase == wf.PhaseOpen && !until.IsZero() && (at.IsZero() || until.Before(at)) {
			at = until
		}
	}
	return at
}

// drop ends all of some steps that is not live, as the run is stopped. Steps that were to start, and are not stored,
// do not start.
func (d *decider) drop(steps []int) {
	fate := wf.FateRunCancelled
	if d.s.Cause == wf.CauseStopped {
		fate = wf.FateRunStopped
	}
	for _, i := range steps {
		s := &d.s.Steps[i]
		s.HeldUntil = time.Time{}
		switch {
		case s.Fate == wf.FateOpen, s.Fate == wf.FateLive && s.Owed:
			s.Items = nil
			d.end(i, fate, true)
		case s.Fate == wf.FateLive && s.Items != nil:
			s.Items.Cancelled = true
		}
	}
}

// cancels are the live executions that are to be stopped.
func (d *decider) cancels() (keys []wf.Key) {
	for i := range d.s.Steps {
		s := &d.s.Steps[i]
		stopped := d.s.Phase == wf.PhaseCancelling && (!d.step(i).Finally || d.s.Cause == wf.CauseDeleted)
		switch {
		case s.Fate != wf.FateLive || s.Owed:
		case s.Items == nil && stopped:
			keys = append(keys, d.key(i, wf.Whole))
		case s.Items != nil && s.Items.Cancelled:
			for item := range s.Items.Inserted {
				if !s.Items.Final.Has(item) {
					keys = append(keys, d.key(i, item))
				}
			}
		}
	}
	return keys
}

func (d *decider) key(i, item int) wf.Key {
	return wf.Key{Name: d.step(i).Name, Item: item, Generation: d.s.Steps[i].Generation}
}
