package sdk

import (
	"context"
	"errors"
)

// Stop says why the context of a run was cancelled.
type Stop string

// The reasons to stop.
const (
	// StopNone: the context is alive.
	StopNone Stop = ""
	// StopTimeout: the job's time limit is over.
	StopTimeout Stop = "timeout"
	// StopCancel: a person asked for it, or a newer fire replaces the run.
	StopCancel Stop = "cancel"
	// StopShutdown: the node is stopping; the job's onNodeLoss decides whether
	// the run is repeated elsewhere. A last Run.Checkpoint helps that attempt.
	StopShutdown Stop = "shutdown"
	// StopLost: the node lost the run, which may already run elsewhere; what
	// this attempt still does may be done twice.
	StopLost Stop = "lost"
	// StopOther: the context was cancelled by somebody else, such as a test.
	StopOther Stop = "other"
)

// WhyStopped says why ctx, which must be or descend from the one given to a
// handler, was cancelled. It is StopNone while ctx is alive.
func WhyStopped(ctx context.Context) Stop {
	cause := context.Cause(ctx)
	if cause == nil {
		return StopNone
	}
	var known interface{ StopReason() string }
	if errors.As(cause, &known) {
		return Stop(known.StopReason())
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return StopTimeout
	}
	return StopOther
}
