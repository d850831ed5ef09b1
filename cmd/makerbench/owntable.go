package main

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/rig"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/throughput"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// ownTable measures executions a second beside the same life through our own tables and statements,
// without the engine: check and advance, insert; finish. The difference to the bare SQL of
// throughput is what our schema costs, the difference to the product what the engine does.
type ownTable struct{ *rig.Bench }

// Run measures our own tables before and after the engine.
func (b ownTable) Run(ctx context.Context) (r report.Result, err error) {
	before, err := b.bare(ctx)
	if err != nil {
		return r, err
	}
	if r, err = (throughput.FlatOut{Bench: b.Bench}).Run(ctx); err != nil {
		return r, err
	}
	after, err := b.bare(ctx)
	if err != nil {
		return r, err
	}
	r.OwnTablePerSecond = (before + after) / 2
	r.ShareOfOwnTable = r.ExecutionsPerSecond / r.OwnTablePerSecond
	return r, nil
}

// bare is how many executions a second our own tables take.
func (b ownTable) bare(ctx context.Context) (float64, error) {
	e, cfg, err := b.OpenEngine(ctx, b.Observe(nil, nil))
	if err != nil {
		return 0, err
	}
	var jobs []ownJob
	far := e.Clock.Now().Truncate(time.Millisecond).Add(time.Hour)
	err = b.LoadJobs(ctx, e.Store, 0, throughput.BareJobs, func(_ int, j *entity.Job) {
		j.NextFireTime = far
		jobs = append(jobs, ownJob{j.ID, far})
	})
	if err != nil {
		return 0, err
	}
	workers := 1
	if cfg.Store.Driver == config.DriverMySQL {
		workers = 2
	}
	rate, err := throughput.Bare(b.Bench, workers, func(w, turn int) error {
		return ownBatch(ctx, e, turn, jobs[w*len(jobs)/workers:(w+1)*len(jobs)/workers])
	})
	if err != nil {
		return 0, fmt.Errorf("measure our own tables: %w", err)
	}
	b.Note("our own tables: %.0f/s", rate)
	return rate, e.Close()
}

// ownJob is a job and where its cursor stands.
type ownJob struct {
	id     string
	cursor time.Time
}

func ownBatch(ctx context.Context, e *app.Engine, turn int, jobs []ownJob) error {
	at := e.Clock.Now().Truncate(time.Millisecond)
	next := at.Add(2 * time.Hour)
	runs := make([]*entity.Execution, throughput.BatchSize)
	moves := make([]repository.JobMove, throughput.BatchSize)
	ends := make([]repository.Finish, throughput.BatchSize)
	for i := range throughput.BatchSize {
		own := &jobs[(turn*throughput.BatchSize+i)%len(jobs)]
		job := own.id
		key := fmt.Sprintf("%s#%d", identity.FireKey(at), turn)
		runs[i] = &entity.Execution{
			ID: identity.ExecutionID(at, job, key, i), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
			Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusRunning,
			NodeID: "node-1", Epoch: 1, Token: 1, Attempt: 1, Claim: entity.RunningKey("node-1"),
			StartTime: at, CreateTime: at, UpdateTime: at,
		}
		moves[i] = repository.JobMove{
			JobAdvance: repository.JobAdvance{
				ID: job, NextFireTime: next, DueTime: next, LastFireTime: at,
				Status: entity.JobEnabled,
			},
			From: own.cursor, Version: 1,
		}
		own.cursor = next
		ends[i] = repository.Finish{
			ID: runs[i].ID, NodeID: "node-1", Epoch: 1, Token: 1, Status: entity.StatusSuccess,
			StartTime: at, EndTime: at, Duration: time.Millisecond, Progress: 100,
		}
	}
	err := e.Store.Write(ctx, repository.LaneFire, "bench.fire", func(ctx context.Context, tx repository.Tx) error {
		moved, _, err := tx.Jobs.Move(ctx, moves)
		if err != nil {
			return err
		}
		if len(moved) != len(moves) {
			return fmt.Errorf("%d of %d jobs moved", len(moved), len(moves))
		}
		return tx.Executions.Insert(ctx, runs)
	})
	if err != nil {
		return err
	}
	return e.Store.Write(ctx, repository.LaneComplete, "bench.complete",
		func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.Executions.Finish(ctx, ends, e.Clock.Now())
			return err
		})
}
