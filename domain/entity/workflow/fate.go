package workflow

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Fate says what became of a step. Its numbers are stored: new ones come at the end.
type Fate byte

// The fates.
const (
	// FateOpen: nothing is decided yet.
	FateOpen Fate = iota
	// FateLive: the step was started, and has not ended.
	FateLive
	FateSucceeded
	FateFailed
	FateTimedOut
	FateDead
	FateCancelled
	// FateMissed: the engine did not run it, as when its start deadline had passed.
	FateMissed
	// FateInvalid: it could not be started, because a condition or a list could not be evaluated.
	FateInvalid
	FateRejected
	FateCondition
	FateUpstreamFailed
	FateUpstreamSkipped
	FateRunCancelled
	FateRunStopped
	// FateSkippedByHand and FateSucceededByHand are the word of a person.
	FateSkippedByHand
	FateSucceededByHand
	// FateReused: a former run did it.
	FateReused
	// FateEmpty is the success of a map without items.
	FateEmpty
	// FateItemsFailed: more items of a map failed than it tolerates.
	FateItemsFailed
	fates
)

// meaning is what a fate says to others.
type meaning struct {
	status entity.Status
	reason entity.Reason
	class  Class
}

// meanings of final fates. The reason is that of a row that the decision itself makes: an end that comes from outside
// has its own.
func (f Fate) meaning() meaning {
	switch f {
	case FateSucceeded:
		return meaning{entity.StatusSuccess, entity.ReasonNone, ClassSuccess}
	case FateFailed:
		return meaning{entity.StatusFailed, entity.ReasonError, ClassFailure}
	case FateTimedOut:
		return meaning{entity.StatusTimeout, entity.ReasonTimeout, ClassFailure}
	case FateDead:
		return meaning{entity.StatusDead, entity.ReasonError, ClassFailure}
	case FateCancelled:
		return meaning{entity.StatusCancelled, entity.ReasonOperator, ClassFailure}
	case FateMissed:
		return meaning{entity.StatusSkipped, entity.ReasonDeadline, ClassFailure}
	case FateInvalid:
		return meaning{entity.StatusFailed, entity.ReasonInvalid, ClassFailure}
	case FateRejected:
		return meaning{entity.StatusFailed, entity.ReasonRejected, ClassFailure}
	case FateItemsFailed:
		return meaning{entity.StatusFailed, entity.ReasonStepFailed, ClassFailure}
	case FateCondition:
		return meaning{entity.StatusSkipped, entity.ReasonCondition, ClassSkipped}
	case FateUpstreamSkipped:
		return meaning{entity.StatusSkipped, entity.ReasonUpstreamSkipped, ClassSkipped}
	case FateSkippedByHand:
		return meaning{entity.StatusSkipped, entity.ReasonOperator, ClassSkipped}
	case FateUpstreamFailed:
		return meaning{entity.StatusSkipped, entity.ReasonUpstreamFailed, ClassBlocked}
	case FateRunCancelled:
		return meaning{entity.StatusSkipped, entity.ReasonRunCancelled, ClassBlocked}
	case FateRunStopped:
		return meaning{entity.StatusSkipped, entity.ReasonRunStopped, ClassBlocked}
	case FateSucceededByHand:
		return meaning{entity.StatusSuccess, entity.ReasonOperator, ClassSuccess}
	case FateReused:
		return meaning{entity.StatusSuccess, entity.ReasonReused, ClassSuccess}
	case FateEmpty:
		return meaning{entity.StatusSuccess, entity.ReasonNone, ClassSuccess}
	}
	return meaning{}
}

// Final reports whether the step has ended, or will not run.
func (f Fate) Final() bool { return f > FateLive && f < fates }

// Status is the state of the step's row; empty while the step is not final.
func (f Fate) Status() entity.Status { return f.meaning().status }

// Reason is that of a row that the decision makes.
func (f Fate) Reason() entity.Reason { return f.meaning().reason }

// Class is what the fate means for the steps that need this one; empty while it is not final.
func (f Fate) Class() Class { return f.meaning().class }

// FateOf is the fate of a step whose execution ended so, all shards of it.
func FateOf(status entity.Status, reason entity.Reason) Fate {
	switch status {
	case entity.StatusSuccess:
		switch reason {
		case entity.ReasonOperator:
			return FateSucceededByHand
		case entity.ReasonReused:
			return FateReused
		}
		return FateSucceeded
	case entity.StatusTimeout:
		return FateTimedOut
	case entity.StatusDead:
		return FateDead
	case entity.StatusCancelled:
		return FateCancelled
	case entity.StatusSkipped:
		if reason == entity.ReasonOperator {
			return FateSkippedByHand
		}
		return FateMissed
	}
	if reason == entity.ReasonRejected {
		return FateRejected
	}
	return FateFailed
}

// Phase is where a run of a workflow stands.
type Phase byte

// The phases. Their numbers are stored.
const (
	PhaseOpen Phase = iota
	// PhasePaused: ends are recorded, and nothing is decided.
	PhasePaused
	// PhaseCancelling: nothing starts but steps that run last, and what is live is stopped.
	PhaseCancelling
	PhaseClosed
	phases
)

// String is the name of the phase for people and programs.
func (p Phase) String() string {
	if p >= phases {
		return ""
	}
	return [...]string{"OPEN", "PAUSED", "CANCELLING", "CLOSED"}[p]
}

// Phases lists the phases.
func Phases() []Phase { return []Phase{PhaseOpen, PhasePaused, PhaseCancelling, PhaseClosed} }

// Cause says why a run is stopped.
type Cause byte

// The causes. Their numbers are stored.
const (
	CauseNone Cause = iota
	CauseCancelled
	CauseStopped
	CauseTimeout
	// CauseDeleted: the workflow was deleted, so that not even its last steps run.
	CauseDeleted
	causes
)
