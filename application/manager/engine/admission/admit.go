// Package admission turns fires into executions and gives slots to those of
// jobs whose fires must know of each other. All of it runs inside the caller's
// transaction; the caller holds the locks of the jobs (engine rule 16, see
// docs/rules.md).
package admission

import (
	"context"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// Admission collects what new fires add to the store.
type Admission struct {
	Executions    []*entity.Execution
	InFlightFires []entity.InFlightFire
	PostCommit    commit.PostCommit
}

// Close adds the one execution of a fire that does not run.
func (a *Admission) Close(exec *entity.Execution) {
	a.Executions = append(a.Executions, exec)
	a.PostCommit.Closed = append(a.PostCommit.Closed, exec)
}

// Add merges what other fires add.
func (a *Admission) Add(o Admission) {
	a.Executions = append(a.Executions, o.Executions...)
	a.InFlightFires = append(a.InFlightFires, o.InFlightFires...)
	a.PostCommit.Add(o.PostCommit)
}

// Admit decides what becomes of one new fire of a job and adds its executions to a.
// live are the job's in-flight fires, kept up to date over several calls;
// job.FenceSeq grows with each fire that gets or waits for a slot. Executions of
// earlier fires that REPLACE ends are written at once. The code that has stored the
// executions calls FillGroupSlotsOf.
func (p *Admitter) Admit(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	live *Live, f entity.Fire, a *Admission,
) error {
	if job.Broadcast {
		parts, err := broadcastParts(ctx, tx, job, f)
		var impossible *errBroadcast
		if errors.As(err, &impossible) {
			a.Close(entity.NewInvalid(job, f, now, impossible.message))
			return nil
		}
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			a.skip(f, job, now, entity.ReasonNoNode)
			return nil
		}
		f.Parts = parts
	}
	execs := entity.NewExecutions(job, f, now)
	if !job.Coordinated() {
		for _, exec := range execs {
			p.MakeReady(job, exec, 0, now, &a.PostCommit)
		}
		a.Executions = append(a.Executions, execs...)
		return nil
	}
	d, err := live.decide(ctx, tx, job)
	if err != nil {
		return err
	}
	if d.Action == overlap.Skip {
		a.skip(f, job, now, d.Reason)
		return nil
	}
	if d.Supersede {
		if err := endQueuedFires(ctx, tx, now, job, live, a); err != nil {
			return err
		}
	}
	if d.Replace > 0 {
		if err := replace(ctx, tx, now, job, live, d.Replace, a); err != nil {
			return err
		}
	}
	active := d.Action == overlap.Start
	if !active && d.Replace > 0 {
		// The fires it replaces may have ended just now: none of them had started.
		active = live.active < job.FireLimit()
	}
	job.FenceSeq++
	for _, exec := range execs {
		if job.SingleRun() {
			exec.JobFence = job.FenceSeq
		}
		if active {
			p.MakeReady(job, exec, job.FenceSeq, now, &a.PostCommit)
		} else {
			exec.WaitForJob(job.FenceSeq)
		}
	}
	inFlight := entity.InFlightFire{
		JobID: job.ID, FireKey: f.Key, Active: active, Remaining: len(execs), Seq: job.FenceSeq,
		Scheduled: f.Planned, JobVersion: job.Version, CreateTime: now,
	}
	live.take(inFlight, execs)
	a.InFlightFires = append(a.InFlightFires, inFlight)
	a.Executions = append(a.Executions, execs...)
	return nil
}

// skip adds the one execution of a fire that does not run.
func (a *Admission) skip(f entity.Fire, job *entity.Job, now time.Time, reason entity.Reason) {
	a.Close(entity.NewSkipped(job, f, now, reason))
}
