package bench

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func mkdir(path string) error { return os.MkdirAll(path, 0o700) }

// ownTable is the life of shape F through our own tables and statements,
// without the engine: lock, insert, advance; finish. The difference to shape F
// is what our schema costs, the difference to the product what the engine does.
func (b *bench) ownTable(ctx context.Context) (float64, error) {
	watch := newObserver(0)
	e, cfg, err := b.start(ctx, watch)
	if err != nil {
		return 0, err
	}
	watch.clock = e.Clock
	var ids []string
	far := e.Clock.Now().Truncate(time.Millisecond).Add(time.Hour)
	err = b.load(ctx, e, ceilingJobs, func(_ int, j *entity.Job) {
		j.NextFireTime = far
		ids = append(ids, j.ID)
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
	at := b.clock.Monotonic()
	for w := range workers {
		wg.Go(func() {
			share := ids[w*len(ids)/workers : (w+1)*len(ids)/workers]
			for b.clock.Monotonic()-at < ceilingSpan && errs[w] == nil {
				if errs[w] = ownBatch(ctx, e, int(turn.Add(1)), share); errs[w] == nil {
					done.Add(ceilingBatch)
				}
			}
		})
	}
	wg.Wait()
	rate := float64(done.Load()) / (b.clock.Monotonic() - at).Seconds()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	e.Start()
	return rate, stop(ctx, e)
}

func ownBatch(ctx context.Context, e *app.Engine, turn int, jobs []string) error {
	at := e.Clock.Now().Truncate(time.Millisecond)
	next := at.Add(2 * time.Hour)
	locked := make([]string, ceilingBatch)
	runs := make([]*entity.Execution, ceilingBatch)
	moves := make([]repository.JobAdvance, ceilingBatch)
	ends := make([]repository.Finish, ceilingBatch)
	for i := range ceilingBatch {
		job := jobs[(turn*ceilingBatch+i)%len(jobs)]
		key := fmt.Sprintf("%s#%d", identity.FireKey(at), turn)
		locked[i] = job
		runs[i] = &entity.Execution{
			ID: identity.ExecutionID(at, job, key, i), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
			Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusRunning,
			NodeID: "node-1", Epoch: 1, Token: 1, Attempt: 1, Claim: entity.RunningKey("node-1"),
			StartTime: at, CreateTime: at, UpdateTime: at,
		}
		moves[i] = repository.JobAdvance{ID: job, NextFireTime: next, DueTime: next, LastFireTime: at, Status: entity.JobEnabled}
		ends[i] = repository.Finish{
			ID: runs[i].ID, NodeID: "node-1", Epoch: 1, Token: 1, Status: entity.StatusSuccess,
			StartTime: at, EndTime: at, Duration: time.Millisecond, Progress: 100,
		}
	}
	err := e.Store.Write(ctx, repository.LaneFire, "bench.fire", func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Jobs.Lock(ctx, locked); err != nil {
			return err
		}
		if err := tx.Executions.Insert(ctx, runs); err != nil {
			return err
		}
		return tx.Jobs.Advance(ctx, moves)
	})
	if err != nil {
		return err
	}
	return e.Store.Write(ctx, repository.LaneComplete, "bench.complete", func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Executions.Finish(ctx, ends)
		return err
	})
}
