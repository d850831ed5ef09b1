package worker

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

const (
	// inUsePause is the pause before a name is asked for again that another process has.
	inUsePause = 2 * time.Second
	// deafWait is how long handlers may take to return once they were asked to stop at the end of the grace. An executor
	// gives its commands 10 s between TERM and KILL.
	deafWait         = 5 * time.Second
	deafExecutorWait = 15 * time.Second
	// leaveTries is how many servers are told that the worker leaves.
	leaveTries = 3
)

var (
	errLeaseOver = errors.New("the lease is over: no server has stored a beat of this worker in time")
	errEpochLost = errors.New("the servers have ended this worker's epoch")
)

// Worker runs jobs for the scheduler. Run is called once.
type Worker struct {
	o      Options
	log    *slog.Logger
	clock  clock.Clock
	client *client
	// jobs are those that it declares, as they are sent.
	jobs []json.RawMessage
	// handlers are the goroutines of all handlers, also of lives that are over.
	handlers sync.WaitGroup

	mu      sync.Mutex
	life    *life
	working attempts.Slots
	// refused: the servers refuse the token since the last call that they took.
	refused bool
	whose   error
}

// New checks the options and reads the token; it calls nobody.
func New(o Options) (*Worker, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("make a worker: %w", err)
	}
	jobs, err := bodies(o.Jobs, slices.Collect(maps.Keys(o.Handlers)))
	if err != nil {
		return nil, fmt.Errorf("make a worker: %w", err)
	}
	c := clock.NewSystem()
	client, err := newClient(o, c)
	if err != nil {
		return nil, fmt.Errorf("make a worker: %w", err)
	}
	return &Worker{
		o: o, log: o.Logger.With("worker", o.Group+"/"+o.Instance), clock: c, client: client, jobs: jobs,
	}, nil
}

// Run registers the worker and runs what the servers give it. When ctx ends it drains: it takes nothing more, lets
// runs end within the grace, asks the others to stop and gives them back, and leaves. Then it returns nil.
//
// It returns an error when the servers refuse it for good: the token, the group, or what the worker says of itself.
// And when handlers ignore that they are to stop: their runs end for the servers when the lease is over, so the
// program should end.
func (w *Worker) Run(ctx context.Context) error {
	defer w.client.http.CloseIdleConnections()
	for {
		l, err := w.register(ctx)
		if err != nil || l == nil {
			return err
		}
		if done, err := l.live(ctx); done || err != nil {
			return err
		}
	}
}

// register asks for a life until a server grants one. It returns nil when ctx has ended.
func (w *Worker) register(ctx context.Context) (*life, error) {
	call := w.introduction()
	again := false
	for ctx.Err() == nil {
		sent := attempts.Instant(w.clock.Monotonic())
		var answer registered
		err := w.client.call(ctx, reportWait, "/api/v1/workers", call, &answer)
		if err == nil && (answer.WorkerID == "" || answer.LeaseMs <= 0) {
			return nil, errors.New("register this worker: the answer has no workerId or leaseMs; is it a scheduler?")
		}
		if err == nil {
			w.taken()
			w.log.Info("the worker is registered", "id", answer.WorkerID, "epoch", answer.Epoch)
			l := newLife(w, answer, sent)
			w.mu.Lock()
			w.life = l
			w.mu.Unlock()
			if w.o.Registered != nil {
				w.o.Registered()
			}
			return l, nil
		}
		pause := w.client.pause()
		var p *problem
		switch {
		case ctx.Err() != nil:
			continue
		case is(err, "instance_in_use"):
			pause = inUsePause
		case unauthorized(err):
			changed, readErr := w.client.readToken()
			if !changed && again {
				return nil, fmt.Errorf("register this worker: %w", errors.Join(err, readErr))
			}
			again, pause = !changed, max(pause, firstPause)
		case errors.As(err, &p) && p.status < 500 && p.status >= 400 && !transient(p.status):
			return nil, fmt.Errorf("register this worker: %w", err)
		case errors.As(err, &p):
			pause = max(pause, p.retryAfter, firstPause)
		}
		w.log.Warn("the worker is not registered yet", "error", err, "pauseMs", pause.Milliseconds())
		_ = clock.Sleep(ctx, w.clock, pause) // the loop looks at ctx
	}
	return nil, nil //nolint:nilnil // it was asked to stop, so there is neither
}

// transient: another server, or the same one later, may answer otherwise.
func transient(status int) bool { return status == 404 || status == 408 || status == 429 }

// introduction is what the worker says of itself, under a new boot id.
func (w *Worker) introduction() registerCall {
	host, _ := os.Hostname()
	handlers := slices.Collect(maps.Keys(w.o.Handlers))
	if w.o.HTTP {
		handlers = append(handlers, entity.HTTPHandler)
	}
	slices.Sort(handlers)
	return registerCall{
		Protocol: protocol, Group: w.o.Group, Instance: w.o.Instance, BootID: rand.Text(),
		Slots: w.o.Slots, CommandSlots: w.o.CommandSlots, Handlers: slices.Compact(handlers),
		Labels: w.o.Labels, Weight: w.o.Weight, SDK: sdkName, Runtime: runtime.Version(), Version: w.o.Version,
		Host: host, PID: os.Getpid(),
	}
}

// live is one life. done says that the worker has drained.
func (l *life) live(ctx context.Context) (done bool, err error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	l.loops.Go(func() { l.polls(inner) })
	l.loops.Go(func() { l.reports(inner) })
	l.loops.Go(func() { l.watch(inner) })
	l.loops.Go(func() { l.declare(inner) })
	defer func() {
		cancel()
		l.loops.Wait()
	}()
	select {
	case <-l.over:
	case <-ctx.Done():
		return true, l.drain(context.WithoutCancel(ctx))
	}
	lost := l.stopAll(entity.ErrStopLost)
	why := l.reason()
	l.w.log.Error("this life of the worker is over", "reason", why, "lostRuns", lost)
	if refusal := l.w.refusal(); refusal != nil && errors.Is(why, errLeaseOver) {
		return false, fmt.Errorf("%w, and the servers refuse the token: %w", why, refusal)
	}
	return false, nil
}

// drain lets what runs end, gives back the rest, and leaves.
func (l *life) drain(ctx context.Context) error {
	l.mu.Lock()
	l.state.Stop()
	l.stopping = true
	l.w.log.Info("the worker drains", "running", len(l.state.Working()))
	l.mu.Unlock()
	l.wake()
	grace := l.w.clock.NewTimer(l.w.o.Grace)
	defer grace.Stop()
	for asked := false; ; {
		select {
		case <-l.quiet:
			l.leave(ctx)
			return nil
		case <-l.over:
			return fmt.Errorf("the worker did not drain, %d runs are lost: %w", l.stopAll(entity.ErrStopLost), l.reason())
		case <-grace.C():
		}
		n := l.stopAll(entity.ErrStopShutdown)
		switch {
		case asked && n > 0:
			return fmt.Errorf("%d handlers do not stop: their runs end with the lease of this worker", n)
		case asked: // ends wait for their receipts, until the lease is over
			continue
		}
		asked = true
		if l.w.o.Executor != nil {
			grace.Reset(deafExecutorWait)
		} else {
			grace.Reset(deafWait)
		}
	}
}

// leave tells a server that the worker is gone. Where none hears it, the lease runs out.
func (l *life) leave(ctx context.Context) {
	for range leaveTries {
		err := l.w.client.call(ctx, callWait, l.path("leave"), leaveCall{l.epoch}, nil)
		if err == nil || is(err, codeEpochLost) {
			return
		}
		l.w.log.Warn("no server knows yet that this worker leaves", "error", err)
		_ = clock.Sleep(ctx, l.w.clock, firstPause) // it is tried anyway
	}
}

const codeEpochLost = "epoch_lost"

// trouble takes a call that failed, and returns how long to wait before the next one.
func (l *life) trouble(ctx context.Context, err error, call string) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	l.mu.Lock()
	pause := min(l.w.client.pause(), l.beat) // it is to call each beat, whatever happens
	l.mu.Unlock()
	var p *problem
	switch {
	case is(err, codeEpochLost):
		l.mu.Lock()
		l.finish(errEpochLost)
		l.mu.Unlock()
		return 0 // the loops end now
	case unauthorized(err):
		changed, readErr := l.w.client.readToken()
		l.w.refuse(errors.Join(err, readErr))
		if changed {
			return 0
		}
		pause = max(pause, again)
	case errors.As(err, &p):
		pause = max(pause, min(p.retryAfter, l.longestPause()))
	}
	l.w.log.Warn("a call failed", "call", call, "error", err, "pauseMs", pause.Milliseconds())
	return pause
}

// begin and end count handlers.
func (w *Worker) begin(kind attempts.Kind) { w.count(kind, 1) }
func (w *Worker) end(kind attempts.Kind)   { w.count(kind, -1) }

func (w *Worker) count(kind attempts.Kind, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working[kind] += n
}

// leftOver counts handlers of former lives, which take slots until they return. The caller holds the life's lock.
func (w *Worker) leftOver(l *life) attempts.Slots {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.working
	for kind := range left {
		left[kind] -= l.working[kind]
	}
	return left
}

// refuse notes that the servers refuse the token, taken that they have taken a call.
func (w *Worker) refuse(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused, w.whose = true, why
}

func (w *Worker) taken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused, w.whose = false, nil
}

func (w *Worker) refusedSince() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

func (w *Worker) refusal() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.whose
}
