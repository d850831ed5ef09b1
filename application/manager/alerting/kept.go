package alerting

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// shardPage is how many executions of one fire are read at a time.
const shardPage = 200

// expected reports whether a job is there and is to run.
func expected(job repository.AlertJob) bool {
	return job.ID != "" && !job.Deleted && job.Status != entity.JobPaused && job.Deadline.At != ""
}

// eachShard shows the executions of the fire of a deadline, page by page, until one is enough.
func (e *Evaluator) eachShard(ctx context.Context, d entity.Deadline, show func(*entity.Execution) (bool, error),
) error {
	for from, total := 0, 1; from < total; {
		var ids []string
		for n := from; n < min(total, from+shardPage); n++ {
			ids = append(ids, identity.ExecutionID(d.ScheduledTime, d.JobID, d.FireKey, n))
		}
		execs, err := e.Executions.ByIDs(ctx, ids)
		if err != nil {
			return fmt.Errorf("read the runs of the fire %s of job %s: %w", d.FireKey, d.JobID, err)
		}
		for _, exec := range execs {
			total = max(total, exec.ShardTotal)
			if enough, err := show(exec); enough || err != nil {
				return err
			}
		}
		from += len(ids)
	}
	return nil
}

// kept reports whether the fire of a deadline, or a later fire of its job, had succeeded by it. It finds the fire by
// the ids of its shards, and later fires by the executions that began between the two moments.
func (e *Evaluator) kept(ctx context.Context, reader *fires.Reader, d entity.Deadline) (kept bool, err error) {
	fire := alerting.NewKept(d)
	err = e.eachShard(ctx, d, func(exec *entity.Execution) (bool, error) {
		kept = fire.Add(exec)
		return kept || exec.Status != entity.StatusSuccess, nil
	})
	if kept || err != nil {
		return kept, err
	}
	later := alerting.NewKept(d)
	return reader.Succeeded(ctx, d.JobID, d.ScheduledTime, d.Moment, func(exec *entity.Execution) bool {
		return exec.FireKey != d.FireKey && later.Add(exec)
	})
}

// stop asks the live shards of a fire to stop, where the job says so. It comes before the leader takes the deadline:
// after the leader's death the next one asks again.
func (e *Evaluator) stop(ctx context.Context, job repository.AlertJob, d entity.Deadline) error {
	if job.Deadline.OnMiss != entity.MissCancel {
		return nil
	}
	return e.eachShard(ctx, d, func(exec *entity.Execution) (bool, error) {
		if exec.Status.Final() {
			return false, nil
		}
		if err := e.Cancel(ctx, exec.ID); err != nil {
			return true, fmt.Errorf("stop run %s, which has missed its deadline: %w", exec.ID, err)
		}
		return false, nil
	})
}
