// Package admission turns fires into executions and gives slots to those of
// jobs whose fires must know of each other. All of it runs inside the caller's
// transaction; the caller holds the locks of the jobs (engine rule 16, see
// docs/rules.md).
package admission

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// Admission collects what new fires add to the store.
type Admission struct {
	Rows          []*entity.Execution
	InFlightFires []entity.InFlightFire
	PostCommit    PostCommit
}

// Admit decides what becomes of one new fire of a job and adds its rows to a.
// live are the job's live fires, kept up to date over several calls;
// job.FenceSeq grows with each fire that gets or waits for a place. Rows of
// earlier fires that REPLACE ends are written at once. Who has stored the rows
// calls OpenFor.
func (p *Admitter) Admit(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	live *Live, f entity.Fire, a *Admission,
) error {
	if job.Broadcast {
		if err := freeze(ctx, tx, job, &f); err != nil {
			return err
		}
		if len(f.Nodes) == 0 {
			a.skip(f, job, now, entity.ReasonNoNode)
			return nil
		}
	}
	rows := entity.NewExecutions(job, f, now)
	if !job.Coordinated() {
		for _, row := range rows {
			p.MakeReady(job, row, 0, now, &a.PostCommit)
		}
		a.Rows = append(a.Rows, rows...)
		return nil
	}
	d, err := live.decide(ctx, tx, job)
	if err != nil {
		return err
	}
	if d.Verdict == overlap.Skip {
		a.skip(f, job, now, d.Reason)
		return nil
	}
	if d.Supersede {
		if err := supersede(ctx, tx, now, job, live, a); err != nil {
			return err
		}
	}
	if d.Replace > 0 {
		if err := replace(ctx, tx, now, job, live, d.Replace, a); err != nil {
			return err
		}
	}
	active := d.Verdict == overlap.Start
	if !active && d.Replace > 0 {
		// The fires it replaces may have ended just now: none of them had started.
		active = live.active < job.FireLimit()
	}
	job.FenceSeq++
	for _, row := range rows {
		if job.SingleRun() {
			row.JobFence = job.FenceSeq
		}
		if active {
			p.MakeReady(job, row, job.FenceSeq, now, &a.PostCommit)
		} else {
			row.WaitForJob(job.FenceSeq)
		}
	}
	place := entity.InFlightFire{
		JobID: job.ID, FireKey: f.Key, Active: active, Remaining: len(rows), Seq: job.FenceSeq,
		Scheduled: f.Planned, JobVersion: job.Version, CreateTime: now,
	}
	live.take(place, rows)
	a.InFlightFires = append(a.InFlightFires, place)
	a.Rows = append(a.Rows, rows...)
	return nil
}

// skip adds the one row of a fire that does not run.
func (a *Admission) skip(f entity.Fire, job *entity.Job, now time.Time, reason entity.Reason) {
	row := entity.NewSkipped(job, f, now, reason)
	a.Rows = append(a.Rows, row)
	a.PostCommit.Closed = append(a.PostCommit.Closed, row)
}
