package entity

import "slices"

// Status is the state of an execution.
type Status string

// The states. All but WAITING and RUNNING are final.
const (
	StatusWaiting   Status = "WAITING"
	StatusRunning   Status = "RUNNING"
	StatusSuccess   Status = "SUCCESS"
	StatusFailed    Status = "FAILED"
	StatusTimeout   Status = "TIMEOUT"
	StatusCancelled Status = "CANCELLED"
	StatusSkipped   Status = "SKIPPED"
	StatusDead      Status = "DEAD"
)

// Statuses lists every state, in the order of a run's life.
func Statuses() []Status {
	return []Status{
		StatusWaiting, StatusRunning, StatusSuccess, StatusFailed,
		StatusTimeout, StatusCancelled, StatusSkipped, StatusDead,
	}
}

// Final reports whether no transition leaves the state (engine rule 19).
func (s Status) Final() bool { return s != StatusWaiting && s != StatusRunning }

// FailedStatuses lists the states of which Failed is true.
func FailedStatuses() []Status {
	return slices.DeleteFunc(Statuses(), func(s Status) bool { return !s.Failed() })
}

// Failed reports whether an execution in the state was to run to its end, and did not.
// Nothing is wrong with one that a person cancelled.
func (s Status) Failed() bool { return s == StatusFailed || s == StatusTimeout || s == StatusDead }

// Next lists the states that may follow s; docs/state-machine.md draws them
// and a test holds the two together. An execution is born WAITING (it must
// wait), RUNNING (direct start) or SKIPPED (decided not to run); a poison row
// is born FAILED, and a step of a workflow in the state to which it was decided.
func (s Status) Next() []Status {
	switch s {
	case StatusWaiting:
		return []Status{
			StatusRunning, StatusCancelled, StatusSkipped, StatusFailed,
			StatusSuccess, // people approved what the step of a workflow waited for
		}
	case StatusRunning:
		return []Status{
			StatusWaiting, // a retry is due, or the node was lost
			StatusSuccess, StatusFailed, StatusTimeout, StatusCancelled, StatusDead,
		}
	default:
		return nil
	}
}

// CanBecome reports whether the transition from s to t is allowed.
func (s Status) CanBecome(t Status) bool { return slices.Contains(s.Next(), t) }

// severity orders final states from best to worst for folding shards.
func (s Status) severity() int {
	switch s {
	case StatusSuccess:
		return 0
	case StatusSkipped:
		return 1
	case StatusCancelled:
		return 2
	case StatusFailed:
		return 3
	case StatusTimeout:
		return 4
	default:
		return 5
	}
}

// Fold is the outcome of a fire from the states of its shards: RUNNING while
// any runs, WAITING while none does and any waits, SUCCESS when all succeeded,
// else the worst (engine rule 6). Nothing folds to the empty status.
func Fold(states []Status) Status {
	var worst Status
	waits := false
	for _, s := range states {
		switch {
		case s == StatusRunning:
			return StatusRunning
		case s == StatusWaiting:
			waits = true
		case worst == "" || s.severity() > worst.severity():
			worst = s
		}
	}
	if waits {
		return StatusWaiting
	}
	return worst
}
