package coordination

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Rehome brings the fires of a locked job under what its group asks now: the job
// was moved, or its group got a limit or lost it. What has begun goes on and
// counts where it is; what has not waits for a place there. The caller holds the
// locks of both groups, stores the job, whose FenceSeq may grow, and opens both.
func (p *Places) Rehome(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, e *Effect) error {
	if err := tx.Groups.ReleaseJob(ctx, job.ID); err != nil {
		return fmt.Errorf("give up the places of job %s: %w", job.ID, err)
	}
	rows, err := tx.Executions.LiveOf(ctx, job.ID)
	if err != nil {
		return fmt.Errorf("read what is live of job %s: %w", job.ID, err)
	}
	if len(rows) == 0 {
		return nil
	}
	if job.Limited {
		return p.bind(ctx, tx, now, job, rows)
	}
	return p.unbind(ctx, tx, now, job, rows, e)
}

// bind makes the live runs of a job fires of its group. Those of a job that was
// plain until now have no place among the job's fires either, and get one.
func (p *Places) bind(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, rows []*entity.Execution) error {
	fires := byFire(rows)
	asked := make([]entity.LiveFire, len(fires))
	for i, fire := range fires {
		asked[i] = entity.LiveFire{JobID: job.ID, FireKey: fire[0].FireKey}
	}
	live, err := tx.LiveFires.Some(ctx, asked)
	if err != nil {
		return fmt.Errorf("read live fires: %w", err)
	}
	known := make(map[string]entity.LiveFire, len(live))
	for _, f := range live {
		known[f.FireKey] = f
	}
	var born []entity.LiveFire
	var places []entity.GroupPlace
	var moved []*entity.Execution
	for _, fire := range fires {
		f, ok := known[fire[0].FireKey]
		if !ok {
			job.FenceSeq++
			f = entity.LiveFire{
				JobID: job.ID, FireKey: fire[0].FireKey, Active: true, Remaining: len(fire), Seq: job.FenceSeq, CreateTime: fire[0].CreateTime,
			}
			born = append(born, f)
		}
		switch {
		case !f.Active: // it waits for its job
		case begun(fire):
			places = append(places, entity.GroupPlace{Group: job.Group, JobID: job.ID, FireKey: f.FireKey, ExecutionID: fire[0].ID})
		default:
			moved = append(moved, fire...)
		}
	}
	for _, row := range moved {
		row.UpdateTime = now
		if until, parked := row.Claim.ParkedUntil(); parked {
			row.Claim = entity.DelayedKey(until)
		} else {
			row.Claim = row.Claim.In(entity.GroupQueue(job.Group))
		}
	}
	if err := tx.LiveFires.Insert(ctx, born); err != nil {
		return fmt.Errorf("give places to the runs of job %s: %w", job.ID, err)
	}
	if err := tx.Groups.Take(ctx, places); err != nil {
		return fmt.Errorf("give places of the group %s to the runs of job %s: %w", job.Group, job.ID, err)
	}
	return tx.Executions.Requeue(ctx, moved)
}

// unbind lets go what waits for a group.
func (p *Places) unbind(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, rows []*entity.Execution, e *Effect) error {
	var waiting, delayed []*entity.Execution
	for _, row := range rows {
		switch until, _ := row.Claim.ParkedUntil(); {
		case row.Claim.Grouped():
			waiting = append(waiting, row)
		case row.Claim.Delayed():
			row.Claim, row.UpdateTime = entity.ParkedKey(until), now
			e.park(until)
			delayed = append(delayed, row)
		}
	}
	if err := tx.Executions.Requeue(ctx, delayed); err != nil {
		return err
	}
	return p.send(ctx, tx, now, e, map[string]*entity.Job{job.ID: job}, waiting)
}

// byFire are the rows of each fire, in the order of the first ones.
func byFire(rows []*entity.Execution) [][]*entity.Execution {
	var fires [][]*entity.Execution
	at := map[string]int{}
	for _, row := range rows {
		i, ok := at[row.FireKey]
		if !ok {
			i = len(fires)
			at[row.FireKey], fires = i, append(fires, nil)
		}
		fires[i] = append(fires[i], row)
	}
	return fires
}

// begun reports whether any of the runs runs, or has run and is to be retried.
func begun(rows []*entity.Execution) bool {
	for _, row := range rows {
		if row.Status == entity.StatusRunning || row.Attempt > 0 {
			return true
		}
	}
	return false
}
