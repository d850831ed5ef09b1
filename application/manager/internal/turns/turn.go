package turns

import (
	"context"
	"fmt"
)

// Turn lets one caller in at a time. Who waits for it gives up when its time is over. A mutex could not do that while
// the caller inside waits for a store that is silent. Safe for concurrent use.
type Turn chan struct{}

// NewTurn returns a turn that nobody has.
func NewTurn() Turn { return make(Turn, 1) }

// Take waits for the turn, or for the end of ctx. Whoever gets it calls Give.
func (t Turn) Take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the turn: %w", context.Cause(ctx))
	}
}

// Give lets the next caller in.
func (t Turn) Give() { <-t }
