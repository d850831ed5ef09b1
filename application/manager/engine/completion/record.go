package completion

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/chain"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
)

// record is the completion transaction: lock the coordinated jobs by id, write
// the ends and the retries, give slots on, and add what must follow.
func (c *completion) record(ctx context.Context, tx repository.Tx) error {
	if err := c.lockJobs(ctx, tx); err != nil {
		return err
	}
	var finals, again []decision
	for _, f := range c.items {
		c.hold(f)
		if f.Outcome.Status == entity.StatusWaiting {
			d, err := c.putBack(f)
			if err != nil {
				return err
			}
			again = append(again, d)
			continue
		}
		if f.Outcome.Detached() {
			again = append(again, decision{item: f, outcome: f.Outcome, exec: f.Run.Execution})
			continue
		}
		d, err := c.decide(f)
		switch {
		case err != nil:
			return err
		case d.retried:
			again = append(again, d)
		default:
			finals = append(finals, d)
		}
	}
	if err := c.writeRetries(ctx, tx, again); err != nil {
		return err
	}
	if err := c.addRuns(ctx, tx); err != nil {
		return err
	}
	finals, err := c.writeFinals(ctx, tx, finals)
	if err != nil {
		return err
	}
	if err := c.releaseSlots(ctx, tx, finals); err != nil {
		return err
	}
	if err := c.addRecords(ctx, tx, finals); err != nil {
		return err
	}
	c.done = append(c.done, finals...)
	if err := c.addUsages(ctx, tx); err != nil {
		return err
	}
	if err := c.addExternal(ctx, tx); err != nil {
		return err
	}
	return c.addLogs(ctx, tx)
}

func (c *completion) lockJobs(ctx context.Context, tx repository.Tx) error {
	var ids []string
	for _, f := range c.items {
		if f.endOnly {
			continue
		}
		if f.Run.Job.Coordinated() {
			ids = append(ids, f.Run.Job.ID)
		}
		if f.Run.Job.Limited { // should the job be gone, its group is still to be opened
			c.groups = append(c.groups, f.Run.Job.Group)
		}
	}
	mine, err := c.lock(ctx, tx, ids)
	if err != nil {
		return fmt.Errorf("lock the jobs of ended runs: %w", err)
	}
	if len(mine) > 0 {
		merged := maps.Clone(c.jobs)
		if merged == nil {
			merged = entity.Definitions{}
		}
		maps.Copy(merged, mine)
		c.jobs = merged
	}
	return nil
}

// lock locks the jobs, and the groups. Unless it is patient, ends of jobs that
// somebody else has locked are left out.
func (c *completion) lock(ctx context.Context, tx repository.Tx, ids []string) (map[string]*entity.Job, error) {
	if c.waitForLocks {
		return c.completer.Admitter.Lock(ctx, tx, ids, c.groups...)
	}
	jobs, locked, err := c.completer.Admitter.TryLock(ctx, tx, ids, c.groups...)
	if err != nil || len(locked) == 0 {
		return jobs, err
	}
	var free []*Result
	for _, f := range c.items {
		if f.coordinated() && slices.Contains(locked, f.Run.Job.ID) {
			c.locked = append(c.locked, f)
		} else {
			free = append(free, f)
		}
	}
	c.items = free
	return jobs, nil
}

// decide makes the execution's next state of an end, under the job as it is now. A
// deleted job's failures are not retried.
func (c *completion) decide(f *Result) (decision, error) {
	exec := *f.Run.Execution
	d := decision{item: f, outcome: f.Outcome, exec: &exec}
	in := retry.Input{
		Outcome: f.Outcome, RetryCount: exec.RetryCount, NodeLosses: exec.NodeLosses,
		Random: c.completer.Random(),
	}
	job := c.jobs.Of(&exec)
	if job != nil {
		in.Policy, in.OnNodeLoss = job.Retry, job.OnNodeLoss
	} else {
		in.OnNodeLoss = entity.NodeLossFail
	}
	if f.Run.Job.Type == entity.JobWorkflow {
		in.OnNodeLoss = entity.NodeLossRetry // nothing of the workflow run has begun
	}
	if f.Run.Job.Broadcast {
		in.OnNodeLoss = entity.NodeLossFail // the run is of that node alone (engine rule 18)
	}
	decision := retry.Decide(in)
	if !decision.Retry {
		d.outcome.Status = decision.Status
		exec.SuccessAsked = decision.Status == entity.StatusSuccess && c.completer.asksSuccess(f.Run.Job)
		return d, exec.Finish(decision.Status, &f.Outcome, entity.AttemptTime{Start: f.Start, End: f.End, Took: f.Took},
			c.now)
	}
	d.retried, d.note = true, decision.Note
	next := entity.NextAttempt{Wait: decision.Wait, NodeLost: decision.NodeLoss, KeepNode: f.Run.Job.Broadcast}
	if job != nil {
		next.StartWithin = time.Duration(job.StartDeadlineSec) * time.Second
	}
	return d, exec.Retry(next, &f.Outcome, c.now)
}

func (m *Completer) asksSuccess(job *entity.Job) bool {
	return job.Alerts.Successes() || m.AsksSuccess != nil && m.AsksSuccess(job)
}

// writeRetries keeps the attempt that ended, if it had begun, and parks the execution
// until its next. Of an attempt that goes on elsewhere it detaches the execution.
func (c *completion) writeRetries(ctx context.Context, tx repository.Tx, again []decision) error {
	if len(again) == 0 {
		return nil
	}
	ids := make([]string, len(again))
	for i, d := range again {
		ids[i] = d.exec.ID
	}
	slices.Sort(ids)
	held, err := tx.Executions.Lock(ctx, ids)
	if err != nil {
		return fmt.Errorf("lock %d runs to be retried: %w", len(ids), err)
	}
	byID := entity.ByID(held)
	var attempts []entity.Attempt
	var holds []entity.Hold
	for _, d := range again {
		mine, exec := d.item.Run.Execution, byID[d.exec.ID]
		if exec == nil || !exec.HeldAs(mine) {
			c.refused = append(c.refused, d.item)
			continue
		}
		detached, opens := d.item.Outcome.Detached(), d.item.Outcome.Opens()
		if opens {
			next := *exec
			if err := next.OpenRun(d.item.Start, c.now); err != nil {
				return err
			}
			d.exec = &next
		} else if detached {
			// A broadcast's keeps its node, where its retries belong.
			next, job := *exec, d.item.Run.Job
			if err := next.Detach(d.item.Start, job.DeadlineFrom(d.item.Start), job.Broadcast, c.now); err != nil {
				return err
			}
			d.exec = &next
		}
		if exec.CancelRequested {
			// Somebody cancelled it while the attempt was failing.
			if err := d.exec.CancelAttempt(exec.Reason, c.now); err != nil {
				return err
			}
			d.retried = false
			d.outcome = entity.Outcome{Status: entity.StatusCancelled, Reason: exec.Reason}
		}
		if !d.item.setsCheckpoint() {
			d.exec.Checkpoint = exec.Checkpoint
		}
		begun := d.item.Outcome.Status != entity.StatusWaiting
		if !begun && d.exec.Status.Final() {
			d.outcome = entity.Outcome{Status: d.exec.Status, Reason: d.exec.Reason}
		}
		if err := tx.Executions.Update(ctx, d.exec, entity.StatusRunning, mine.Token); err != nil {
			return fmt.Errorf("park run %s for its retry: %w", d.exec.ID, err)
		}
		if opens && !d.exec.Status.Final() {
			c.opened = append(c.opened, d.exec)
		}
		if d.item.hold.Count > 0 && !d.exec.Status.Final() {
			holds = append(holds, d.item.hold)
		}
		over := begun && !detached
		if over {
			attempts = append(attempts, attemptOf(d))
		}
		if over || d.exec.Status.Final() {
			c.done = append(c.done, d)
		}
		if until, ok := d.exec.Claim.Until(); ok {
			c.postCommit.Waits = append(c.postCommit.Waits, entity.SteadyWait{
				Execution: d.exec.ID, Claim: d.exec.Claim, Due: c.steady + until.Sub(c.now),
			})
		}
		if until, ok := d.exec.Claim.ScheduledUntil(); ok {
			c.postCommit.Schedule(until)
		}
	}
	if err := tx.Records.AddHolds(ctx, holds); err != nil {
		return fmt.Errorf("keep that %d calls were held back: %w", len(holds), err)
	}
	if len(attempts) == 0 {
		return nil
	}
	if err := tx.Records.AddAttempts(ctx, attempts); err != nil {
		return fmt.Errorf("keep %d former attempts: %w", len(attempts), err)
	}
	return nil
}

func attemptOf(d decision) entity.Attempt {
	f := d.item
	return entity.Attempt{
		ExecutionID: d.exec.ID, Attempt: f.Run.Execution.Attempt, Status: f.Outcome.Status, Reason: f.Outcome.Reason,
		NodeID: f.Run.Execution.NodeID, StartTime: f.Start, EndTime: f.End,
		ErrorMessage: d.message(), Result: f.Outcome.Result, Progress: f.Outcome.Progress, ExitCode: f.Outcome.ExitCode,
	}
}

// writeFinals writes the final states and returns those that were taken.
func (c *completion) writeFinals(ctx context.Context, tx repository.Tx, finals []decision) ([]decision, error) {
	if len(finals) == 0 {
		return nil, nil
	}
	slices.SortFunc(finals, func(a, b decision) int { return strings.Compare(a.exec.ID, b.exec.ID) })
	writes := make([]repository.Finish, len(finals))
	for i, d := range finals {
		mine := d.item.Run.Execution
		writes[i] = repository.Finish{
			ID: mine.ID, NodeID: mine.NodeID, Epoch: mine.Epoch, Token: mine.Token,
			Status: d.exec.Status, Reason: d.exec.Reason, StartTime: d.exec.StartTime, EndTime: d.exec.EndTime,
			Duration: d.exec.Duration, Progress: d.exec.Progress, ErrorMessage: d.exec.ErrorMessage, Result: d.exec.Result,
			ExitCode: d.item.Outcome.ExitCode,
		}
	}
	if err := storeCheckpoints(ctx, tx, finals); err != nil {
		return nil, err
	}
	refused, err := tx.Executions.Finish(ctx, writes, c.now)
	if err != nil {
		return nil, fmt.Errorf("finish %d runs: %w", len(writes), err)
	}
	if len(refused) == 0 {
		return finals, nil
	}
	taken := finals[:0]
	for i, d := range finals {
		if slices.Contains(refused, i) {
			c.refused = append(c.refused, d.item)
			continue
		}
		taken = append(taken, d)
	}
	return taken, nil
}

func (c *completion) releaseSlots(ctx context.Context, tx repository.Tx, finals []decision) error {
	var ended []*entity.Execution
	for _, d := range finals {
		if d.item.coordinated() {
			ended = append(ended, d.exec)
		}
	}
	for _, d := range c.done { // a retry that turned out to be cancelled
		if d.exec.Status.Final() && d.item.coordinated() {
			ended = append(ended, d.exec)
		}
	}
	effect, err := c.completer.Admitter.Ended(ctx, tx, c.now, c.jobs, ended)
	if err != nil {
		return fmt.Errorf("give slots on: %w", err)
	}
	c.postCommit.Add(effect)
	if !slices.ContainsFunc(ended, func(exec *entity.Execution) bool { return c.jobs[exec.JobID] == nil }) {
		return nil
	}
	return c.completer.Admitter.FillGroupSlots(ctx, tx, c.now, &c.postCommit, c.groups...)
}

// addRecords writes the dead letters, and what the observers of ends add.
func (c *completion) addRecords(ctx context.Context, tx repository.Tx, finals []decision) error {
	var letters []entity.DeadLetter
	ended := make([]*entity.Execution, 0, len(finals))
	for _, d := range append(slices.Clip(finals), c.done...) {
		if !d.exec.Status.Final() {
			continue
		}
		ended = append(ended, d.exec)
		d.exec.OwesNothing = chain.OwesNothing(d.item.Run.Job, d.exec)
		// A step is repeated in its workflow run, or with it: a replay beside that would do its work twice.
		if d.exec.Status == entity.StatusDead && !d.exec.IsStep() {
			letters = append(letters, entity.DeadLetter{
				ExecutionID: d.exec.ID, JobID: d.exec.JobID, Reason: d.exec.Reason,
				Message: d.exec.ErrorMessage, CreateTime: c.now,
			})
		}
	}
	if len(letters) > 0 {
		if err := tx.Records.AddDeadLetters(ctx, letters); err != nil {
			return fmt.Errorf("add %d dead letters: %w", len(letters), err)
		}
	}
	return c.completer.Admitter.RecordEnds(ctx, tx, c.now, ended)
}

// addUsages stores what the attempts took whose ends the store took: commands alone, so that other ends pay nothing.
// An end that is stored apart leaves it out (engine rule 10).
func (c *completion) addUsages(ctx context.Context, tx repository.Tx) error {
	var usages []entity.AttemptUsage
	for _, d := range c.done {
		if f := d.item; f.Outcome.Usage != (entity.Usage{}) && !f.endOnly {
			usages = append(usages, entity.AttemptUsage{
				ExecutionID: d.exec.ID, Attempt: f.Run.Execution.Attempt, Usage: f.Outcome.Usage,
			})
		}
	}
	if err := tx.Records.AddUsages(ctx, usages); err != nil {
		return fmt.Errorf("keep what %d attempts took: %w", len(usages), err)
	}
	return nil
}

// addLogs stores the last lines of the runs together with their ends.
func (c *completion) addLogs(ctx context.Context, tx repository.Tx) error {
	for _, f := range c.items {
		if f.Log != nil {
			c.logs.Add(f.Log)
		}
	}
	if len(c.logs.Chunks) == 0 {
		return nil
	}
	if err := tx.Records.AddLogs(ctx, c.logs.Chunks); err != nil {
		return fmt.Errorf("add %d log chunks: %w", len(c.logs.Chunks), err)
	}
	return nil
}

// storeCheckpoints writes what ended attempts kept last. Few keep any, so that the
// end of a run writes none.
func storeCheckpoints(ctx context.Context, tx repository.Tx, finals []decision) error {
	var notes []repository.ProgressUpdate
	for _, d := range finals {
		state, mine := d.outcome.Checkpoint, d.item.Run.Execution
		if state == mine.Checkpoint || d.item.reduced || state == "" && d.item.Log == nil {
			continue // a reduced end, and one without a run, know of none
		}
		notes = append(notes, repository.ProgressUpdate{
			ID: mine.ID, NodeID: mine.NodeID, Epoch: mine.Epoch, Token: mine.Token, Progress: d.exec.Progress, Checkpoint: state,
		})
	}
	if err := tx.Executions.UpdateProgress(ctx, notes); err != nil {
		return fmt.Errorf("keep the checkpoints of %d runs: %w", len(notes), err)
	}
	return nil
}
