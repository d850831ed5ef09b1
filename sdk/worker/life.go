package worker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

const (
	maxItemsDefault = 500
	// lookEvery is how often the worker looks whether the machine slept, and whether its lease is over.
	lookEvery = 500 * time.Millisecond
)

// life is what the worker does under one epoch: from a registration until its lease is over, or it leaves.
type life struct {
	w     *Worker
	id    string
	epoch int64
	// kick asks for a newer poll, soon for a report before long, urgent for one at once. Each holds one such wish.
	kick, soon, urgent chan struct{}
	// over is closed when the life is; quiet is closed when the worker has left nothing behind and may leave.
	over, quiet chan struct{}
	// cancel ends the loops.
	cancel context.CancelFunc
	// loops are polls, reports and the watch.
	loops sync.WaitGroup
	// batch is how many items the next report may have; only the loop of reports uses it.
	batch int

	mu       sync.Mutex
	state    attempts.Life
	slots    attempts.Slots
	held     []*attempt
	working  attempts.Slots
	beat     time.Duration
	wait     time.Duration
	maxItems int
	sleep    *sleepWatch
	// offered are the free slots of the newest poll, offeredStopping whether it says that the worker stops.
	offered         attempts.Slots
	offeredStopping bool
	pollAtOnce      bool
	underWay        int
	// stopping: the worker drains. stopHeard: a server has answered a poll that says so. drained: an operator asks for it.
	stopping, stopHeard, drained bool
	ended, isQuiet               bool
	// why is why the life was over.
	why error
}

func newLife(w *Worker, r registered, sent attempts.Instant) *life {
	slots := attempts.Slots{attempts.General: w.o.Slots, attempts.Command: w.o.CommandSlots}
	l := &life{
		w: w, id: r.WorkerID, epoch: r.Epoch, slots: slots, batch: maxItemsDefault, sleep: newSleepWatch(w.clock),
		kick: make(chan struct{}, 1), soon: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
		over: make(chan struct{}), quiet: make(chan struct{}),
		state: attempts.Begin(attempts.Entry{Epoch: r.Epoch, Lease: millis(r.LeaseMs), Slots: slots}, sent),
		beat:  max(millis(r.BeatMs), firstPause), wait: max(millis(r.WaitMs), firstPause), maxItems: r.MaxItems,
	}
	l.state.Own()
	if l.maxItems <= 0 {
		l.maxItems = maxItemsDefault
	}
	return l
}

func (l *life) path(call string) string { return "/api/v1/workers/" + l.id + "/" + call }

// now looks at the clock. Where the machine slept meanwhile, the lease has gone on. The caller holds the lock.
func (l *life) now() attempts.Instant {
	if gap := l.sleep.look(); gap > 0 {
		l.w.log.Warn("the machine slept", "for", gap)
		l.state.Slept(gap)
		l.pollAtOnce = true
		l.wake()
	}
	return attempts.Instant(l.w.clock.Monotonic())
}

// watch ends the life with its lease.
func (l *life) watch(ctx context.Context) {
	for {
		l.mu.Lock()
		now := l.now()
		if l.state.Over(now) {
			l.finish(errLeaseOver)
		}
		wait := min(time.Duration(l.state.Until()-now), lookEvery)
		l.mu.Unlock()
		timer := l.w.clock.NewTimer(max(wait, time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
	}
}

// finish ends the life. The caller holds the lock.
func (l *life) finish(why error) {
	if l.ended || l.isQuiet {
		return
	}
	l.ended, l.why = true, why
	l.state.Lost()
	l.cancel()
	close(l.over)
}

// reason is why the life was over.
func (l *life) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// begin starts the handler of a run. The caller holds the lock.
func (l *life) begin(ctx context.Context, data runData) {
	a := l.hold(data)
	work := l.w.workOf(a)
	if work == nil {
		message := fmt.Sprintf("this worker has no handler %.100q for the kind %.20q", data.Handler, data.Kind)
		a.close(&end{Status: attempts.Returned, Message: message}, a.began)
		l.state.End(a.Attempt, attempts.Returned)
		a.tell(true)
		return
	}
	l.working[a.Kind]++
	l.w.begin(a.Kind)
	// The end of Run's context is no reason to stop: runs have the grace.
	limited, done := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if data.TimeoutMs > 0 {
		limited, done = context.WithTimeoutCause(limited, millis(data.TimeoutMs), entity.ErrStopTimeout)
	}
	limited = entity.WithRight(limited, func() bool { return l.leaseLeft() > 0 })
	run, cancel := context.WithCancelCause(limited)
	a.cancel = cancel
	l.w.handlers.Go(func() {
		defer done()
		l.handle(run, a, work)
	})
}

// work is what runs an attempt: a handler, or the definition of its job. The code is the exit code of a command.
type work func(ctx context.Context, now time.Time) (o entity.Outcome, code *int)

// workOf is nil where the worker cannot run the attempt.
func (w *Worker) workOf(a *attempt) work {
	defined, handler := false, w.o.Handlers[a.data.Handler]
	switch a.data.Kind {
	case kindCommand:
		defined, handler = w.o.CommandSlots > 0, w.o.Command
	case kindHTTP:
		defined, handler = w.o.HTTP, w.o.Handlers[entity.HTTPHandler]
	}
	switch {
	case defined && w.o.Executor != nil:
		return func(ctx context.Context, now time.Time) (entity.Outcome, *int) {
			o := w.o.Executor.Run(ctx, a.definition(now), reporter{a})
			return o, o.ExitCode
		}
	case handler != nil:
		return func(ctx context.Context, now time.Time) (entity.Outcome, *int) { return a.run(ctx, handler, now) }
	}
	return nil
}

// handle runs the attempt, and notes its end also where it ends its goroutine.
func (l *life) handle(ctx context.Context, a *attempt, work work) {
	outcome, code := entity.Failed(entity.ReasonPanic, "the handler ended its goroutine instead of returning"), (*int)(nil)
	defer func() {
		a.cancel(nil)
		l.mu.Lock() // a report that has the end finds it in the state, too
		defer l.mu.Unlock()
		a.finish(outcome, code, l.w.clock.Monotonic())
		l.working[a.Kind]--
		l.w.end(a.Kind)
		l.state.End(a.Attempt, a.end.Status)
		l.checkQuiet()
		a.tell(true)
	}()
	outcome, code = work(ctx, l.w.clock.Now())
}

// hold notes a run that this worker has. The caller holds the lock.
func (l *life) hold(data runData) *attempt {
	a := &attempt{
		Run: data.run(), data: data, began: l.w.clock.Monotonic(), lines: lines{first: 1}, tell: l.tell,
		cancel: func(error) {},
	}
	l.held = append(l.held, a)
	return a
}

// giveBack notes the runs of an answer that do not begin here. The caller holds the lock.
func (l *life) giveBack(runs []runData) {
	for _, e := range l.state.Ends() {
		if e.Status != attempts.Returned || slices.ContainsFunc(l.held, func(a *attempt) bool {
			return a.Attempt == e.Attempt
		}) {
			continue
		}
		for _, r := range runs {
			if r.run().Attempt == e.Attempt {
				a := l.hold(r)
				a.close(&end{Status: attempts.Returned, Message: "the worker cannot begin it now"}, a.began)
				a.tell(true)
				break
			}
		}
	}
}

// busySlots counts what takes a slot. The caller holds the lock.
func (l *life) busySlots() (busy attempts.Slots) {
	for _, a := range l.held {
		busy[a.Kind]++
	}
	return busy
}

// stopAll asks all handlers to stop.
func (l *life) stopAll(cause error) (working int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.held {
		a.stop(cause)
	}
	return len(l.state.Working())
}

func (a *attempt) stop(cause error) { a.cancel(cause) }

// wake asks for a newer poll.
func (l *life) wake() { wish(l.kick) }

// tell says that there is something to report.
func (l *life) tell(atOnce bool) {
	if atOnce {
		wish(l.urgent)
	}
	wish(l.soon)
}

func wish(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is wished for already
	}
}

// await waits for a wish; false when the loop is to end.
func (l *life) await(ctx context.Context, c <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-c:
		return true
	}
}

// pollDone notes that a poll is not under way any more.
func (l *life) pollDone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.underWay--
	l.checkQuiet()
}

// checkQuiet lets a worker that drains leave: it holds nothing, a server knows that it stops, and no poll is under
// way whose answer might still bring a run. The caller holds the lock.
func (l *life) checkQuiet() {
	if l.isQuiet || !l.stopping || !l.stopHeard || l.underWay > 0 || l.ended {
		return
	}
	if _, ok := l.state.Leave(); ok {
		l.isQuiet = true
		l.cancel()
		close(l.quiet)
	}
}

// longestPause is how long a server may ask to wait: the lease has to be renewed meanwhile.
func (l *life) longestPause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := time.Duration(l.state.Until()) - l.w.clock.Monotonic()
	return max(left/2, 0)
}
