// Package storetest gives the suites of the store their jobs, executions and transactions.
package storetest

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

// Noon is the suite's present.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 123_000_000, time.UTC)

// JobID is the n-th id; ids sort as their numbers.
func JobID(n int) string { return fmt.Sprintf("01930000-0000-7000-8000-%012d", n) }

// PlannedJob is an ENABLED job that is due at a moment.
func PlannedJob(n int, due time.Time) *entity.Job {
	id := JobID(n)
	return &entity.Job{
		ID: id, Name: fmt.Sprintf("job %d", n), Group: "default", Type: entity.JobCustom, Class: "noop", Data: "{}",
		Schedule: schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 1000, Anchor: Noon},
		Misfire:  entity.Misfire{Policy: entity.MisfireFireOnce, ThresholdSec: 60, WindowSec: 86400, MaxFires: 1000},
		Priority: 5, Retry: entity.RetryPolicy{
			Backoff: entity.BackoffFixed, IntervalMs: 1000, MaxIntervalMs: 60000,
			Jitter: 0.1,
		},
		Overlap: entity.OverlapParallel, MaxQueued: 100, ShardCount: 1, Routing: entity.Routing{Strategy: entity.RouteAny},
		OnNodeLoss: entity.NodeLossRetry, Status: entity.JobEnabled, NextFireTime: due, DueTime: due,
		Partition: entity.PartitionOf(id), Version: 1, CreateTime: Noon, UpdateTime: Noon,
	}
}

// RunOf is a waiting run of a job's fire at a moment.
func RunOf(job string, at time.Time) *entity.Execution {
	key := identity.FireKey(at)
	return &entity.Execution{
		ID: identity.ExecutionID(at, job, key, 0), JobID: job, FireKey: key, ScheduledTime: at, DueTime: at,
		Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5,
		Status: entity.StatusWaiting, Claim: entity.CommonQueue.Key(5, at), CreateTime: at, UpdateTime: at,
	}
}

// StartedOn makes a run one that a node started directly.
func StartedOn(e *entity.Execution, node string, epoch int64) *entity.Execution {
	e.Status, e.NodeID, e.Epoch, e.Token, e.Attempt = entity.StatusRunning, node, epoch, 1, 1
	e.Claim, e.StartTime = entity.RunningKey(node), e.CreateTime
	return e
}

// FinishOf is a success reported by the holder of a run.
func FinishOf(e *entity.Execution) repository.Finish {
	return repository.Finish{
		ID: e.ID, NodeID: e.NodeID, Epoch: e.Epoch, Token: e.Token, Status: entity.StatusSuccess,
		StartTime: e.CreateTime.Add(time.Millisecond), EndTime: e.CreateTime.Add(5 * time.Millisecond),
		Duration: 4 * time.Millisecond,
		Progress: 100, Result: "done",
	}
}

// Write runs a transaction that must succeed.
func Write(t testing.TB, s *persistence.Store, fn func(ctx context.Context, tx repository.Tx) error) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "test", fn))
}

// Add inserts jobs and runs that must be taken.
func Add(t testing.TB, s *persistence.Store, jobs []*entity.Job, runs ...*entity.Execution) {
	t.Helper()
	Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if len(jobs) > 0 {
			if err := tx.Jobs.Insert(ctx, jobs...); err != nil {
				return err
			}
		}
		return tx.Executions.Insert(ctx, runs)
	})
}

// Claim takes ready runs for a node.
func Claim(t testing.TB, s *persistence.Store, node string, limit int, now time.Time) []*entity.Execution {
	t.Helper()
	var out []*entity.Execution
	Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		out, err = tx.Executions.Claim(ctx, repository.ClaimRequest{NodeID: node, Epoch: 1, Limit: limit, Now: now})
		return err
	})
	return out
}

// Get reads a run that must exist.
func Get(t testing.TB, s *persistence.Store, id string) *entity.Execution {
	t.Helper()
	e, err := s.Executions.Get(t.Context(), id)
	require.NoError(t, err)
	return e
}

// IDs are the ids of executions.
func IDs(rows []*entity.Execution) []string {
	out := make([]string, len(rows))
	for i, e := range rows {
		out[i] = e.ID
	}
	return out
}

// Ended makes an execution one that succeeded at a moment.
func Ended(e *entity.Execution, at time.Time) *entity.Execution {
	e.Status, e.Claim, e.EndTime, e.UpdateTime = entity.StatusSuccess, "", at, at
	return e
}

// AddBackfills inserts backfills that must be taken.
func AddBackfills(t *testing.T, s *persistence.Store, all ...entity.Backfill) {
	t.Helper()
	Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		for _, b := range all {
			if err := tx.Backfills.Add(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// BackfillOf is the n-th backfill, of a job.
func BackfillOf(n, job int) entity.Backfill {
	return entity.Backfill{
		ID: JobID(n), JobID: JobID(job), From: Noon.AddDate(0, 0, -1), To: Noon,
		Cursor: Noon.AddDate(0, 0, -1), MaxParallel: 3,
		Schedule: schedule.Spec{Kind: schedule.Cron, CronExpression: "0 0 * * * ?", TimeZone: "Asia/Shanghai", Anchor: Noon},
		Status:   entity.BackfillActive, Total: 24, AlreadyRun: 2, User: "安", Version: 1, CreateTime: Noon, UpdateTime: Noon,
	}
}

// Opener gives a test a fresh, empty store that closes at the test's end.
// adjust changes its configuration before it opens; it may be nil.
type Opener func(t *testing.T, adjust func(*persistence.Config)) *persistence.Store
