package admission

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// AdmitAll admits fires of a locked job, in their order.
func (p *Admitter) AdmitAll(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, fires ...entity.Fire,
) (a Admission, err error) {
	live, err := LiveOf(ctx, tx, job)
	if err != nil {
		return a, err
	}
	for _, fire := range fires {
		if err := p.Admit(ctx, tx, now, job, live[job.ID], fire, &a); err != nil {
			return a, err
		}
	}
	return a, nil
}

// Fire admits and stores fires of a locked job outside its schedule.
func (p *Admitter) Fire(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, fires ...entity.Fire,
) (Admission, error) {
	a, err := p.AdmitAll(ctx, tx, now, job, fires...)
	if err != nil {
		return a, err
	}
	return a, p.Record(ctx, tx, now, &a, job)
}

// Record stores what fires outside the schedule add to locked jobs, which stand in the order of their ids.
func (p *Admitter) Record(ctx context.Context, tx repository.Tx, now time.Time, a *Admission,
	jobs ...*entity.Job,
) error {
	if err := tx.Executions.Insert(ctx, a.Executions); err != nil {
		return err
	}
	if len(a.InFlightFires) > 0 {
		if err := tx.InFlightFires.Insert(ctx, a.InFlightFires); err != nil {
			return err
		}
	}
	var moves []repository.JobAdvance
	for _, job := range jobs {
		if job.Coordinated() {
			moves = append(moves, repository.AdvanceOf(job, time.Time{}))
		}
	}
	if len(moves) > 0 {
		if err := tx.Jobs.Advance(ctx, moves); err != nil {
			return err
		}
	}
	if err := p.FillGroupSlotsOf(ctx, tx, now, &a.PostCommit, jobs...); err != nil {
		return err
	}
	return p.RecordEnds(ctx, tx, now, a.PostCommit.Closed)
}
