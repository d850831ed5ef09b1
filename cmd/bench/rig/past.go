package rig

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// LoadPast loads so many ended runs of jobs.
func (b *Bench) LoadPast(ctx context.Context, s Writer, many int, jobs []string) error {
	if many == 0 {
		return nil
	}
	b.Note("loading %d runs of the past", many)
	return InsertPast(ctx, s, many, jobs, b.Clock.Now().Add(-time.Hour))
}

// InsertPast inserts so many ended runs of jobs, the last of them at a moment;
// one in fifty has failed.
func InsertPast(ctx context.Context, s Writer, many int, jobs []string, last time.Time) error {
	numbers := make([]int, many)
	for i := range numbers {
		numbers[i] = i
	}
	for part := range slices.Chunk(numbers, 10*loadBatch) {
		runs := make([]*entity.Execution, len(part))
		for i, n := range part {
			at, job := last.Add(time.Duration(n-many)*5*time.Millisecond), jobs[n%len(jobs)]
			key := identity.FireKey(at)
			runs[i] = &entity.Execution{
				ID: identity.ExecutionID(at, job, key, 0), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
				Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusSuccess,
				NodeID: "node-0",
				Epoch:  1, Token: 1, Attempt: 1, StartTime: at, EndTime: at, CreateTime: at, UpdateTime: at,
			}
			if n%50 == 0 {
				runs[i].Status, runs[i].Reason = entity.StatusFailed, entity.ReasonError
			}
		}
		err := s.Write(ctx, repository.LaneAPI, "bench.past", func(ctx context.Context, tx repository.Tx) error {
			return tx.Executions.Insert(ctx, runs)
		})
		if err != nil {
			return fmt.Errorf("load runs: %w", err)
		}
	}
	return nil
}
