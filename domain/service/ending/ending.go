// Package ending says what an attempt came to whose handler failed, gave up or panicked. It is the same in a server
// and in a worker.
package ending

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The bounds of the texts of a panic, in bytes.
const (
	maxPanic = 1 << 10
	maxStack = 8 << 10
)

// Of is the outcome of an attempt whose context was cancelled with that cause, nil when it was not. A failure without
// a more precise reason becomes what the cause says. A success and a precise failure stay as they are.
func Of(o entity.Outcome, cause error) entity.Outcome {
	if o.Status == entity.StatusFailed && o.Reason == entity.ReasonNone {
		o.Reason = entity.ReasonError
	}
	if cause != nil && o.Status != entity.StatusSuccess && o.Reason == entity.ReasonError {
		return stopped(o, cause)
	}
	return o
}

// unreadWait is how long an attempt waits that could not read what it needs.
const unreadWait = time.Second

// Unread is the outcome of an attempt that could not read what it needs before it begins. Where it was stopped
// meanwhile the cause says what it came to. Where the store does not answer it has not begun, and is tried anew after
// a while.
func Unread(ctx context.Context, what string, err error) entity.Outcome {
	message := what + ": " + err.Error()
	switch {
	case ctx.Err() != nil:
		return Of(entity.Failed(entity.ReasonError, message), context.Cause(ctx))
	case apperror.Is(err, apperror.KindUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return entity.NotBegun(unreadWait, message)
	}
	return entity.Failed(entity.ReasonError, message)
}

// stopped keeps what the handler said about retries.
func stopped(o entity.Outcome, cause error) entity.Outcome {
	switch {
	case errors.Is(cause, entity.ErrStopTimeout), errors.Is(cause, context.DeadlineExceeded):
		o.Status, o.Reason = entity.StatusTimeout, entity.ReasonTimeout
		cause = entity.ErrStopTimeout
	case errors.Is(cause, entity.ErrStopCancel):
		o.Status, o.Reason = entity.StatusCancelled, entity.ReasonNone
	case errors.Is(cause, entity.ErrStopLost):
		o.Status, o.Reason = entity.StatusFailed, entity.ReasonNodeLost
	default:
		// The process ended its contexts, by a shutdown or otherwise. Nobody asked to stop this
		// run, so the job's policy for a lost node applies.
		o.Status, o.Reason = entity.StatusFailed, entity.ReasonShutdown
		cause = entity.ErrStopShutdown
	}
	switch {
	case o.Message == "":
		o.Message = cause.Error()
	case !strings.Contains(o.Message, cause.Error()):
		o.Message = cause.Error() + ": " + o.Message
	}
	return o
}

// Panicked is the outcome of a handler that panicked, and what its log says of it: the panic with its stack.
func Panicked(value any, stack []byte) (o entity.Outcome, lines string) {
	message := validation.Text(fmt.Sprint("panic: ", describe(value)), maxPanic)
	return entity.Failed(entity.ReasonPanic, message), message + "\n" + validation.Text(string(stack), maxStack)
}

// describe keeps fmt from values whose text would be very long.
func describe(value any) any {
	switch v := value.(type) {
	case error, fmt.Stringer, bool, int, int64, uint64, float64:
		return v
	case string:
		return v[:min(len(v), maxPanic)]
	default:
		return fmt.Sprintf("a value of type %T", value)
	}
}
