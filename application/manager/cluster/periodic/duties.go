// Package periodic runs what a node does at intervals beside firing and running:
// tasks of every node, and tasks that only the leader does. Each task has a name, and
// its last good turn can be read: a loop that has stopped looks healthy from outside.
package periodic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/faillog"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Ticker calls a function at intervals, one call at a time, until it is
// stopped; the call in progress is finished. A tick for which may, unless it is
// nil, returns an error is left out.
type Ticker interface {
	Every(name string, interval time.Duration, may func(ctx context.Context) error, run func(ctx context.Context)) error
}

// Lead tells whether this node does the duties of the cluster. It answers from
// memory.
type Lead interface {
	// IsLeader is nil when it does.
	IsLeader(ctx context.Context) error
	// Since is from when on it has, in monotonic time; ok is false when it
	// does not.
	Since() (since time.Duration, ok bool)
}

// ErrIdle is what a duty returns that has found out nothing, because there was
// nothing to do for it: neither that it works, nor that it fails.
var ErrIdle = errors.New("nothing to do")

// Duties watches the duties of a node. Safe for concurrent use.
type Duties struct {
	clock  clock.Clock
	ticker Ticker
	lead   Lead
	logger *slog.Logger

	mu    sync.Mutex
	loops map[string]*loop
}

type loop struct {
	interval time.Duration
	// lead is nil for a duty of every node.
	lead Lead
	// last is the last good tick, in monotonic time.
	last   time.Duration
	outage *faillog.Log
}

// good is the last good tick, or the moment from which on there should be one;
// ok is false when the duty is not this node's at present.
func (l *loop) good() (at time.Duration, ok bool) {
	if l.lead == nil {
		return l.last, true
	}
	since, ok := l.lead.Since()
	return max(l.last, since), ok
}

// NewDuties returns a watch over nothing yet. A nil lead means that there are
// no other nodes.
func NewDuties(c clock.Clock, t Ticker, lead Lead, l *slog.Logger) *Duties {
	return &Duties{clock: c, ticker: t, lead: lead, logger: l, loops: map[string]*loop{}}
}

// Every adds a duty of each node. It is logged when its errors begin and when
// it works again; a panic is an error like any other.
func (d *Duties) Every(name string, interval time.Duration, run func(ctx context.Context) error) error {
	return d.add(name, &loop{interval: interval, last: d.clock.Monotonic()}, nil, run)
}

// OfCluster adds a duty that the leading node does. It is asked for the lead
// before each tick and not stopped when it loses it: two may be at work for a
// while, and must do no harm.
func (d *Duties) OfCluster(name string, interval time.Duration, run func(ctx context.Context) error) error {
	if d.lead == nil {
		return d.Every(name, interval, run)
	}
	return d.add(name, &loop{interval: interval, lead: d.lead}, d.lead.IsLeader, run)
}

// Loop watches something that each node does at intervals of its own. What is
// returned is told how each turn ended.
func (d *Duties) Loop(name string, interval time.Duration) (note func(err error)) {
	l := &loop{interval: interval, last: d.clock.Monotonic(), outage: faillog.New(name, d.clock, d.logger)}
	d.mu.Lock()
	d.loops[name] = l
	d.mu.Unlock()
	return func(err error) { d.note(l, err) }
}

func (d *Duties) add(name string, l *loop, may, run func(ctx context.Context) error) error {
	l.outage = faillog.New(name, d.clock, d.logger)
	d.mu.Lock()
	d.loops[name] = l
	d.mu.Unlock()
	err := d.ticker.Every(name, l.interval, may, func(ctx context.Context) {
		if err := batch.Guard(func() error { return run(ctx) }); err == nil || ctx.Err() == nil {
			d.note(l, err)
		}
	})
	if err != nil {
		return fmt.Errorf("schedule the duty %s: %w", name, err)
	}
	return nil
}

// note takes how a turn ended.
func (d *Duties) note(l *loop, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		l.outage.Note(nil)
		l.last = d.clock.Monotonic()
	case errors.Is(err, ErrIdle):
		if !l.outage.Lasts() {
			l.last = d.clock.Monotonic()
		}
	default:
		l.outage.Note(err)
	}
}

// graceTicks is how many intervals a loop may miss before it counts as
// stalled, with at least stallFloor.
const (
	graceTicks = 5
	stallFloor = 15 * time.Second
)

// Loops implements service.Loops: the duties that are this node's at present.
func (d *Duties) Loops() []service.Loop {
	now := d.clock.Monotonic()
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]service.Loop, 0, len(d.loops))
	for name, l := range d.loops {
		if at, ok := l.good(); ok {
			out = append(out, service.Loop{Name: name, Age: now - at, Limit: max(graceTicks*l.interval, stallFloor)})
		}
	}
	return out
}

// Ages is the time since the last good tick of each of the Loops.
func (d *Duties) Ages() map[string]time.Duration {
	ages := map[string]time.Duration{}
	for _, l := range d.Loops() {
		ages[l.Name] = l.Age
	}
	return ages
}

// Leads reports whether this node does the duties of the cluster.
func (d *Duties) Leads() bool {
	if d.lead == nil {
		return true
	}
	_, ok := d.lead.Since()
	return ok
}
