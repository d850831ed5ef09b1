package running

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/retry"
)

// record is the completion transaction: lock the coordinated jobs by id, write
// the ends and the retries, give places on, and add what must follow.
func (c *completion) record(ctx context.Context, tx repository.Tx) error {
	if err := c.lockJobs(ctx, tx); err != nil {
		return err
	}
	var finals, again []decided
	for _, f := range c.items {
		if f.outcome.Status == entity.StatusWaiting {
			again = append(again, c.putBack(f))
			continue
		}
		if f.outcome.Detached() {
			again = append(again, decided{item: f, outcome: f.outcome, row: f.run.Execution})
			continue
		}
		d, decision := c.decide(f)
		if decision.Retry {
			d.retried = true
			d.row = retryRow(d.row, decision, c.jobs[d.row.JobID], c.now)
			if !f.run.Job.Broadcast {
				d.row.NodeID = ""
			}
			again = append(again, d)
			continue
		}
		finals = append(finals, d)
	}
	if err := c.writeRetries(ctx, tx, again); err != nil {
		return err
	}
	finals, err := c.writeFinals(ctx, tx, finals)
	if err != nil {
		return err
	}
	if err := c.givePlacesOn(ctx, tx, finals); err != nil {
		return err
	}
	if err := c.addRecords(ctx, tx, finals); err != nil {
		return err
	}
	c.done = append(c.done, finals...)
	if err := c.addFromOutside(ctx, tx); err != nil {
		return err
	}
	return c.addLogs(ctx, tx)
}

func (c *completion) lockJobs(ctx context.Context, tx repository.Tx) error {
	var ids []string
	for _, f := range c.items {
		if f.apart {
			continue
		}
		if f.run.Job.Coordinated() {
			ids = append(ids, f.run.Job.ID)
		}
		if f.run.Job.Limited { // should the job be gone, its group is still to be opened
			c.groups = append(c.groups, f.run.Job.Group)
		}
	}
	mine, err := c.lock(ctx, tx, ids)
	if err != nil {
		return fmt.Errorf("lock the jobs of ended runs: %w", err)
	}
	if len(mine) > 0 {
		merged := maps.Clone(c.jobs)
		if merged == nil {
			merged = map[string]*entity.Job{}
		}
		maps.Copy(merged, mine)
		c.jobs = merged
	}
	return nil
}

// lock locks the jobs, and the groups. Unless it is patient, ends of jobs that
// somebody else has locked are left out.
func (c *completion) lock(ctx context.Context, tx repository.Tx, ids []string) (map[string]*entity.Job, error) {
	if c.patient {
		return c.manager.Places.Lock(ctx, tx, ids, c.groups...)
	}
	jobs, locked, err := c.manager.Places.TryLock(ctx, tx, ids, c.groups...)
	if err != nil || len(locked) == 0 {
		return jobs, err
	}
	var free []*finished
	for _, f := range c.items {
		if f.coordinated() && slices.Contains(locked, f.run.Job.ID) {
			c.locked = append(c.locked, f)
		} else {
			free = append(free, f)
		}
	}
	c.items = free
	return jobs, nil
}

// decide makes the row's next state of an end, under the job as it is now. A
// deleted job's failures are not retried.
func (c *completion) decide(f *finished) (decided, retry.Decision) {
	row := *f.run.Execution
	row.StartTime, row.EndTime, row.Duration = f.start, f.end, f.took
	row.Progress, row.Checkpoint = f.outcome.Progress, f.outcome.Checkpoint
	row.Reason, row.ErrorMessage, row.Result = f.outcome.Reason, f.outcome.Message, f.outcome.Result
	row.UpdateTime = c.now
	d := decided{item: f, outcome: f.outcome, row: &row}
	in := retry.Input{Outcome: f.outcome, RetryCount: row.RetryCount, NodeLosses: row.NodeLosses, Random: c.manager.Random()}
	if job := c.jobs[row.JobID]; job != nil {
		in.Policy, in.OnNodeLoss = job.Retry, job.OnNodeLoss
	} else {
		in.OnNodeLoss = entity.NodeLossFail
	}
	if f.run.Job.Broadcast {
		in.OnNodeLoss = entity.NodeLossFail // the run is of that node alone (engine rule 18)
	}
	decision := retry.Decide(in)
	if !decision.Retry {
		row.Status, row.Claim = decision.Status, ""
		d.outcome.Status = decision.Status
	}
	return d, decision
}

// putBack makes the row's next state of an attempt that did not begin: it waits,
// and is routed anew when its moment comes. The attempt does not count, and what
// the row says of former ones stays. A place in its group it keeps.
func (c *completion) putBack(f *finished) decided {
	row := *f.run.Execution
	row.Status, row.Claim = entity.StatusWaiting, entity.ParkedKey(c.now.Add(f.outcome.RetryAfter))
	row.Attempt--
	row.StartTime, row.UpdateTime = time.Time{}, c.now
	if f.outcome.Message != "" {
		row.ErrorMessage = f.outcome.Message
	}
	if !f.run.Job.Broadcast {
		row.NodeID = ""
	}
	return decided{item: f, outcome: f.outcome, row: &row}
}

// retryRow sends a row back to WAITING. Its place among the live fires of its
// job stays (engine rule 16), and so does the node of a broadcast. What the
// attempt came to is kept with the attempt: reason and message of the row belong
// to the one that follows (engine rule 19). That has the job's whole span to
// start in (engine rule 17).
func retryRow(row *entity.Execution, d retry.Decision, job *entity.Job, now time.Time) *entity.Execution {
	next := *row
	next.Status = entity.StatusWaiting
	next.Claim = entity.ParkedKey(now.Add(d.Wait))
	if d.NodeLoss {
		next.NodeLosses++
	} else if row.Reason != entity.ReasonShutdown {
		next.RetryCount++
	}
	next.StartDeadline = time.Time{}
	if job != nil && job.StartDeadlineSec > 0 {
		next.StartDeadline = now.Add(d.Wait).Add(time.Duration(job.StartDeadlineSec) * time.Second)
	}
	next.StartTime, next.EndTime, next.Duration, next.Progress = time.Time{}, time.Time{}, 0, 0
	next.Reason, next.ErrorMessage, next.Result = entity.ReasonNone, "", ""
	next.CancelRequested = false
	return &next
}

// writeRetries keeps the attempt that ended, if it had begun, and parks the row
// until its next. Of an attempt that goes on elsewhere it detaches the row.
func (c *completion) writeRetries(ctx context.Context, tx repository.Tx, again []decided) error {
	if len(again) == 0 {
		return nil
	}
	ids := make([]string, len(again))
	for i, d := range again {
		ids[i] = d.row.ID
	}
	slices.Sort(ids)
	held, err := tx.Executions.Lock(ctx, ids)
	if err != nil {
		return fmt.Errorf("lock %d runs to be retried: %w", len(ids), err)
	}
	byID := make(map[string]*entity.Execution, len(held))
	for _, row := range held {
		byID[row.ID] = row
	}
	var attempts []entity.Attempt
	for _, d := range again {
		mine, row := d.item.run.Execution, byID[d.row.ID]
		if row == nil || !holds(row, mine) {
			c.refused = append(c.refused, d.item)
			continue
		}
		detached := d.item.outcome.Detached()
		if detached {
			d.row = detachedRow(row, d.item, c.now)
		}
		if row.CancelRequested {
			// Somebody cancelled it while the attempt was failing.
			d.row.Status, d.row.Reason, d.row.Claim, d.row.EndTime = entity.StatusCancelled, row.Reason, "", c.now
			d.retried = false
			d.outcome = entity.Outcome{Status: entity.StatusCancelled, Reason: row.Reason}
		}
		if !d.item.tellsCheckpoint() {
			d.row.Checkpoint = row.Checkpoint
		}
		begun := d.item.outcome.Status != entity.StatusWaiting
		if !begun && d.row.Status.Final() {
			d.outcome = entity.Outcome{Status: d.row.Status, Reason: d.row.Reason}
		}
		if err := tx.Executions.Update(ctx, d.row, entity.StatusRunning, mine.Token); err != nil {
			return fmt.Errorf("park run %s for its retry: %w", d.row.ID, err)
		}
		over := begun && !detached
		if over {
			attempts = append(attempts, attemptOf(d))
		}
		if over || d.row.Status.Final() {
			c.done = append(c.done, d)
		}
		if until, ok := d.row.Claim.ParkedUntil(); ok && (c.effect.ParkedUntil.IsZero() || until.Before(c.effect.ParkedUntil)) {
			c.effect.ParkedUntil = until
		}
	}
	if len(attempts) == 0 {
		return nil
	}
	if err := tx.Records.AddAttempts(ctx, attempts); err != nil {
		return fmt.Errorf("keep %d former attempts: %w", len(attempts), err)
	}
	return nil
}

// holds reports whether the row is still in the hands that mine describes.
func holds(row, mine *entity.Execution) bool {
	return row.Status == entity.StatusRunning && row.NodeID == mine.NodeID &&
		row.Epoch == mine.Epoch && row.Token == mine.Token
}

func attemptOf(d decided) entity.Attempt {
	f := d.item
	return entity.Attempt{
		ExecutionID: d.row.ID, Attempt: f.run.Execution.Attempt, Status: f.outcome.Status, Reason: f.outcome.Reason,
		NodeID: f.run.Execution.NodeID, StartTime: f.start, EndTime: f.end,
		ErrorMessage: f.outcome.Message, Result: f.outcome.Result, Progress: f.outcome.Progress, ExitCode: f.outcome.ExitCode,
	}
}

// writeFinals writes the final states and returns those that were taken.
func (c *completion) writeFinals(ctx context.Context, tx repository.Tx, finals []decided) ([]decided, error) {
	if len(finals) == 0 {
		return nil, nil
	}
	slices.SortFunc(finals, func(a, b decided) int { return compare(a.row.ID, b.row.ID) })
	writes := make([]repository.Finish, len(finals))
	for i, d := range finals {
		mine := d.item.run.Execution
		writes[i] = repository.Finish{
			ID: mine.ID, NodeID: mine.NodeID, Epoch: mine.Epoch, Token: mine.Token,
			Status: d.row.Status, Reason: d.row.Reason, StartTime: d.row.StartTime, EndTime: d.row.EndTime,
			Duration: d.row.Duration, Progress: d.row.Progress, ErrorMessage: d.row.ErrorMessage, Result: d.row.Result,
			ExitCode: d.item.outcome.ExitCode,
		}
	}
	if err := keepCheckpoints(ctx, tx, finals); err != nil {
		return nil, err
	}
	refused, err := tx.Executions.Finish(ctx, writes)
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

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (c *completion) givePlacesOn(ctx context.Context, tx repository.Tx, finals []decided) error {
	var ended []*entity.Execution
	for _, d := range finals {
		if d.item.coordinated() {
			ended = append(ended, d.row)
		}
	}
	for _, d := range c.done { // a retry that turned out to be cancelled
		if d.row.Status.Final() && d.item.coordinated() {
			ended = append(ended, d.row)
		}
	}
	effect, err := c.manager.Places.Ended(ctx, tx, c.now, c.jobs, ended)
	if err != nil {
		return fmt.Errorf("give places on: %w", err)
	}
	c.effect.Add(effect)
	if !slices.ContainsFunc(ended, func(row *entity.Execution) bool { return c.jobs[row.JobID] == nil }) {
		return nil
	}
	return c.manager.Places.Open(ctx, tx, c.now, &c.effect, c.groups...)
}

// addRecords writes dead letters and the events of every final state other
// than SUCCESS (engine rule 24).
func (c *completion) addRecords(ctx context.Context, tx repository.Tx, finals []decided) error {
	var letters []entity.DeadLetter
	var events []entity.Event
	for _, d := range append(slices.Clip(finals), c.done...) {
		if !d.row.Status.Final() || d.row.Status == entity.StatusSuccess {
			continue
		}
		events = append(events, event.Final(d.row, c.now))
		if d.row.Status == entity.StatusDead {
			letters = append(letters, entity.DeadLetter{
				ExecutionID: d.row.ID, JobID: d.row.JobID, Reason: d.row.Reason,
				Message: d.row.ErrorMessage, CreateTime: c.now,
			})
		}
	}
	if len(letters) > 0 {
		if err := tx.Records.AddDeadLetters(ctx, letters); err != nil {
			return fmt.Errorf("add %d dead letters: %w", len(letters), err)
		}
	}
	if len(events) > 0 {
		if err := tx.Records.AddEvents(ctx, events); err != nil {
			return fmt.Errorf("add %d events: %w", len(events), err)
		}
	}
	return nil
}

// addLogs stores the last lines of the runs together with their ends.
func (c *completion) addLogs(ctx context.Context, tx repository.Tx) error {
	var all []entity.LogChunk
	for _, f := range c.items {
		if f.log == nil {
			continue
		}
		if chunks := f.log.offer(); len(chunks) > 0 {
			c.logs = append(c.logs, offeredLogs{f.log, chunks})
			all = append(all, chunks...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := tx.Records.AddLogs(ctx, all); err != nil {
		return fmt.Errorf("add %d log chunks: %w", len(all), err)
	}
	return nil
}

// keepCheckpoints writes what ended attempts kept last. Few keep any, so that the
// end of a run writes none.
func keepCheckpoints(ctx context.Context, tx repository.Tx, finals []decided) error {
	var notes []repository.Note
	for _, d := range finals {
		state, mine := d.outcome.Checkpoint, d.item.run.Execution
		if state == mine.Checkpoint || d.item.reduced || state == "" && d.item.log == nil {
			continue // a reduced end, and one without a run, know of none
		}
		notes = append(notes, repository.Note{
			ID: mine.ID, NodeID: mine.NodeID, Epoch: mine.Epoch, Token: mine.Token, Progress: d.row.Progress, Checkpoint: state,
		})
	}
	if err := tx.Executions.Note(ctx, notes); err != nil {
		return fmt.Errorf("keep the checkpoints of %d runs: %w", len(notes), err)
	}
	return nil
}
