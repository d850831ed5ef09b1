package retentiontest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// purgeSteps: the old steps of a workflow run stay while it is open, and go once it was closed for as long.
func purgeSteps(t *testing.T, s *persistence.Store) {
	old := storetest.Noon.AddDate(0, 0, -40)
	limit := storetest.Noon.AddDate(0, 0, -30)
	root := storetest.RunOf(storetest.JobID(1), old)
	step := storetest.RunOf(storetest.JobID(2), old)
	step.FireKey = identity.StepKey(root.ID, "load")
	step.ID = identity.ExecutionID(old, step.JobID, step.FireKey, 0)
	root, step = storetest.Ended(root, old), storetest.Ended(step, old)
	storetest.Add(t, s, nil, root, step)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		vote := workflow.Vote{ExecutionID: step.ID, UserID: "u", User: "u", Decision: workflow.Approved, Time: old}
		if err := tx.Approvals.AddVote(ctx, vote); err != nil {
			return err
		}
		return tx.Approvals.AddApprovals(ctx, []workflow.Ballot{{
			ExecutionID: step.ID, RunID: root.ID, WorkflowID: root.JobID, StepKey: "load", Need: 1, OpenedTime: old, Until: old,
		}})
	})
	asked := func() (rows int) {
		ballots, err := s.ApprovalsOf(t.Context(), []string{step.ID})
		require.NoError(t, err)
		votes, err := s.VotesOf(t.Context(), []string{step.ID})
		require.NoError(t, err)
		return len(ballots) + len(votes)
	}
	save := func(phase workflow.Phase, at time.Time) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			run := workflow.Run{ID: root.ID, WorkflowID: root.JobID, Version: 1, CreateTime: old, UpdateTime: old}
			if err := tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{run}); err != nil {
				return err
			}
			run.Phase = phase
			return tx.WorkflowRuns.SaveRuns(ctx, []workflow.Run{run}, at)
		})
	}
	there := func(e *entity.Execution) bool {
		_, err := s.Executions.Get(t.Context(), e.ID)
		require.True(t, err == nil || apperror.Is(err, apperror.KindNotFound))
		return err == nil
	}
	purge := func() {
		_, err := s.PurgeExecutions(t.Context(), limit, 100)
		require.NoError(t, err)
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { // nobody may delete the root of an open run
		return tx.Todos.AddTodos(ctx, []entity.Todo{workflow.Todo(root.ID, workflow.OwesClose, old)})
	})
	save(workflow.PhaseOpen, old)
	purge()
	require.True(t, there(step), "its run is open")
	save(workflow.PhaseClosed, limit)
	purge()
	require.True(t, there(step), "its run was closed lately")
	require.Equal(t, 2, asked())
	save(workflow.PhaseClosed, old)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Todos.DropTodos(ctx, []entity.Todo{workflow.Todo(root.ID, workflow.OwesClose, old)})
		return err
	})
	purge()
	require.False(t, there(step))
	require.False(t, there(root))
	runs, err := s.WorkflowRuns(t.Context(), []string{root.ID})
	require.NoError(t, err)
	require.Empty(t, runs, "it goes with its root")
	require.Zero(t, asked(), "an approval goes with its step, and its votes with it")
}
