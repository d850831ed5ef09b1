package running

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/logbuffer"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/slots"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// active is one run on this node. It is the entity.Reporter of its attempt.
type active struct {
	*logbuffer.Buffer
	manager *TaskManager
	run     entity.Run
	ctx     context.Context
	cancel  context.CancelCauseFunc
	// time is how long the attempt is at work, and may be.
	time attemptTime
	// stopReason is the reason recorded when the run is cancelled; guarded by
	// the manager's mutex.
	stopReason entity.Reason
	// missing counts reconciliations that did not find the execution; likewise.
	missing int
	// parked is not nil once the attempt waited without its slot.
	parked *slots.Parked
}

// Start implements direct.Runner: it runs attempts that are committed to this
// node, each on a goroutine of its own, bounded by the slots. One that is not
// expected any more does not start, and gives its slot back: Reconcile ends it.
func (t *TaskManager) Start(runs []entity.Run) {
	unused := t.slotsOf(runs)
	t.mu.Lock()
	runs = t.takeExpected(runs)
	if !t.inFlight.enter(len(runs)) {
		runs = nil // the node has ended: its next life recovers them
	}
	t.executing.Add(int64(len(runs)))
	started := make([]*active, len(runs))
	fenced, epoch := t.slots.IsFenced() || !t.Lease.Holds(), t.epoch.Load()
	for i, run := range runs {
		a := &active{manager: t, run: run, Buffer: logbuffer.New(run.Execution, t.cfg.LogLimit, t.StoreClock)}
		a.ctx, a.cancel = context.WithCancelCause(t.base)
		if former := t.runs[run.Execution.ID]; former != nil {
			former.cancel(entity.ErrStopLost) // somebody ended that attempt elsewhere
		}
		t.runs[run.Execution.ID] = a
		// A transaction was under way when the fence went up, and may have been
		// committed only after it came down: its runs count as lost by now.
		if fenced || run.Execution.Epoch < epoch {
			a.cancel(entity.ErrStopLost)
		}
		started[i] = a
	}
	t.mu.Unlock()
	for kind, n := range t.slotsOf(runs) {
		unused[kind] -= n
	}
	t.slots.Release(unused)
	for _, a := range started {
		go t.execute(a)
	}
}

// Park implements entity.Parking. An attempt parks once.
func (a *active) Park(share string) (entity.Parked, bool) {
	if a.parked != nil {
		return nil, false
	}
	if a.parked = a.manager.slots.Park(a.manager.kindOf(a.run.Job), share); a.parked == nil {
		return nil, false
	}
	return a.parked, true
}

// ended notes that an attempt is not at work any more.
func (t *TaskManager) ended() {
	if t.executing.Add(-1) > 0 {
		return
	}
	select {
	case t.quiet <- struct{}{}:
	default:
	}
}

func (t *TaskManager) execute(a *active) {
	defer t.inFlight.leave()
	a.time.begin(t, a)
	t.Metrics.Started(entity.AttemptStart{
		Job: a.run.Job, ExecutionID: a.run.Execution.ID, Lateness: a.time.start.Sub(notBefore(a.run.Execution)),
	})
	// A handler that ends its goroutine must not take the run's end with it.
	outcome := entity.Failed(entity.ReasonPanic, "the handler ended its goroutine instead of returning")
	defer func() {
		a.cancel(nil)
		t.ended()
		start, took := a.time.end(t)
		a.Buffer.End(&outcome)
		result := &completion.Result{
			Run: a.run, Outcome: outcome, Start: start, End: start.Add(took), Took: took, Log: a.Buffer,
		}
		if result.Slotless = a.parked.Leave(); !result.Slotless {
			result.Slots = slotOf(t.kindOf(a.run.Job))
		}
		t.Ends.Add(result)
	}()
	a.run.Tokens, a.run.Parking = t.Tokens, a
	a.run.Deadline = a.run.Job.DeadlineFrom(a.time.start)
	outcome = t.Executor.Run(a.time.context(a), a.run, a)
	if outcome.Detached() && !outcome.Opens() {
		a.Log(entity.LogSystem, completion.AcceptedLine(t.cfg.NodeID, a.time.until(a.run.Job)))
	}
	if outcome.Status == entity.StatusCancelled {
		t.mu.Lock()
		outcome.Reason = a.stopReason
		t.mu.Unlock()
	}
}

// notBefore is the moment from which the start of this attempt is late: its
// due time, or for a retry the moment it became ready, which the execution no longer
// tells; a retry therefore counts from its latest change.
func notBefore(e *entity.Execution) time.Time {
	if e.Attempt > 1 {
		return e.UpdateTime
	}
	return e.DueTime
}

// stop asks a run of this node to end.
func (t *TaskManager) stop(id string, cause error, reason entity.Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.runs[id]; a != nil {
		if a.stopReason == entity.ReasonNone {
			a.stopReason = reason
		}
		a.cancel(cause)
	}
}

// endings is what a TaskManager is for the Completer of its runs.
type endings struct{ *TaskManager }

// Draining implements completion.Node.
func (t endings) Draining() bool { return t.slots.IsDraining() }

// HasSpare implements completion.Node.
func (t endings) HasSpare(job *entity.Job) bool { return t.slots.HasSpare(t.kindOf(job)) }

// Done implements completion.Node: it forgets attempts and frees their slots.
// A later attempt of the same run may be at work here already: a fenced node
// comes back and claims what it had lost before its own late report is refused.
func (t endings) Done(items []*completion.Result) {
	var freed entity.Slots
	t.mu.Lock()
	for _, f := range items {
		e := f.Run.Execution
		for kind, n := range f.Slots {
			freed[kind] += n
		}
		if f.Slots != (entity.Slots{}) || f.Slotless {
			if a := t.runs[e.ID]; a != nil && a.run.Execution.Token == e.Token {
				delete(t.runs, e.ID)
			}
			if t.expected[e.ID] == e.Token { // it ended without a run
				delete(t.expected, e.ID)
			}
		} else if t.recovering[e.ID] == e.Token {
			delete(t.recovering, e.ID)
		}
	}
	t.mu.Unlock()
	t.slots.Release(freed)
}
