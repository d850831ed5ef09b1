// Package upkeep holds what a node does at intervals, beside firing and
// running: it beats its heart, measures the store's clock, publishes the
// outbox and deletes what is old. Each duty has a name, and its last good tick
// can be read, because a loop that has silently stopped looks healthy from
// outside.
package upkeep

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Ticker calls a function at intervals, one call at a time, until it is
// stopped; the call in progress is finished.
type Ticker interface {
	Every(name string, interval time.Duration, run func(ctx context.Context)) error
}

// Duties watches the duties of a node. Safe for concurrent use.
type Duties struct {
	clock  clock.Clock
	ticker Ticker
	logger *slog.Logger

	mu    sync.Mutex
	loops map[string]*loop
}

type loop struct {
	interval time.Duration
	last     time.Duration
	failing  bool
}

// NewDuties returns a watch over nothing yet.
func NewDuties(c clock.Clock, t Ticker, l *slog.Logger) *Duties {
	return &Duties{clock: c, ticker: t, logger: l, loops: map[string]*loop{}}
}

// Every adds a duty. Its errors are logged when they begin and when they end;
// a panic is an error like any other.
func (d *Duties) Every(name string, interval time.Duration, run func(ctx context.Context) error) error {
	l := &loop{interval: interval, last: d.clock.Monotonic()}
	d.mu.Lock()
	d.loops[name] = l
	d.mu.Unlock()
	err := d.ticker.Every(name, interval, func(ctx context.Context) { d.tick(ctx, name, l, run) })
	if err != nil {
		return fmt.Errorf("schedule the duty %s: %w", name, err)
	}
	return nil
}

func (d *Duties) tick(ctx context.Context, name string, l *loop, run func(ctx context.Context) error) {
	err := guarded(ctx, run)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		if l.failing {
			d.logger.Info("a duty works again", "duty", name)
		}
		l.failing, l.last = false, d.clock.Monotonic()
	case !l.failing && ctx.Err() == nil:
		l.failing = true
		d.logger.Error("a duty fails; it goes on trying", "duty", name, "error", err)
	}
}

func guarded(ctx context.Context, run func(ctx context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(ctx)
}

// graceTicks is how many intervals a loop may miss before it counts as
// stalled, with at least stallFloor.
const (
	graceTicks = 5
	stallFloor = 15 * time.Second
)

// Loops implements service.Loops.
func (d *Duties) Loops() []service.Loop {
	now := d.clock.Monotonic()
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]service.Loop, 0, len(d.loops))
	for name, l := range d.loops {
		out = append(out, service.Loop{
			Name: name, Age: now - l.last, Limit: max(graceTicks*l.interval, stallFloor),
		})
	}
	return out
}

// Ages is the time since the last good tick of each duty.
func (d *Duties) Ages() map[string]time.Duration {
	now := d.clock.Monotonic()
	d.mu.Lock()
	defer d.mu.Unlock()
	ages := make(map[string]time.Duration, len(d.loops))
	for name, l := range d.loops {
		ages[name] = now - l.last
	}
	return ages
}
