package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// The bounds of the texts of a panic, in bytes.
const (
	maxPanic = 1 << 10
	maxStack = 8 << 10
)

// stopped returns the outcome of an attempt that gave up, by the cause of the cancellation. It
// keeps what the handler said about retries.
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

// panicked writes the stack into the run's log and returns an outcome that names the panic.
func panicked(value any, stack []byte, rep entity.Reporter) entity.Outcome {
	message := validation.Text(fmt.Sprint("panic: ", describe(value)), maxPanic)
	rep.Log(entity.LogStderr, message+"\n"+validation.Text(string(stack), maxStack))
	return entity.Failed(entity.ReasonPanic, message)
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
