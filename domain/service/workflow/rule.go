package workflow

import wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"

// answer is what the needs of a step say of it.
type answer int

const (
	undecided answer = iota
	met
	blocked
	skipped
)

// rule asks the needs of a step. Under ALL it answers when all of them are final, so that the order of their ends means
// nothing; under ANY the first that is met is enough.
func (d *decider) rule(i int) answer {
	step := d.step(i)
	if len(step.Needs) == 0 {
		return met
	}
	final, accepted, succeeded := 0, 0, 0
	refused, wrong := false, false // by a need that failed or was blocked; whether any did
	for k, at := range d.g.needs[i] {
		if !d.s.Steps[at].Decided() {
			continue
		}
		final++
		class := d.s.Steps[at].Fate.Class()
		bad := class == wf.ClassFailure || class == wf.ClassBlocked
		wrong = wrong || bad
		if class == wf.ClassSuccess {
			succeeded++
		}
		if step.Needs[k].Accepts(class) {
			accepted++
		} else if bad {
			refused = true
		}
	}
	switch {
	case step.Any() && accepted > 0:
		return met
	case final < len(step.Needs):
		return undecided
	case step.Any() || accepted < len(step.Needs):
		if refused {
			return blocked
		}
		return skipped
	case succeeded >= step.MinSuccess:
		return met
	case wrong:
		return blocked
	}
	return skipped
}
