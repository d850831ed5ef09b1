package throughput

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// ownTable is the life of shape F through our own tables and statements,
// without the engine: check and advance, insert; finish. The difference to shape F
// is what our schema costs, the difference to the product what the engine does.
func (b FlatOut) ownTable(ctx context.Context) (float64, error) {
	e, cfg, err := b.OpenEngine(ctx, b.Observe(nil, nil))
	if err != nil {
		return 0, err
	}
	var jobs []ownJob
	far := e.Clock.Now().Truncate(time.Millisecond).Add(time.Hour)
	err = b.LoadJobs(ctx, e.Store, 0, ceilingJobs, func(_ int, j *entity.Job) {
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
	var done, turn atomic.Int64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	at := b.Clock.Monotonic()
	for w := range workers {
		wg.Go(func() {
			share := jobs[w*len(jobs)/workers : (w+1)*len(jobs)/workers]
			for b.Clock.Monotonic()-at < ceilingSpan && errs[w] == nil {
				if errs[w] = ownBatch(ctx, e, int(turn.Add(1)), share); errs[w] == nil {
					done.Add(ceilingBatch)
				}
			}
		})
	}
	wg.Wait()
	rate := float64(done.Load()) / (b.Clock.Monotonic() - at).Seconds()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
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
	runs := make([]*entity.Execution, ceilingBatch)
	moves := make([]repository.JobMove, ceilingBatch)
	ends := make([]repository.Finish, ceilingBatch)
	for i := range ceilingBatch {
		own := &jobs[(turn*ceilingBatch+i)%len(jobs)]
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
			_, err := tx.Executions.Finish(ctx, ends)
			return err
		})
}
