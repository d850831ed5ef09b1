// Package turns runs loops of the leader that look at intervals, and at once when they are woken.
package turns

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Signal wakes one loop. Safe for concurrent use.
type Signal chan struct{}

// NewSignal returns a signal that nobody has given.
func NewSignal() Signal { return make(Signal, 1) }

// Wake makes the loop look at once, or again where it looks now. It does not wait.
func (s Signal) Wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// Next says when a loop looks again.
type Next struct {
	// Wait is the time until then, where nobody wakes the loop. Pause is the part of it in which nobody does: many signals
	// in a moment are few turns.
	Wait, Pause time.Duration
	// Failed: what the turn needs is away, and is not asked at each signal.
	Failed bool
}

// Loop runs turns while this node leads. Wake is safe for concurrent use; Run is one loop.
type Loop struct {
	Signal
	Clock clock.Clock
	// Leads tells whether this node does the tasks of the leader.
	Leads func() bool
	// Interval is how often a node that does not lead asks whether it does.
	Interval time.Duration
	// Turn does what waits. Failures is how many turns have failed before it in a row.
	Turn func(ctx context.Context, failures int) Next
}

// Run takes turns until ctx ends.
func (l *Loop) Run(ctx context.Context) {
	timer := l.Clock.NewTimer(0)
	defer timer.Stop()
	failures := 0
	for {
		woken := l.Signal
		if failures > 0 {
			woken = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		case <-woken:
			timer.Stop()
		}
		next := Next{Wait: l.Interval}
		if l.Leads() {
			next = l.Turn(ctx, failures)
		}
		failures++
		if !next.Failed {
			failures = 0
		}
		if next.Pause > 0 && clock.Sleep(ctx, l.Clock, next.Pause) != nil {
			return
		}
		timer.Reset(next.Wait - next.Pause)
	}
}
