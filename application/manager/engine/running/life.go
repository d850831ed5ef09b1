package running

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Halt stops the work of a node that has lost its right to it (engine rule
// 27): nothing is claimed or started any more, and every run is stopped as
// lost. It does not wait, and reports whether nothing runs any more. The ends may
// wait for the store; whatever somebody else has decided meanwhile, the store
// keeps.
func (t *TaskManager) Halt() (ended bool) {
	t.slots.Fence(true)
	t.mu.Lock()
	for _, a := range t.runs {
		a.cancel(entity.ErrStopLost)
	}
	t.mu.Unlock()
	return t.executing.Load() == 0
}

// Fence is Halt, and returns when nothing runs, or when ctx ends.
func (t *TaskManager) Fence(ctx context.Context) error {
	t.Halt()
	for {
		left := t.executing.Load()
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d runs of a fenced node have not ended: %w", left, ctx.Err())
		case <-t.quiet:
		}
	}
}

// Adopt ends a fence. Runs that are started from now on belong to the epoch;
// what the store still holds of earlier ones is recovered by Reconcile.
func (t *TaskManager) Adopt(epoch int64) {
	t.epoch.Store(epoch)
	t.slots.Fence(false)
	t.wakeClaim()
}

// Reap ends the attempts that a node held which is DOWN. They run again, or
// fail, as their jobs say. It returns how many executions the node still held. Many
// nodes may reap one: each end is conditional on the token.
func (t *TaskManager) Reap(ctx context.Context, nodeID string, epoch int64) (held int, err error) {
	execs, err := t.Claims.Held(ctx, nodeID)
	if err != nil {
		return 0, fmt.Errorf("read the runs held by %s: %w", nodeID, err)
	}
	execs = slices.DeleteFunc(execs, func(exec *entity.Execution) bool { return exec.Epoch > epoch })
	return len(execs), t.recover(ctx, execs)
}

// RunsReady is told that runs wait that this node may claim, on slots of a kind.
func (t *TaskManager) RunsReady(kind entity.SlotKind) {
	t.slots.SetBacklog(kind)
	t.wakeClaim()
}

// StopAsked is told that executions are to be stopped, and looks into the
// store whether that is so and why, for those that run here.
func (t *TaskManager) StopAsked(ctx context.Context, executionIDs []string) error {
	t.mu.Lock()
	here := slices.DeleteFunc(slices.Clone(executionIDs), func(id string) bool { return t.runs[id] == nil })
	t.mu.Unlock()
	if len(here) == 0 {
		return nil
	}
	execs, err := t.Executions.ByIDs(ctx, here)
	if err != nil {
		return fmt.Errorf("read runs that are to be stopped: %w", err)
	}
	for _, exec := range execs {
		if exec.CancelRequested && t.runsHere(exec) {
			t.stop(exec.ID, entity.ErrStopCancel, exec.Reason)
		}
	}
	return nil
}

// HeldEnds counts the ends that the store has not taken for long, see
// completion.Completer.
func (t *TaskManager) HeldEnds() int { return t.Ends.HeldEnds() }
