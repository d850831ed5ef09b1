package entity

import (
	"context"
	"errors"
	"time"
)

// Run is what an executor is given: one claimed attempt and the definition it
// runs by. Both are read only.
type Run struct {
	Job       *Job
	Execution *Execution
	// Secrets are those that the definition names, opened for this attempt
	// alone. They are never stored, logged or reported.
	Secrets map[string]string
	// Filled: the placeholders of the definition's data are filled already. What still looks like one is text.
	Filled bool
	// Steps are the values of a step of a workflow; nil for all other runs.
	Steps *StepValues
	// Deadline is when the attempt runs out of time, by the store's clock; zero:
	// its job sets no limit.
	Deadline time.Time
	// Tokens lets somebody outside report about the attempt; nil where nobody
	// can report.
	Tokens RunTokens
	// Parking lets the attempt wait without a slot of its node; nil where it cannot.
	Parking Parking
}

// Parking lets an attempt that cannot begin yet wait without a slot of its node, so that
// what it waits for takes no slots from others.
type Parking interface {
	// Park gives the slot of the attempt back, after Waits was called and before anything
	// was done. share names what it waits for: one share takes at most half of the room
	// that the others leave. ok is false where there is no room; the slot is kept then.
	Park(share string) (p Parked, ok bool)
}

// Parked is an attempt without a slot. It may end so.
type Parked interface {
	// Closing is closed when the node is to start nothing more: the attempt then ends by
	// NotBegun.
	Closing() <-chan struct{}
	// Resume takes a slot again, before runs that have none yet, and waits for it. It
	// fails with ErrParkingClosed after Closing, and with its cause when ctx ends.
	Resume(ctx context.Context) error
}

// ErrParkingClosed says that the node starts nothing more.
var ErrParkingClosed = errors.New("the node starts no runs")

// RunTokens issues the tokens with which the targets of asynchronous calls
// report. Safe for concurrent use.
type RunTokens interface {
	// Issue makes a token for an attempt and returns once the store knows its
	// hash. It waits for a store that is away until ctx ends, and returns
	// ErrStopLost when the attempt is not its node's any more.
	Issue(ctx context.Context, run Run) (token string, err error)
}

// LogLimit is how much of what an attempt says is kept, in bytes; a line counts
// one more than it is long.
const LogLimit = 1 << 20

// Reporter takes what an attempt says while it runs. It is safe for concurrent
// use, never blocks for the store, and may be called after the attempt ended,
// which does nothing.
type Reporter interface {
	// Log records one line. Line breaks split it; a line that ends in a carriage return is
	// replaced by the next one. Control characters are made harmless, and what is over the
	// cap is cut with a mark. Text beyond LogLimit is not kept,
	// and need not be passed on.
	Log(t LogType, line string)
	// Progress records how far the work is, 0–100.
	Progress(percent int)
	// Checkpoint keeps a text that the next attempt can read.
	Checkpoint(state string)
	// Waits says that the attempt cannot begin yet, because something outside of this
	// node's slots is short. Its start and its time-out count from the call of begins. It
	// is said before anything was done.
	Waits() (begins func())
}
