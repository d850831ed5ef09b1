package rig

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/node"
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
	j.Type, j.Class, j.Data = entity.JobCustom, node.JobClass, "{}"
	j.Schedule.Kind, j.Schedule.IntervalMs, j.Schedule.Anchor = schedule.FixedRate, time.Hour.Milliseconds(), now
	j.Misfire.ThresholdSec = 86_400
	j.Status, j.Version = entity.JobEnabled, 1
	j.CreateTime, j.UpdateTime = now, now
	return *j
}

// Writer is a store that takes transactions.
type Writer interface {
	Write(ctx context.Context, lane repository.Lane, name string,
		fn func(ctx context.Context, tx repository.Tx) error) error
}

// LoadJobs inserts jobs with the numbers from–to straight into the store, as if they had been
// created long ago. shape sets the due time of each, and may change the rest.
func (b *Bench) LoadJobs(ctx context.Context, s Writer, from, to int, shape func(i int, j *entity.Job)) error {
	now := b.Clock.Now().Truncate(time.Millisecond)
	for first := from; first < to; first += loadBatch {
		jobs := make([]*entity.Job, 0, loadBatch)
		for i := first; i < min(first+loadBatch, to); i++ {
			id, err := uuid.NewV7()
			if err != nil {
				return fmt.Errorf("make a job id: %w", err)
			}
			j := benchJob(now)
			j.ID = id.String()
			j.Name = fmt.Sprintf("%s%d", node.JobPrefix, i)
			shape(i, &j)
			j.Partition = entity.PartitionOf(j.ID)
			j.DueTime = j.NextFireTime
			jobs = append(jobs, &j)
		}
		err := s.Write(ctx, repository.LaneAPI, "bench.load", func(ctx context.Context, tx repository.Tx) error {
			return tx.Jobs.Insert(ctx, jobs...)
		})
		if err != nil {
			return fmt.Errorf("load jobs: %w", err)
		}
		if done := first - from; done > 0 && done%100_000 == 0 {
			b.Note("  %d of %d jobs are in the store", done, to-from)
		}
	}
	return nil
}

// LoadSteady loads jobs 0–n that fire once a second each, spread evenly over the
// second, and plans them. shape may change them.
func (b *Bench) LoadSteady(ctx context.Context, s Writer, l *measure.Ledger, n int, begin time.Time,
	shape func(i int, j *entity.Job),
) error {
	return b.loadEachSecond(ctx, s, l, n, begin, time.Second, shape)
}

// LoadTogether is LoadSteady with jobs that are all due at the same moment of each second.
func (b *Bench) LoadTogether(ctx context.Context, s Writer, l *measure.Ledger, n int, begin time.Time,
	shape func(i int, j *entity.Job),
) error {
	return b.loadEachSecond(ctx, s, l, n, begin, 0, shape)
}

// loadEachSecond spreads the first fires of jobs over a span.
func (b *Bench) loadEachSecond(ctx context.Context, s Writer, l *measure.Ledger, n int, begin time.Time,
	span time.Duration, shape func(i int, j *entity.Job),
) error {
	return b.LoadJobs(ctx, s, 0, n, func(i int, j *entity.Job) {
		j.Schedule.IntervalMs = time.Second.Milliseconds()
		j.Schedule.StartTime = begin.Add(time.Duration(i) * span / time.Duration(n)).Truncate(time.Millisecond)
		j.NextFireTime = j.Schedule.StartTime
		l.Plan(i, j.NextFireTime, time.Second)
		shape(i, j)
	})
}

// LoadSleepers loads jobs with the numbers from–to of which none is due.
func (b *Bench) LoadSleepers(ctx context.Context, s Writer, from, to int) error {
	far := b.Clock.Now().Truncate(time.Millisecond).Add(24 * time.Hour)
	return b.LoadJobs(ctx, s, from, to, func(i int, j *entity.Job) {
		j.NextFireTime = far.Add(time.Duration(i) * time.Millisecond)
	})
}
