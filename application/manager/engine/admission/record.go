package admission

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

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
		if err := tx.Jobs.Advance(ctx, []repository.JobAdvance{repository.AdvanceOf(job, time.Time{})}); err != nil {
			return err
		}
	}
	if err := p.OpenFor(ctx, tx, now, &a.Effect, job); err != nil {
		return err
	}
	return addClosed(ctx, tx, now, a.Effect.Closed)
}

// addClosed adds the events of runs that became final without running (engine
// rule 24).
func addClosed(ctx context.Context, tx repository.Tx, now time.Time, closed []*entity.Execution) error {
	if len(closed) == 0 {
		return nil
	}
	events := make([]entity.Event, len(closed))
	for i, row := range closed {
		events[i] = event.Final(row, now)
	}
	if err := tx.Records.AddEvents(ctx, events); err != nil {
		return fmt.Errorf("add %d events: %w", len(events), err)
	}
	return nil
}
