package admission

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// RecordDeadlines notes by when fires are to have succeeded, in the transaction that adds
// their executions. It costs nothing where no job has a deadline.
func (p *Admitter) RecordDeadlines(ctx context.Context, tx repository.Tx, execs []*entity.Execution,
	jobs ...*entity.Job,
) error {
	var deadlines []entity.Deadline
	for _, job := range jobs {
		if job.Deadline.At == "" {
			continue
		}
		spec, err := job.Deadline.Spec()
		if err != nil {
			continue // an older program may have stored it; the job goes on
		}
		times, err := p.schedules.Compile(spec)
		if err != nil {
			continue
		}
		seen := map[string]bool{}
		for _, e := range execs {
			if e.JobID != job.ID || seen[e.FireKey] || !e.ExpectsDeadline() {
				continue
			}
			seen[e.FireKey] = true
			if moment, ok := times.Next(e.ScheduledTime); ok {
				deadlines = append(deadlines, entity.Deadline{
					Moment: moment, JobID: job.ID, FireKey: e.FireKey, ScheduledTime: e.ScheduledTime,
				})
			}
		}
	}
	if len(deadlines) == 0 {
		return nil
	}
	if err := tx.Alerts.AddDeadlines(ctx, deadlines); err != nil {
		return fmt.Errorf("add %d deadlines: %w", len(deadlines), err)
	}
	return nil
}
