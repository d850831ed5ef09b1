package completion

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// AcceptedLine ends what the node says of an attempt that goes on without it.
func AcceptedLine(nodeID string, deadline time.Time) string {
	until := ""
	if !deadline.IsZero() {
		until = ", until " + clock.Text(deadline)
	}
	return fmt.Sprintf("the target accepted the call of node %s and reports the end of the run%s", nodeID, until)
}

// continues reports whether a run that could not be detached goes on as if it had
// been: its target has reported the end already, or it was detached in a
// transaction without an answer.
func continues(f *Result, exec *entity.Execution) bool {
	e := f.Run.Execution
	switch {
	case exec == nil || exec.NodeLosses > e.NodeLosses:
		return false
	case exec.RetryCount > e.RetryCount: // the target reported a failure
		return true
	}
	return exec.Token == e.Token && exec.Attempt == e.Attempt &&
		(exec.Detached() || exec.Open() || exec.Status.Final() && exec.Reason != entity.ReasonNodeLost)
}

// End is the end of an attempt that nobody on this node is at work on.
type End struct {
	// Run is its execution, as it was read, and the definition to go by.
	Run     entity.Run
	Outcome entity.Outcome
	// Also runs in the transaction that takes the end, after it; may be nil.
	Also func(ctx context.Context, tx repository.Tx) error
}

// Conclude stores ends and says of each whether the store took it. One that it
// did not take came too late, or the run has changed hands since it was read.
// An end that cannot be stored holds up no other; its error is returned.
func (m *Completer) Conclude(ctx context.Context, ends []End) (taken []bool, err error) {
	now := m.StoreClock.Now()
	items := make([]*Result, len(ends))
	for i, e := range ends {
		start := e.Run.Execution.StartTime
		if start.IsZero() {
			start = now
		}
		items[i] = &Result{
			Run: e.Run, Outcome: e.Outcome, Start: start, End: now, Took: max(now.Sub(start), 0), external: true, also: e.Also,
		}
		m.clean(items[i])
	}
	if len(items) > 0 {
		err = batch.Walk(m.blame, items, (*Result).key, func(items []*Result) error {
			return m.storeIn(ctx, items)
		}, func(f *Result, cause error) error {
			return fmt.Errorf("store the end of run %s: %w", f.Run.Execution.ID, cause)
		})
	}
	taken = make([]bool, len(items))
	for i, f := range items {
		taken[i] = f.stored && !f.refused
	}
	return taken, err
}

// clean makes the texts of an end fit for the store. A step succeeds only with a result that can be given to the steps
// which read it.
func (m *Completer) clean(f *Result) {
	if o := &f.Outcome; m.Outputs != nil && o.Status == entity.StatusSuccess && f.Run.Execution.Inline() {
		if why := m.Outputs.TooLong(f.Run.Execution, o.Result, o.Cut || len(o.Result) > maxResult); why != "" {
			o.Status, o.Reason, o.Message, o.NoRetry = entity.StatusFailed, entity.ReasonOutputTooLarge, why, true
		}
	}
	f.Outcome.Result = validation.Text(f.Outcome.Result, maxResult)
	f.Outcome.Message = validation.Text(f.Outcome.Message, maxMessage)
	if f.external {
		f.Outcome.Checkpoint = validation.Text(f.Outcome.Checkpoint, entity.MaxCheckpoint)
	}
}

// addExternal stores what belongs to the ends that were taken and that
// somebody else was at work on.
func (c *completion) addExternal(ctx context.Context, tx repository.Tx) error {
	for _, d := range c.done {
		if d.item.also == nil {
			continue
		}
		if err := d.item.also(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// setsCheckpoint reports whether the end has a checkpoint of its own. Without one
// the execution's stands: what is known of that here may be old, because a target
// reports to any node, also before it has answered the call.
func (f *Result) setsCheckpoint() bool {
	return !f.reduced && (f.Outcome.Checkpoint != f.Run.Execution.Checkpoint || f.Log != nil && f.Log.CheckpointSet())
}
