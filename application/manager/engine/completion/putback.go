package completion

import (
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
)

// hold decides about a call that was held back: it waits on, or it counts as a failed attempt from here on.
func (c *completion) hold(f *Result) {
	f.hold = entity.Hold{}
	if !f.Outcome.IsHeldBack() {
		return
	}
	exec := f.Run.Execution
	var policy entity.RetryPolicy
	if job := c.jobs.Of(exec); job != nil {
		policy = job.Retry
	}
	sum := entity.TotalHold(exec.Holds)
	if wait, ok := retry.Hold(policy, sum.For, f.Outcome.RetryAfter); ok {
		f.hold = entity.Hold{ExecutionID: exec.ID, Attempt: exec.Attempt, Count: 1, For: wait}
		return
	}
	f.Outcome = entity.Failed(entity.ReasonError, heldMessage(f.Outcome.Message, sum))
}

// putBack makes the execution's next state of an attempt that did not begin: it is
// routed anew when its moment comes, and keeps a slot of its group.
func (c *completion) putBack(f *Result) (decision, error) {
	exec := *f.Run.Execution
	wait, why := f.Outcome.RetryAfter, f.Outcome.Message
	if f.hold.Count > 0 {
		sum := entity.TotalHold(append([]entity.Hold{f.hold}, exec.Holds...))
		wait, why = f.hold.For, heldMessage(why, sum)
	}
	err := exec.PutBack(c.now.Add(wait), why, f.Run.Job.Broadcast, c.now)
	return decision{item: f, outcome: f.Outcome, exec: &exec}, err
}

func heldMessage(why string, sum entity.Hold) string {
	if sum.Count == 0 {
		return why
	}
	return fmt.Sprintf("%s (%s)", why, sum)
}
