package sdk

import "context"

// Handler does the work of one kind of CUSTOM job. It is called from many
// goroutines at once.
type Handler interface {
	// Handle runs one attempt and returns when it has ended. The context is cancelled when the
	// attempt is to stop: on the job's time limit, a cancel by a person, or a shutdown of the
	// node. It is also cancelled when the node lost the attempt; WhyStopped returns the cause. A
	// handler that goes on regardless keeps its slot until it returns. It must not call
	// runtime.Goexit.
	Handle(ctx context.Context, run *Run) error
}

// HandlerFunc lets a plain function be a Handler.
type HandlerFunc func(ctx context.Context, run *Run) error

// Handle implements Handler.
func (f HandlerFunc) Handle(ctx context.Context, run *Run) error { return f(ctx, run) }
