package admission

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// fill lets the first queued fires of locked jobs start, as far as their limits
// allow and one transaction should go. Its reads do not grow with the
// queues. It returns how many fires these are.
func (p *Admitter) fill(ctx context.Context, tx repository.Tx, now time.Time, jobs []*entity.Job,
	e *commit.PostCommit,
) (int, error) {
	byID := map[string]*entity.Job{}
	var bounded []string
	for _, job := range jobs {
		byID[job.ID] = job
		if job.FireLimit() > 0 {
			bounded = append(bounded, job.ID)
		}
	}
	if len(bounded) == 0 {
		return 0, nil
	}
	counts, err := tx.InFlightFires.Count(ctx, bounded)
	if err != nil {
		return 0, fmt.Errorf("count in-flight fires: %w", err)
	}
	var asked []repository.Oldest
	for _, id := range bounded {
		c := counts[id]
		if free := overlap.FreeSlots(byID[id].FireLimit(), c.Active, stepLimit); free > 0 && c.FirstQueued > 0 {
			asked = append(asked, repository.Oldest{JobID: id, Limit: free})
		}
	}
	fires, err := p.start(ctx, tx, now, byID, asked, e)
	if err != nil || len(fires) == 0 {
		return 0, err
	}
	for i := range fires {
		fires[i].Active = true
	}
	if err := tx.InFlightFires.Update(ctx, fires); err != nil {
		return 0, fmt.Errorf("let %d queued fires start: %w", len(fires), err)
	}
	return len(fires), nil
}

// start sends the runs of queued fires to where they are claimed, and returns
// the fires.
func (p *Admitter) start(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, asked []repository.Oldest, e *commit.PostCommit,
) ([]entity.InFlightFire, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	fires, err := tx.InFlightFires.Oldest(ctx, asked)
	if err != nil || len(fires) == 0 {
		return nil, err
	}
	fires, execs, err := lockQueued(ctx, tx, fires)
	if err != nil {
		return nil, err
	}
	numbers := make(map[fireID]int64, len(fires))
	for _, f := range fires {
		numbers[fireID{f.JobID, f.FireKey}] = f.Seq
	}
	return fires, p.makeReady(ctx, tx, now, jobs, numbers, execs, e)
}

// makeReady gives the executions their positions in the claim index and stores them.
func (p *Admitter) makeReady(ctx context.Context, tx repository.Tx, now time.Time,
	jobs map[string]*entity.Job, numbers map[fireID]int64, execs []*entity.Execution, e *commit.PostCommit,
) error {
	for _, exec := range execs {
		p.MakeReady(jobs[exec.JobID], exec, numbers[fireID{exec.JobID, exec.FireKey}], now, e)
		exec.UpdateTime = now
	}
	if err := tx.Executions.Requeue(ctx, execs); err != nil {
		return fmt.Errorf("let %d queued runs start: %w", len(execs), err)
	}
	return nil
}

// Promote brings the queue of a locked job in line with its definition, one step
// at a time: queued fires start as far as the limit allows; REPLACE keeps the
// newest of them alone; and a job that needs no slots any more, because of an
// edit, gives all of them up: left behind, they would count when the next edit
// makes it need them again. more says that a step is left, to be done in another
// transaction.
func (p *Admitter) Promote(ctx context.Context, tx repository.Tx, now time.Time,
	job *entity.Job,
) (e commit.PostCommit, more bool, err error) {
	step := p.bounded
	if !job.Coordinated() || job.FireLimit() == 0 {
		step = p.freed
	}
	if more, err = step(ctx, tx, now, job, &e); err != nil {
		return e, false, fmt.Errorf("let the queue of job %s move on: %w", job.ID, err)
	}
	if err := p.RecordEnds(ctx, tx, now, e.Closed); err != nil {
		return e, false, err
	}
	return e, more, p.FillGroupSlotsOf(ctx, tx, now, &e, job)
}

// bounded is a step of a job with a limit of its own.
func (p *Admitter) bounded(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	e *commit.PostCommit,
) (more bool, err error) {
	if job.Overlap == entity.OverlapReplace {
		n, err := tx.InFlightFires.CountQueued(ctx, job.ID, stepLimit+1)
		if err != nil {
			return false, err
		}
		if n > 1 {
			ended, err := endQueued(ctx, tx, now, job, n-1, e)
			return ended > 0, err
		}
	}
	n, err := p.fill(ctx, tx, now, []*entity.Job{job}, e)
	return n == stepLimit, err
}

// freed is a step of a job that admits every fire.
func (p *Admitter) freed(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job,
	e *commit.PostCommit,
) (more bool, err error) {
	jobs := map[string]*entity.Job{job.ID: job}
	fires, err := p.start(ctx, tx, now, jobs, []repository.Oldest{{JobID: job.ID, Limit: stepLimit}}, e)
	if err != nil {
		return false, err
	}
	if more = len(fires) == stepLimit; job.Coordinated() {
		for i := range fires {
			fires[i].Active = true
		}
		return more, tx.InFlightFires.Update(ctx, fires)
	}
	held, err := tx.InFlightFires.Oldest(ctx, []repository.Oldest{{JobID: job.ID, Active: true, Limit: stepLimit}})
	if err != nil {
		return false, err
	}
	return more || len(held) == stepLimit, deleteFires(ctx, tx, append(fires, held...))
}

// Reclaim mends runs that stand in the queue of a locked job although their fire
// does not wait: they start where it holds a slot, and it waits again where it
// is not known at all.
func (p *Admitter) Reclaim(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, key entity.ClaimKey,
	e *commit.PostCommit,
) error {
	execs, err := tx.Executions.TryLockAt(ctx, []entity.ClaimKey{key})
	if err != nil {
		return fmt.Errorf("read queued runs of job %s: %w", job.ID, err)
	}
	execs = slices.DeleteFunc(execs, func(exec *entity.Execution) bool {
		return exec.Status != entity.StatusWaiting || exec.JobID != job.ID
	})
	_, seq, ok := key.QueuedFire()
	if len(execs) == 0 || !ok {
		return nil
	}
	inFlight := entity.InFlightFire{
		JobID: job.ID, FireKey: execs[0].FireKey, Remaining: len(execs), Seq: seq, JobVersion: execs[0].JobVersion,
		CreateTime: execs[0].CreateTime,
		Scheduled:  execs[0].Trigger == entity.TriggerSchedule || execs[0].Trigger == entity.TriggerMisfire,
	}
	found, err := tx.InFlightFires.Some(ctx, []entity.InFlightFire{inFlight})
	switch {
	case err != nil:
		return fmt.Errorf("read the fire %s: %w", inFlight.FireKey, err)
	case len(found) == 0:
		return tx.InFlightFires.Insert(ctx, []entity.InFlightFire{inFlight})
	case found[0].Active:
		numbers := map[fireID]int64{{job.ID, inFlight.FireKey}: seq}
		return p.makeReady(ctx, tx, now, map[string]*entity.Job{job.ID: job}, numbers, execs, e)
	}
	return nil
}
