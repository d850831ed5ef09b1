// Package watching tells, also outside of the cluster, whether the rules of alerting are
// evaluated, and what of a node is degraded.
package watching

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// HeartbeatInterval is how often a heartbeat is sent.
	HeartbeatInterval = time.Minute
	// WatchInterval is how often a node looks at the last evaluation.
	WatchInterval = 15 * time.Second
	// silentAfter is how long rules may stay without an evaluation until a node tells of it,
	// and tellAgain how long it waits until it tells again.
	silentAfter = 2 * time.Minute
	tellAgain   = 10 * time.Minute
	// readTimeout bounds the wait for the store, so that a node tells of its silence in time.
	readTimeout = 5 * time.Second
	// noteEvery is how often an evaluation is noted in the store, and freshFor how old the
	// latest turn of either part of it may be.
	noteEvery = 10 * time.Second
	freshFor  = 30 * time.Second
)

// PulseDeps are the parts of a Pulse.
type PulseDeps struct {
	Evaluations repository.AlertActions
	Node        string
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Evaluated shows the moment of an evaluation.
	Evaluated func(at time.Time)
	// Beat calls the address of the heartbeat; nil: there is none.
	Beat func(ctx context.Context) error
}

// Pulse notes that this node has evaluated the rules, and tells a service outside of it.
// Safe for concurrent use.
type Pulse struct {
	PulseDeps
	mu sync.Mutex
	// levels and events are the latest good turns of the two parts, noted is the latest note,
	// in monotonic time; ok says which there were.
	levels, events, noted       time.Duration
	levelsOK, eventsOK, notedOK bool
}

// NewPulse wires the parts.
func NewPulse(d PulseDeps) *Pulse { return &Pulse{PulseDeps: d} }

// Events notes how a turn over events ended.
func (p *Pulse) Events(err error) {
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events, p.eventsOK = p.Clock.Monotonic(), true
}

// Levels notes that a turn over levels ended well. If events were evaluated, too, it writes
// that down, at most each ten seconds.
func (p *Pulse) Levels(ctx context.Context) error {
	p.mu.Lock()
	now := p.Clock.Monotonic()
	p.levels, p.levelsOK = now, true
	due := p.eventsOK && now-p.events <= freshFor && (!p.notedOK || now-p.noted >= noteEvery)
	p.mu.Unlock()
	if !due {
		return nil
	}
	at := p.StoreClock.Now()
	if err := p.Evaluations.NoteEvaluation(ctx, p.Node, at); err != nil {
		return fmt.Errorf("note the evaluation of rules: %w", err)
	}
	p.mu.Lock()
	p.noted, p.notedOK = now, true
	p.mu.Unlock()
	p.Evaluated(at)
	return nil
}

// RunOnce calls the address of the heartbeat, if rules were evaluated within the last minute.
func (p *Pulse) RunOnce(ctx context.Context) error {
	if p.Beat == nil {
		return periodic.ErrIdle
	}
	last, err := p.Evaluations.LastEvaluation(ctx)
	if err != nil {
		return fmt.Errorf("read the last evaluation of rules: %w", err)
	}
	if last.IsZero() || p.StoreClock.Now().Sub(last) > HeartbeatInterval {
		return periodic.ErrIdle // whoever waits for the heartbeat shall miss it
	}
	if err := p.Beat(ctx); err != nil {
		return fmt.Errorf("call monitoring.heartbeatUrl: %w", err)
	}
	return nil
}

// Silence is what a watchdog tells.
type Silence struct {
	// Over: the rules are evaluated again.
	Over bool
	// Since is when they were evaluated last, by the clock of this node; Age is how long ago.
	Since time.Time
	Age   time.Duration
	// Trouble is why this node cannot ask the store; empty: it can.
	Trouble string
}

// WatchdogDeps are the parts of a Watchdog.
type WatchdogDeps struct {
	Evaluations repository.AlertActions
	// Clock is the machine's, StoreClock the store's.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Tell calls the address of the watchdog. It is bounded in time.
	Tell func(ctx context.Context, s Silence) error
}

// Watchdog tells somebody outside when nobody evaluates the rules. Each node has one. It keeps
// when it saw an evaluation last: without the store it has nothing else. Safe for
// concurrent use.
type Watchdog struct {
	WatchdogDeps
	mu sync.Mutex
	// seen is the latest evaluation that was seen, told is when the silence was told, both in
	// monotonic time. The start of the node counts as seen.
	seen     time.Duration
	reported time.Duration
	silent   bool
}

// NewWatchdog wires the parts; the two minutes begin.
func NewWatchdog(d WatchdogDeps) *Watchdog {
	return &Watchdog{WatchdogDeps: d, seen: d.Clock.Monotonic()}
}

// RunOnce looks at the last evaluation, and tells of a silence when it begins, each ten
// minutes while it lasts, and when it is over.
func (w *Watchdog) RunOnce(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ask, cancel := context.WithTimeout(ctx, readTimeout)
	last, err := w.Evaluations.LastEvaluation(ask)
	cancel()
	now := w.Clock.Monotonic()
	trouble := ""
	if err != nil {
		trouble = "the store does not answer"
	} else if !last.IsZero() {
		w.seen = max(w.seen, now-max(w.StoreClock.Now().Sub(last), 0))
	}
	age := now - w.seen
	s := Silence{Age: age, Since: w.Clock.Now().Add(-age), Trouble: trouble}
	switch {
	case age <= silentAfter && !w.silent:
		return nil
	case age <= silentAfter:
		s.Over = true
	case w.silent && now-w.reported < tellAgain:
		return nil
	}
	if err := w.Tell(ctx, s); err != nil {
		return fmt.Errorf("call monitoring.watchdogUrl: %w", err)
	}
	w.silent, w.reported = !s.Over, now
	return nil
}
