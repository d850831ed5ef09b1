package entity

import "time"

// AttemptEnd is how one attempt ended, for figures.
type AttemptEnd struct {
	// Job is nil for a run that ended before it had an attempt: it has no duration.
	Job         *Job
	ExecutionID string
	Status      Status
	Reason      Reason
	Took        time.Duration
	// Retried says that another attempt follows.
	Retried bool
}

// AttemptStart is how late one attempt began, for figures.
type AttemptStart struct {
	Job         *Job
	ExecutionID string
	// Lateness is the start minus the due time.
	Lateness time.Duration
}
