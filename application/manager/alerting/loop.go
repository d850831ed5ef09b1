package alerting

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// LoopInterval is how often an idle loop looks for events and for alerts to tell.
const LoopInterval = time.Second

const (
	// loopPause is the least time between two turns: many commits a second are few turns. After
	// a turn that took many events it is longer by eventPause for each, up to stormPause: a
	// storm is few turns, too, and what a turn costs by itself is paid rarely.
	loopPause  = 100 * time.Millisecond
	eventPause = 30 * time.Millisecond
	stormPause = 500 * time.Millisecond
	// maxSucceeded bounds the jobs that are noted, and recoverRests is how many times as
	// long as a look at them the loop then waits.
	maxSucceeded = 20_000
	recoverRests = 20
	// loopRetryMost bounds the pause after a failure; it doubles.
	loopRetryMost = 10 * time.Second
)

// Turns are what a loop of the leader evaluates.
type Turns interface {
	EnsureDefaults(ctx context.Context) error
	// RunOnce evaluates some of the events that wait, and reports whether more do.
	RunOnce(ctx context.Context) (taken int, more bool, err error)
	RecoverJobs(ctx context.Context, ids []string) (int, error)
}

// LoopDeps are the parts of a Loop.
type LoopDeps struct {
	Turns Turns
	// Plan decides who is told.
	Plan  func(ctx context.Context) (int, error)
	Clock clock.Clock
	// Leads tells whether this node does the tasks of the leader.
	Leads func() bool
	// Note is told how each turn of the leader ended.
	Note func(err error)
}

// Loop evaluates events soon after they are added, and then plans whom to tell. Two at
// once do no harm. Wake is safe for concurrent use; Run is one loop.
type Loop struct {
	LoopDeps
	turns turns.Loop
	mu    sync.Mutex
	// succeeded are jobs of which a run has succeeded.
	succeeded map[string]bool

	// recovers is when alerts may be ended again, in monotonic time.
	recovers time.Duration
	// prepared: this node has added the rules of the first start.
	prepared bool
}

// NewLoop wires the parts.
func NewLoop(d LoopDeps) *Loop {
	l := &Loop{LoopDeps: d, succeeded: map[string]bool{}}
	l.turns = turns.Loop{
		Signal: turns.NewSignal(), Clock: d.Clock, Leads: d.Leads, Interval: LoopInterval, Turn: l.next,
	}
	return l
}

// Succeeded notes jobs of which a run has succeeded, so that alerts about them end soon.
// The sweep finds jobs beyond that number.
func (l *Loop) Succeeded(jobIDs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range jobIDs {
		if len(l.succeeded) < maxSucceeded {
			l.succeeded[id] = true
		}
	}
}

// recover ends the alerts about jobs that have succeeded. It takes a twentieth of a
// thread at most, however many alerts are open.
func (l *Loop) recover(ctx context.Context) error {
	began := l.Clock.Monotonic()
	if began < l.recovers {
		return nil
	}
	l.mu.Lock()
	ids := slices.Collect(maps.Keys(l.succeeded))
	clear(l.succeeded)
	l.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	_, err := l.Turns.RecoverJobs(ctx, ids)
	ended := l.Clock.Monotonic()
	l.recovers = ended + recoverRests*(ended-began)
	return err
}

// Wake makes the loop look at once, for example after a commit that added events.
func (l *Loop) Wake() { l.turns.Wake() }

// Run works while this node leads, until ctx ends.
func (l *Loop) Run(ctx context.Context) { l.turns.Run(ctx) }

// next takes a turn, and says when the loop looks again.
func (l *Loop) next(ctx context.Context, failures int) turns.Next {
	if taken, ok := l.turn(ctx); ok {
		return turns.Next{Wait: LoopInterval, Pause: min(max(loopPause, time.Duration(taken)*eventPause), stormPause)}
	}
	return turns.Next{Wait: min(LoopInterval<<min(failures, 10), loopRetryMost), Failed: true}
}

// turn does all that waits, and returns how many events it has taken where no more wait. It
// is false where something failed.
func (l *Loop) turn(ctx context.Context) (taken int, ok bool) {
	err := batch.Guard(func() error {
		if !l.prepared {
			if err := l.Turns.EnsureDefaults(ctx); err != nil {
				return err
			}
			l.prepared = true
		}
		var n int
		var more bool
		judged := batch.Guard(func() (err error) {
			n, more, err = l.Turns.RunOnce(ctx)
			return err
		})
		if more {
			l.Wake()
		} else {
			taken = n
		}
		// A failure of one of them does not stop the others.
		recovered := batch.Guard(func() error { return l.recover(ctx) })
		planned := batch.Guard(func() error {
			_, err := l.Plan(ctx)
			return err
		})
		return errors.Join(judged, recovered, planned)
	})
	if ctx.Err() == nil {
		l.Note(err)
	}
	return taken, err == nil
}
