// Package periodic runs tasks at intervals: tasks of each node, and tasks that only
// the leader does. Each task has a name and reports the age of its last good turn: a
// task that has stopped looks healthy from outside.
package periodic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// Ticker calls a function at intervals, one call at a time, until it is stopped. It
// lets the call in progress finish. It skips a tick when may is not nil and returns an
// error.
type Ticker interface {
	Every(name string, interval time.Duration, may func(ctx context.Context) error, run func(ctx context.Context)) error
}

// Leadership reports whether this node is the leader. It answers from memory.
type Leadership interface {
	// IsLeader returns nil when this node leads.
	IsLeader(ctx context.Context) error
	// Since returns since when this node leads, in monotonic time; ok is false when it
	// does not lead.
	Since() (since time.Duration, ok bool)
}

// ErrIdle means that a task had nothing to do in this turn. The task's health stays
// unchanged.
var ErrIdle = errors.New("nothing to do")

// Status is the state of one task.
type Status struct {
	Name string
	// Age is the time since the last good turn. The task is healthy up to Limit.
	Age, Limit time.Duration
}

// Tasks runs and watches the tasks of a node. Safe for concurrent use.
type Tasks struct {
	clock      clock.Clock
	ticker     Ticker
	leadership Leadership
	logger     *slog.Logger

	mu    sync.Mutex
	tasks map[string]*task
}

type task struct {
	interval time.Duration
	// leadership is nil for a task of each node.
	leadership Leadership
	// last is the last good turn, in monotonic time.
	last   time.Duration
	outage *faillog.Recorder
}

// good returns the last good turn, or the moment since when this node should do the
// task. ok is false when the task is not this node's at present.
func (l *task) good() (at time.Duration, ok bool) {
	if l.leadership == nil {
		return l.last, true
	}
	since, ok := l.leadership.Since()
	return max(l.last, since), ok
}

// NewTasks returns an empty set of tasks. A nil leadership means that no other nodes
// exist.
func NewTasks(c clock.Clock, t Ticker, lead Leadership, l *slog.Logger) *Tasks {
	return &Tasks{clock: c, ticker: t, leadership: lead, logger: l, tasks: map[string]*task{}}
}

// Every adds a task of each node. The log tells when the task begins to fail and when
// it works again. A panic counts as an error.
func (d *Tasks) Every(name string, interval time.Duration, run func(ctx context.Context) error) error {
	return d.add(name, &task{interval: interval, last: d.clock.Monotonic()}, nil, run)
}

// LeaderOnly adds a task that only the leader does. Each turn begins only if this
// node leads; a turn goes on when the node loses the lead. So two nodes may do the
// task at once for a while, and the task must allow that.
func (d *Tasks) LeaderOnly(name string, interval time.Duration, run func(ctx context.Context) error) error {
	if d.leadership == nil {
		return d.Every(name, interval, run)
	}
	return d.add(name, &task{interval: interval, leadership: d.leadership}, d.leadership.IsLeader, run)
}

// Watch adds a task of each node that runs by itself. The caller reports the result
// of each turn to the function that Watch returns.
func (d *Tasks) Watch(name string, interval time.Duration) (note func(err error)) {
	return d.watch(name, interval, nil)
}

// WatchLeader is Watch for a task that only the leader does.
func (d *Tasks) WatchLeader(name string, interval time.Duration) (note func(err error)) {
	return d.watch(name, interval, d.leadership)
}

func (d *Tasks) watch(name string, interval time.Duration, leadership Leadership) (note func(err error)) {
	l := &task{
		interval: interval, leadership: leadership, last: d.clock.Monotonic(),
		outage: faillog.OfTask(name, d.clock, d.logger),
	}
	d.mu.Lock()
	d.tasks[name] = l
	d.mu.Unlock()
	return func(err error) { d.note(l, err) }
}

func (d *Tasks) add(name string, l *task, may, run func(ctx context.Context) error) error {
	l.outage = faillog.OfTask(name, d.clock, d.logger)
	d.mu.Lock()
	d.tasks[name] = l
	d.mu.Unlock()
	err := d.ticker.Every(name, l.interval, may, func(ctx context.Context) {
		if err := batch.Guard(func() error { return run(ctx) }); err == nil || ctx.Err() == nil {
			d.note(l, err)
		}
	})
	if err != nil {
		return fmt.Errorf("schedule the task %s: %w", name, err)
	}
	return nil
}

// note records the result of a turn.
func (d *Tasks) note(l *task, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		l.outage.Observe(nil)
		l.last = d.clock.Monotonic()
	case errors.Is(err, ErrIdle):
		if !l.outage.Failing() {
			l.last = d.clock.Monotonic()
		}
	default:
		l.outage.Observe(err)
	}
}

// graceTicks is how many intervals a task may miss before it counts as stalled, but
// at least stallFloor.
const (
	graceTicks = 5
	stallFloor = 15 * time.Second
)

// Statuses returns the tasks that are this node's at present.
func (d *Tasks) Statuses() []Status {
	now := d.clock.Monotonic()
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Status, 0, len(d.tasks))
	for name, l := range d.tasks {
		if at, ok := l.good(); ok {
			out = append(out, Status{Name: name, Age: now - at, Limit: max(graceTicks*l.interval, stallFloor)})
		}
	}
	return out
}

// Ages returns the time since the last good turn of each of the Statuses.
func (d *Tasks) Ages() map[string]time.Duration {
	ages := map[string]time.Duration{}
	for _, l := range d.Statuses() {
		ages[l.Name] = l.Age
	}
	return ages
}

// Leads reports whether this node does the tasks of the leader.
func (d *Tasks) Leads() bool {
	if d.leadership == nil {
		return true
	}
	_, ok := d.leadership.Since()
	return ok
}
