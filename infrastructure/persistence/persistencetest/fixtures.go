package persistencetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// noon is the suite's present.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 123_000_000, time.UTC)

// jobID is the n-th id; ids sort as their numbers.
func jobID(n int) string { return fmt.Sprintf("01930000-0000-7000-8000-%012d", n) }

// plannedJob is an ENABLED job that is due at a moment.
func plannedJob(n int, due time.Time) *entity.Job {
	id := jobID(n)
	return &entity.Job{
		ID: id, Name: fmt.Sprintf("job %d", n), Group: "default", Type: entity.JobCustom, Class: "noop", Data: "{}",
		Schedule: schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 1000, Anchor: noon},
		Misfire:  entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 60, WindowSec: 86400, MaxFires: 1000},
		Priority: 5, Retry: entity.RetryPolicy{Backoff: entity.BackoffFixed, IntervalMs: 1000, MaxIntervalMs: 60000, Jitter: 0.1},
		Overlap: entity.OverlapParallel, MaxQueued: 100, ShardCount: 1, Routing: entity.Routing{Strategy: entity.RouteAny},
		OnNodeLoss: entity.NodeLossRetry, Status: entity.JobEnabled, NextFireTime: due, DueTime: due,
		Partition: entity.PartitionOf(id), Version: 1, CreateTime: noon, UpdateTime: noon,
	}
}

// runOf is a waiting run of a job's fire at a moment.
func runOf(job string, at time.Time) *entity.Execution {
	key := identity.FireKey(at)
	return &entity.Execution{
		ID: identity.ExecutionID(at, job, key, 0), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
		Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5,
		Status: entity.StatusWaiting, Claim: entity.CommonQueue.Key(5, at), CreateTime: at, UpdateTime: at,
	}
}

// startedOn makes a run one that a node started directly.
func startedOn(e *entity.Execution, node string, epoch int64) *entity.Execution {
	e.Status, e.NodeID, e.Epoch, e.Token, e.Attempt = entity.StatusRunning, node, epoch, 1, 1
	e.Claim, e.StartTime = entity.RunningKey(node), e.CreateTime
	return e
}

// finishOf is a success reported by the holder of a run.
func finishOf(e *entity.Execution) repository.Finish {
	return repository.Finish{
		ID: e.ID, NodeID: e.NodeID, Epoch: e.Epoch, Token: e.Token, Status: entity.StatusSuccess,
		StartTime: e.CreateTime.Add(time.Millisecond), EndTime: e.CreateTime.Add(5 * time.Millisecond), Duration: 4 * time.Millisecond,
		Progress: 100, Result: "done",
	}
}

// write runs a transaction that must succeed.
func write(t testing.TB, s *persistence.Store, fn func(ctx context.Context, tx repository.Tx) error) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test", fn))
}

// add inserts jobs and runs that must be taken.
func add(t testing.TB, s *persistence.Store, jobs []*entity.Job, runs ...*entity.Execution) {
	t.Helper()
	write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if len(jobs) > 0 {
			if err := tx.Jobs.Insert(ctx, jobs...); err != nil {
				return err
			}
		}
		return tx.Executions.Insert(ctx, runs)
	})
}

// claim takes ready runs for a node.
func claim(t testing.TB, s *persistence.Store, node string, limit int, now time.Time) []*entity.Execution {
	t.Helper()
	var out []*entity.Execution
	write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		out, err = tx.Executions.Claim(ctx, repository.ClaimRequest{NodeID: node, Epoch: 1, Limit: limit, Now: now})
		return err
	})
	return out
}

// get reads a run that must exist.
func get(t testing.TB, s *persistence.Store, id string) *entity.Execution {
	t.Helper()
	e, err := s.Executions.Get(t.Context(), id)
	require.NoError(t, err)
	return e
}

func ids(rows []*entity.Execution) []string {
	out := make([]string, len(rows))
	for i, e := range rows {
		out[i] = e.ID
	}
	return out
}
