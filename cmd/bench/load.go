package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// loadBatch is the number of jobs of one insert.
const loadBatch = 500

// benchJob is a job that fires once an hour and does nothing.
func benchJob(now time.Time) entity.Job {
	j := validation.NewJob("UTC")
	j.Type, j.Class, j.Data = entity.JobCustom, jobClass, "{}"
	j.Schedule.Kind, j.Schedule.IntervalMs, j.Schedule.Anchor = schedule.FixedRate, time.Hour.Milliseconds(), now
	j.Misfire.ThresholdSec = 86_400
	j.Status, j.Version = entity.JobEnabled, 1
	j.CreateTime, j.UpdateTime = now, now
	return *j
}

// load inserts n jobs straight into the store, as if they had been created
// long ago; shape gives each its due time, and may change it otherwise.
func (b *bench) load(ctx context.Context, e *app.Engine, n int, shape func(i int, j *entity.Job)) error {
	now := e.Clock.Now().Truncate(time.Millisecond)
	for from := 0; from < n; from += loadBatch {
		jobs := make([]*entity.Job, 0, loadBatch)
		for i := from; i < min(from+loadBatch, n); i++ {
			id, err := uuid.NewV7()
			if err != nil {
				return fmt.Errorf("make a job id: %w", err)
			}
			j := template(now)
			j.ID = id.String()
			j.Name = fmt.Sprintf("bench %d", i)
			j.Partition = entity.PartitionOf(j.ID)
			shape(i, &j)
			j.DueTime = j.NextFireTime
			jobs = append(jobs, &j)
		}
		err := e.Store.Write(ctx, repository.LaneAPI, "bench.load", func(ctx context.Context, tx repository.Tx) error {
			return tx.Jobs.Insert(ctx, jobs...)
		})
		if err != nil {
			return fmt.Errorf("load jobs: %w", err)
		}
		if from > 0 && from%100_000 == 0 {
			b.note("  %d of %d jobs are in the store", from, n)
		}
	}
	return nil
}
