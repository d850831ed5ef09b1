package entity

// The causes with which the context of an attempt is cancelled, for
// context.Cause and errors.Is. They decide what the attempt came to when its
// executor gives up because of them. Each has a method StopReason, through
// which package sdk tells handlers why without knowing this package.
var (
	// ErrStopTimeout: the attempt ran longer than its job allows; it ends TIMEOUT.
	ErrStopTimeout error = &stopError{"timeout", "the attempt ran out of time"}
	// ErrStopCancel: a person, or a fire that replaces this one, asked for the
	// end; it ends CANCELLED.
	ErrStopCancel error = &stopError{"cancel", "the run was cancelled"}
	// ErrStopShutdown: the node is stopping and its grace is over; the attempt
	// ends FAILED with SHUTDOWN and the job's answer to a node's loss applies.
	ErrStopShutdown error = &stopError{"shutdown", "the node is shutting down"}
	// ErrStopLost: the node no longer owns the attempt (engine rules 9 and 27);
	// it ends FAILED with NODE_LOST, and that report will be refused.
	ErrStopLost error = &stopError{"lost", "the node lost the attempt"}
)

// stopError is compared by identity, so that no foreign error equals one.
type stopError struct{ reason, text string }

func (e *stopError) Error() string { return e.text }

// StopReason is "timeout", "cancel", "shutdown" or "lost".
func (e *stopError) StopReason() string { return e.reason }
