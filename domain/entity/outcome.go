package entity

import "time"

// Outcome is what one attempt came to, as the executor reports it.
type Outcome struct {
	// Status is SUCCESS, FAILED, TIMEOUT or CANCELLED; WAITING says that the
	// attempt did not begin, see NotBegun and HeldBack, RUNNING that it goes on, see Accepted.
	Status Status
	Reason Reason
	// Message is the error for people; Result what the run returned. Both are
	// cleaned and cut before they are stored.
	Message string
	Result  string
	// Cut: the run returned more than Result holds.
	Cut bool
	// NoRetry: the handler says that repeating is pointless.
	NoRetry bool
	// RetryAfter overrides the policy's wait when positive.
	RetryAfter time.Duration
	// Asked is how long the target of a call asks not to be called. The policy bounds it.
	Asked      time.Duration
	Progress   int
	Checkpoint string
	// ExitCode is that of a command whose result is its output.
	ExitCode *int
	// Usage is what a command took, whatever it came to.
	Usage Usage

	accepted, held, opened bool
}

// Succeeded is the plain good end.
func Succeeded(result string) Outcome {
	return Outcome{Status: StatusSuccess, Result: result, Progress: 100}
}

// Accepted is no end: the work goes on elsewhere, and somebody outside reports
// what it comes to. The run is detached from its node.
func Accepted() Outcome { return Outcome{Status: StatusRunning, accepted: true} }

// Opened is no end: a workflow run begins, and its steps do the work. The run is detached from its node.
func Opened() Outcome { return Outcome{Status: StatusRunning, opened: true} }

// Detached reports whether the attempt goes on without its node.
func (o Outcome) Detached() bool { return o.accepted || o.opened }

// Opens reports whether the attempt goes on as an open workflow run.
func (o Outcome) Opens() bool { return o.opened }

// Failed is a failed attempt.
func Failed(reason Reason, message string) Outcome {
	return Outcome{Status: StatusFailed, Reason: reason, Message: message}
}

// NotBegun is an attempt that could not begin here and now. It does not count:
// the run waits again, and is tried anew after a while, wherever it belongs then.
func NotBegun(wait time.Duration, message string) Outcome {
	return Outcome{Status: StatusWaiting, RetryAfter: wait, Message: message}
}

// InFlightFire counts the shards of one in-flight fire of a coordinated job that are not
// final. It also says whether the fire holds a slot of the job or waits for one. Plain
// jobs have none.
type InFlightFire struct {
	JobID   string
	FireKey string
	// Active: the fire holds one of the job's slots; else it is queued.
	Active bool
	// Remaining counts the shards that are not final.
	Remaining int
	// Seq is the job-wide fencing number and the order among queued fires.
	Seq int64
	// Scheduled: a planned fire, which re-arms FIXED_DELAY (engine rule 7).
	Scheduled  bool
	JobVersion int
	CreateTime time.Time
}
