package persistence_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// A backup without history holds the ends that open work reads: of steps of open workflow runs, also where a retry has
// taken them over and not begun, and of shards of a fire that is not over. It holds no other end.
func TestABackupWithoutHistoryHoldsWhatOpenWorkNeeds(t *testing.T) {
	eachStore(t, func(t *testing.T, cfg persistence.Config, s *persistence.Store, _ map[string]any) {
		h, before := history{rows: 10_000}, claimed(t, s)
		open, over, retry := h.run(9001), h.run(9002), h.run(9003)
		open.Status, open.Claim, open.EndTime = entity.StatusRunning, entity.OpenKey(), time.Time{}
		retry.Status, retry.Claim, retry.EndTime = entity.StatusWaiting, entity.CommonQueue.Key(5, retry.DueTime), time.Time{}
		below := step(open, "below")
		ended := []*entity.Execution{step(open, "load"), step(retry, "load"), shard(h.run(9004), 1)}
		gone := []*entity.Execution{over, step(over, "load"), step(below, "load"), shard(h.run(9005), 1)}
		waits := shard(h.run(9004), 0)
		waits.Status, waits.Claim, waits.EndTime = entity.StatusWaiting, entity.CommonQueue.Key(5, waits.DueTime), time.Time{}
		ended = append(ended, below)
		require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "x", func(ctx context.Context, tx repository.Tx) error {
			runs := append([]*entity.Execution{open, retry, waits}, append(ended, gone...)...)
			if err := tx.Executions.Insert(ctx, runs); err != nil {
				return err
			}
			for _, e := range runs {
				if err := tx.Records.AddAttempts(ctx, []entity.Attempt{{
					ExecutionID: e.ID, Attempt: 1, Status: entity.StatusSuccess, StartTime: e.CreateTime,
				}}); err != nil {
					return err
				}
			}
			return tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{{ID: open.ID}, {ID: over.ID}, {ID: below.ID}})
		}))

		o := quick
		o.WithoutHistory = true
		path, _ := backedUp(t, cfg, o)
		db := file(t, path)
		count := func(table, column, id string) (n int) {
			require.NoError(t, db.QueryRowContext(t.Context(),
				"SELECT COUNT(*) FROM "+table+" WHERE "+column+" = ?", id).Scan(&n))
			return n
		}
		for _, e := range ended {
			require.Equal(t, 1, count("scheduler_job_execution", "id", e.ID), e.FireKey)
			require.Equal(t, 1, count("scheduler_execution_attempt", "execution_id", e.ID), e.FireKey)
		}
		for _, e := range gone {
			require.Zero(t, count("scheduler_job_execution", "id", e.ID), e.FireKey)
			require.Zero(t, count("scheduler_execution_attempt", "execution_id", e.ID), e.FireKey)
		}
		require.Equal(t, 1, count("scheduler_workflow_run", "id", open.ID))
		require.Zero(t, count("scheduler_workflow_run", "id", over.ID))
		require.Equal(t, before+3, claimed(t, restored(t, path, nothing(t))))
	})
}

// step is one of a workflow run that has ended.
func step(root *entity.Execution, name string) *entity.Execution {
	e := *root
	e.JobID, e.FireKey = workflow.StepID(root.JobID, name), identity.StepKey(root.ID, name)
	e.ID = identity.ExecutionID(root.ScheduledTime, e.JobID, e.FireKey, 0)
	e.Status, e.Claim, e.EndTime = entity.StatusSuccess, "", root.CreateTime
	return &e
}

// shard makes of a run one of two shards.
func shard(e *entity.Execution, index int) *entity.Execution {
	e.ShardIndex, e.ShardTotal = index, 2
	e.ID = identity.ExecutionID(e.ScheduledTime, e.JobID, e.FireKey, index)
	return e
}
