package coordination

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/overlap"
)

// Free reports whether one more fire of a job would start at once, and neither
// wait, be skipped nor end another one. live are the job's live fires.
func (p *Places) Free(job *entity.Job, live []entity.LiveFire) bool {
	return !job.Coordinated() || overlap.Free(job.Overlap, job.FireLimit(), live)
}

// Record stores what fires outside the schedule add to a locked job.
func (p *Places) Record(ctx context.Context, tx repository.Tx, now time.Time, job *entity.Job, a *Admission) error {
	if err := tx.Executions.Insert(ctx, a.Rows); err != nil {
		return err
	}
	if len(a.LiveFires) > 0 {
		if err := tx.LiveFires.Insert(ctx, a.LiveFires); err != nil {
			return err
		}
	}
	if job.Coordinated() {
		if err := tx.Jobs.Advance(ctx, []repository.JobAdvance{AdvanceOf(job, time.Time{})}); err != nil {
			return err
		}
	}
	if err := p.OpenFor(ctx, tx, now, &a.Effect, job); err != nil || len(a.Effect.Closed) == 0 {
		return err
	}
	events := make([]entity.Event, len(a.Effect.Closed))
	for i, row := range a.Effect.Closed {
		events[i] = event.Final(row, now)
	}
	return tx.Records.AddEvents(ctx, events)
}
