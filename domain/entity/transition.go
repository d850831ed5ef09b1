package entity

import (
	"fmt"
	"time"
)

// TransitionError says that Status.Next does not list a change of state. The
// method of Execution that returns it has changed nothing.
type TransitionError struct {
	ExecutionID string
	From, To    Status
}

// Error implements error.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("execution %s is %s and cannot become %s", e.ExecutionID, e.From, e.To)
}

// become is the only place that changes the state of an execution.
func (e *Execution) become(to Status) error {
	if !e.Status.CanBecome(to) {
		return &TransitionError{e.ID, e.Status, to}
	}
	e.Status = to
	return nil
}

// StartOn begins the next attempt on a node, in one life of that node. The
// execution's reason for its wait goes.
func (e *Execution) StartOn(nodeID string, epoch int64, now time.Time) error {
	if err := e.become(StatusRunning); err != nil {
		return err
	}
	e.NodeID, e.Epoch, e.Claim = nodeID, epoch, RunningKey(nodeID)
	e.Attempt++
	e.Token++
	e.StartTime, e.UpdateTime = now, now
	e.ErrorMessage = ""
	return nil
}

// RevertStart undoes the StartOn of a new execution that was not stored.
func (e *Execution) RevertStart() error {
	if err := e.become(StatusWaiting); err != nil {
		return err
	}
	e.NodeID, e.Epoch, e.Claim = "", 0, ""
	e.Attempt--
	e.Token--
	e.StartTime = time.Time{}
	return nil
}

// AttemptTime is when an attempt was at work.
type AttemptTime struct {
	Start, End time.Time
	// Took is measured by a monotonic clock.
	Took time.Duration
}

// Finish ends the execution with what its attempt came to. status is the final
// state that follows from the outcome.
func (e *Execution) Finish(status Status, o *Outcome, at AttemptTime, now time.Time) error {
	if err := e.end(status, o.Reason, now); err != nil {
		return err
	}
	e.StartTime, e.EndTime, e.Duration = at.Start, at.End, at.Took
	e.Progress, e.Checkpoint = o.Progress, o.Checkpoint
	e.ErrorMessage, e.Result = o.Message, o.Result
	return nil
}

// NextAttempt says how an execution waits for its next attempt.
type NextAttempt struct {
	Wait time.Duration
	// NodeLost: the attempt ended with its node, so that it counts as a loss.
	NodeLost bool
	// StartWithin is the span in which the next attempt must start; 0 is unlimited.
	StartWithin time.Duration
	// KeepNode: the execution belongs to its node for good.
	KeepNode bool
}

// Retry sends the execution back to wait for its next attempt. Its slot among the fires of
// its job stays (engine rule 16). The attempt keeps its own outcome. Reason and message of
// the row belong to the next attempt (engine rule 19), which has the whole span to start
// in (engine rule 17).
func (e *Execution) Retry(r NextAttempt, o *Outcome, now time.Time) error {
	if err := e.become(StatusWaiting); err != nil {
		return err
	}
	start := now.Add(r.Wait)
	e.Claim = ScheduledKey(start)
	if r.NodeLost {
		e.NodeLosses++
	} else if o.Reason != ReasonShutdown {
		e.RetryCount++
	}
	e.StartDeadline = time.Time{}
	if r.StartWithin > 0 {
		e.StartDeadline = start.Add(r.StartWithin)
	}
	e.StartTime, e.EndTime, e.Duration, e.Progress = time.Time{}, time.Time{}, 0, 0
	e.Reason, e.ErrorMessage, e.Result = ReasonNone, "", ""
	e.Checkpoint, e.CancelRequested, e.UpdateTime = o.Checkpoint, false, now
	if !r.KeepNode {
		e.NodeID = ""
	}
	return nil
}

// Interrupted reports whether an attempt of a waiting execution ended with its node, lost or stopped. Of attempts that
// failed each one counts as a retry, and an attempt that did not begin counts as none.
func (e *Execution) Interrupted() bool { return e.Attempt > e.RetryCount }

// RestartDeadline gives an execution whose wait until a moment is over now the whole span to start in.
func (e *Execution) RestartDeadline(until, now time.Time) {
	if !e.StartDeadline.IsZero() {
		e.StartDeadline = e.StartDeadline.Add(now.Sub(until))
	}
}

// PutBack undoes the start of an attempt that did not begin. It does not count,
// and what the execution says of former ones stays. why is kept unless it is
// empty.
func (e *Execution) PutBack(until time.Time, why string, keepNode bool, now time.Time) error {
	if err := e.become(StatusWaiting); err != nil {
		return err
	}
	e.Claim = ScheduledKey(until)
	e.Attempt--
	e.StartTime, e.UpdateTime = time.Time{}, now
	if why != "" {
		e.ErrorMessage = why
	}
	if !keepNode {
		e.NodeID = ""
	}
	return nil
}

// PutBackBefore reports whether the start of an attempt may have been undone: each start has a token, and takes it
// along.
func (e *Execution) PutBackBefore() bool { return e.Token > int64(e.Attempt) }

// Detach lets a running attempt go on without its node, until the deadline; zero
// is none. Nobody holds it then, and its fencing token alone guards each write
// (engine rule 19).
func (e *Execution) Detach(start, deadline time.Time, keepNode bool, now time.Time) error {
	if e.Status != StatusRunning {
		return &TransitionError{e.ID, e.Status, StatusRunning}
	}
	e.StartTime, e.UpdateTime = start, now
	e.Epoch, e.Claim = 0, DetachedKey(deadline)
	if !keepNode {
		e.NodeID = ""
	}
	return nil
}

// OpenRun lets a running attempt go on as an open workflow run, without its node.
func (e *Execution) OpenRun(start, now time.Time) error {
	if err := e.Detach(start, time.Time{}, false, now); err != nil {
		return err
	}
	e.Claim = OpenKey()
	return nil
}

// Skip ends a waiting execution that does not run. An execution that has run before was not
// skipped: it is CANCELLED where a newer fire replaces it, else FAILED.
func (e *Execution) Skip(reason Reason, now time.Time) error {
	status, message := StatusSkipped, ""
	switch {
	case e.Attempt == 0:
	case reason == ReasonReplaced:
		status = StatusCancelled
	default:
		status, message = StatusFailed, "the retry did not start before its start deadline"
	}
	return e.close(status, reason, message, now)
}

// Fail ends a waiting execution that cannot run any more.
func (e *Execution) Fail(reason Reason, message string, now time.Time) error {
	return e.close(StatusFailed, reason, message, now)
}

// WaitForApproval lets a waiting execution wait for people, whose time ends at that moment.
func (e *Execution) WaitForApproval(until time.Time) { e.Claim = ApprovalKey(until) }

// Approve ends an approval as a success.
func (e *Execution) Approve(now time.Time) error {
	if !ApprovalSpan().Of(e.Claim) {
		return &TransitionError{e.ID, e.Status, StatusSuccess}
	}
	return e.close(StatusSuccess, ReasonNone, "", now)
}

// Refuse ends an approval that is not given.
func (e *Execution) Refuse(reason Reason, message string, now time.Time) error {
	if !ApprovalSpan().Of(e.Claim) {
		return &TransitionError{e.ID, e.Status, StatusFailed}
	}
	return e.close(StatusFailed, reason, message, now)
}

// Cancel ends an execution that waits, or runs without a node. The duration of
// one that runs is until now.
func (e *Execution) Cancel(reason Reason, now time.Time) error {
	running := e.Status == StatusRunning
	if err := e.close(StatusCancelled, reason, "", now); err != nil {
		return err
	}
	if running {
		e.Duration = max(now.Sub(e.StartTime), 0)
	}
	return nil
}

// CancelAttempt ends an execution whose attempt is over, or goes on without a
// node, because a person or a newer fire had asked for it. The message stays.
func (e *Execution) CancelAttempt(reason Reason, now time.Time) error {
	if err := e.end(StatusCancelled, reason, now); err != nil {
		return err
	}
	e.EndTime = now
	return nil
}

// RequestCancel asks the node that runs the execution to stop it.
func (e *Execution) RequestCancel(reason Reason, now time.Time) error {
	if e.Status != StatusRunning {
		return &TransitionError{e.ID, e.Status, StatusCancelled}
	}
	e.CancelRequested, e.Reason, e.UpdateTime = true, reason, now
	return nil
}

// close makes an execution final whose message and result are to tell of this end
// alone: those of a former attempt are kept with that.
func (e *Execution) close(status Status, reason Reason, message string, now time.Time) error {
	if err := e.end(status, reason, now); err != nil {
		return err
	}
	e.EndTime, e.ErrorMessage, e.Result = now, message, ""
	return nil
}

// end makes an execution final, which takes it out of the claim index.
func (e *Execution) end(status Status, reason Reason, now time.Time) error {
	if !status.Final() {
		return &TransitionError{e.ID, e.Status, status}
	}
	if err := e.become(status); err != nil {
		return err
	}
	e.Reason, e.Claim, e.UpdateTime = reason, "", now
	return nil
}

// WaitUntil lets a waiting execution start at a moment. limited: it then needs a
// slot of its group, and takes none before.
func (e *Execution) WaitUntil(at time.Time, limited bool) {
	e.Claim = ScheduledKey(at)
	if limited {
		e.Claim = ScheduledLimitedKey(at)
	}
}

// WaitIn puts a waiting execution into a queue, at its priority and a fair time.
func (e *Execution) WaitIn(q Queue, fair time.Time) { e.Claim = q.Key(e.Priority, fair) }

// WaitForJob lets a waiting execution wait for an in-flight fire of its job to end; seq
// keeps the order of fires.
func (e *Execution) WaitForJob(seq int64) { e.Claim = QueuedKey(e.JobID, seq) }

// MoveTo puts an execution that waits in a queue into another one, at the same
// priority and fair time.
func (e *Execution) MoveTo(q Queue) { e.Claim = e.Claim.In(q) }
