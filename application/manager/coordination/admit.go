package coordination

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// Admission collects what new fires add to the store.
type Admission struct {
	Rows      []*entity.Execution
	LiveFires []entity.LiveFire
	Effect    Effect
}

// Admit decides what becomes of one new fire of a job and adds its rows to a.
// live are the job's live fires, kept up to date over several calls;
// job.FenceSeq grows with each fire that gets or waits for a place. Rows of
// earlier fires that REPLACE ends are written at once. Who has stored the rows
// calls OpenFor.
func (p *Places) Admit(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	live *[]entity.LiveFire, f Fire, a *Admission,
) error {
	if job.Broadcast {
		if err := f.freeze(ctx, tx, job); err != nil {
			return err
		}
		if len(f.nodes) == 0 {
			return a.skip(f, job, now, entity.ReasonNoNode)
		}
	}
	rows, err := f.Rows(job, now)
	if err != nil {
		return fmt.Errorf("make the runs of fire %s: %w", f.Key, err)
	}
	if !job.Coordinated() {
		for _, row := range rows {
			p.MakeReady(job, row, 0, now, &a.Effect)
		}
		a.Rows = append(a.Rows, rows...)
		return nil
	}
	d := overlap.Admit(job.Overlap, job.FireLimit(), job.MaxQueued, *live)
	if d.Verdict == overlap.Skip {
		return a.skip(f, job, now, d.Reason)
	}
	if err := p.supersede(ctx, tx, now, live, d.Supersede, &a.Effect); err != nil {
		return err
	}
	if err := p.replace(ctx, tx, now, job, live, d.Replace, &a.Effect); err != nil {
		return err
	}
	active := d.Verdict == overlap.Start
	if !active && len(d.Replace) > 0 {
		// The fires it replaces may have ended just now: none of them had started.
		active = job.FireLimit() == 0 || countActive(*live) < job.FireLimit()
	}
	job.FenceSeq++
	for _, row := range rows {
		if job.SingleRun() {
			row.JobFence = job.FenceSeq
		}
		if active {
			p.MakeReady(job, row, job.FenceSeq, now, &a.Effect)
		} else {
			row.Claim = entity.QueuedKey(job.ID, job.FenceSeq)
		}
	}
	place := entity.LiveFire{
		JobID: job.ID, FireKey: f.Key, Active: active, Remaining: len(rows), Seq: job.FenceSeq,
		Scheduled: f.Planned, JobVersion: job.Version, CreateTime: now,
	}
	*live = append(*live, place)
	a.LiveFires = append(a.LiveFires, place)
	a.Rows = append(a.Rows, rows...)
	return nil
}

// skip adds the one row of a fire that does not run.
func (a *Admission) skip(f Fire, job *entity.Job, now time.Time, reason entity.Reason) error {
	row, err := f.Skipped(job, now, reason)
	if err != nil {
		return fmt.Errorf("record the skipped fire %s: %w", f.Key, err)
	}
	a.Rows = append(a.Rows, row)
	a.Effect.Closed = append(a.Effect.Closed, row)
	return nil
}

// supersede ends queued fires that a newer one takes the place of.
func (p *Places) supersede(ctx context.Context, tx repository.Tx, now time.Time,
	live *[]entity.LiveFire, fires []entity.LiveFire, e *Effect,
) error {
	for _, f := range fires {
		if err := p.stopRows(ctx, tx, now, f, e); err != nil {
			return err
		}
		forget(live, f)
	}
	return deleteFires(ctx, tx, fires)
}

// replace asks the runs of active fires to stop; what has not started ends
// here, and a fire of which nothing runs leaves its place at once.
func (p *Places) replace(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	live *[]entity.LiveFire, fires []entity.LiveFire, e *Effect,
) error {
	var ended, shrunk []entity.LiveFire
	for _, f := range fires {
		closed := len(e.Closed)
		if err := p.stopRows(ctx, tx, now, f, e); err != nil {
			return err
		}
		f.Remaining -= len(e.Closed) - closed
		if f.Remaining <= 0 {
			ended = append(ended, f)
			forget(live, f)
		} else if len(e.Closed) > closed {
			shrunk = append(shrunk, f)
			remember(live, f)
		}
	}
	if len(shrunk) > 0 {
		if err := tx.LiveFires.Update(ctx, shrunk); err != nil {
			return fmt.Errorf("shrink replaced fires: %w", err)
		}
	}
	if job.Limited && len(ended) > 0 {
		if err := tx.Groups.Release(ctx, ended); err != nil {
			return fmt.Errorf("give up the places of replaced fires: %w", err)
		}
	}
	return deleteFires(ctx, tx, ended)
}

// stopRows ends the waiting rows of a fire because of a newer one, and asks the
// running ones to stop.
func (p *Places) stopRows(ctx context.Context, tx repository.Tx, now time.Time, f entity.LiveFire, e *Effect) error {
	rows, err := tx.LiveFires.RowsOf(ctx, f.JobID, f.FireKey)
	if err != nil {
		return fmt.Errorf("read the runs of fire %s: %w", f.FireKey, err)
	}
	for _, row := range rows {
		from := row.Status
		if from == entity.StatusRunning {
			if row.CancelRequested {
				continue
			}
			row.CancelRequested = true
			row.Reason = entity.ReasonReplaced
			e.Stopping = append(e.Stopping, row)
		} else {
			Close(row, entity.StatusSkipped, entity.ReasonReplaced, now)
			e.Closed = append(e.Closed, row)
		}
		row.UpdateTime = now
		if err := tx.Executions.Update(ctx, row, from, row.Token); err != nil {
			return fmt.Errorf("stop replaced run %s: %w", row.ID, err)
		}
	}
	return nil
}

// Close makes a waiting row final. Reason and message of it belong to its own
// end; those of a former attempt are kept with that. What has run before was not
// skipped: it is CANCELLED where a newer fire takes its place, else FAILED.
func Close(row *entity.Execution, status entity.Status, reason entity.Reason, now time.Time) {
	row.ErrorMessage, row.Result = "", ""
	if row.Attempt > 0 && status == entity.StatusSkipped {
		status = entity.StatusFailed
		row.ErrorMessage = "the retry did not start before its start deadline"
		if reason == entity.ReasonReplaced {
			status, row.ErrorMessage = entity.StatusCancelled, ""
		}
	}
	row.Status, row.Reason, row.Claim = status, reason, ""
	row.EndTime, row.UpdateTime = now, now
}

func deleteFires(ctx context.Context, tx repository.Tx, fires []entity.LiveFire) error {
	if len(fires) == 0 {
		return nil
	}
	if err := tx.LiveFires.Delete(ctx, fires); err != nil {
		return fmt.Errorf("give up places: %w", err)
	}
	return nil
}

func countActive(live []entity.LiveFire) int {
	n := 0
	for _, f := range live {
		if f.Active {
			n++
		}
	}
	return n
}

func forget(live *[]entity.LiveFire, f entity.LiveFire) {
	kept := (*live)[:0]
	for _, o := range *live {
		if o.JobID != f.JobID || o.FireKey != f.FireKey {
			kept = append(kept, o)
		}
	}
	*live = kept
}

func remember(live *[]entity.LiveFire, f entity.LiveFire) {
	for i, o := range *live {
		if o.JobID == f.JobID && o.FireKey == f.FireKey {
			(*live)[i] = f
		}
	}
}
