package follow_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// cancel asks for the end of a run or of a map as the service of executions does.
func cancel(t *testing.T, n *enginetest.Node, id string) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		if err := rows[0].RequestCancel(entity.ReasonNone, n.Time.Now()); err != nil {
			return err
		}
		if err := tx.Todos.AddTodos(ctx, wf.CancelTodos(rows, n.Time.Now())); err != nil {
			return err
		}
		return tx.Executions.AskToStop(ctx, rows)
	})
}

func TestAPausedRunRecordsEndsAndDecidesNothing(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	release := n.Script.Hold()
	job := n.Add(t, flowJob("pause", stepsOf(custom("a", ""), custom("b", `"needs": ["a"]`)), nil))
	root := fire(t, n, job)
	awaitStarts(t, n, 1)
	require.NoError(t, n.Flow.Command(t.Context(), root, workflow.Pause))
	require.NoError(t, n.Flow.Command(t.Context(), root, workflow.Pause), "once more changes nothing")
	release()
	goOn(t, n, func() bool {
		return stepRow(t, n, root, job.ID, "a").Status == entity.StatusSuccess && len(owed(t, n)) == 0
	}, "the end is recorded")
	require.Equal(t, wf.PhasePaused, runRow(t, n, root).Phase)
	require.Nil(t, stepRow(t, n, root, job.ID, "b"))
	require.NoError(t, n.Flow.Command(t.Context(), root, workflow.Resume))
	follow(t, n, root, entity.StatusSuccess)
	require.Equal(t, entity.StatusSuccess, stepRow(t, n, root, job.ID, "b").Status)
	require.True(t, apperror.Is(n.Flow.Command(t.Context(), root, workflow.Pause), apperror.KindConflict))
	require.True(t, apperror.Is(n.Flow.Command(t.Context(), job.ID, workflow.Pause), apperror.KindNotFound))
}

// A failure that no edge asks for is held, until somebody decides.
func TestAHeldStepIsRepeatedSkippedOrCalledASuccess(t *testing.T) {
	for verb, want := range map[workflow.Verb]struct {
		again, after, root entity.Status
		reason             entity.Reason
	}{
		workflow.Repeat:  {entity.StatusSuccess, entity.StatusSuccess, entity.StatusSuccess, ""},
		workflow.Skip:    {entity.StatusSkipped, entity.StatusSkipped, entity.StatusSuccess, entity.ReasonOperator},
		workflow.Succeed: {entity.StatusSuccess, entity.StatusSuccess, entity.StatusSuccess, entity.ReasonOperator},
	} {
		t.Run(string(verb), func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			n.Start(t)
			byStep(n, map[string]entity.Outcome{"a": entity.Failed(entity.ReasonError, "no")})
			job := n.Add(t, flowJob("held", `{"onStepFailure": "HOLD", "steps": [`+custom("a", "")+","+
				custom("b", `"needs": ["a"]`)+"]}", nil))
			root := fire(t, n, job)
			goOn(t, n, func() bool {
				e := stepRow(t, n, root, job.ID, "a")
				return e != nil && e.Status == entity.StatusFailed && len(owed(t, n)) == 0
			}, "the step has failed")
			require.True(t, n.Execution(t, root).Open())
			require.Nil(t, stepRow(t, n, root, job.ID, "b"))
			require.Equal(t, n.Time.Now().AddDate(0, 0, 1), runRow(t, n, root).Wake, "it is held for a day")
			require.True(t, apperror.Is(n.Flow.Act(t.Context(), root, "b", verb), apperror.KindConflict))
			require.True(t, apperror.Is(n.Flow.Act(t.Context(), root, "z", verb), apperror.KindNotFound))
			byStep(n, nil)
			require.NoError(t, n.Flow.Act(t.Context(), root, "a", verb))
			follow(t, n, root, want.root)
			again := stepRow(t, n, root, job.ID, "a~2")
			require.Equal(t, want.again, again.Status)
			require.Equal(t, want.reason, again.Reason)
			first := stepRow(t, n, root, job.ID, "a")
			require.Equal(t, entity.StatusFailed, first.Status, "the first row stays")
			require.Equal(t, first.ID, again.IdempotencyKey(), "repeated by hand it is the same work")
			require.Equal(t, want.after, stepRow(t, n, root, job.ID, "b").Status)
		})
	}
}

// The store refuses what follows a step: its end is stored, the run is paused, and a cancel knows the end.
func TestARunWhoseStepIsRefusedCanBeCancelled(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	job := n.Add(t, flowJob("refused", stepsOf(custom("a", ""), custom("b", `"needs": ["a"]`)), nil))
	root := fire(t, n, job)
	refused := wf.ExecutionID(root, wf.StepID(job.ID, "b"), wf.Key{Name: "b", Item: wf.Whole, Generation: 1})
	n.Faults.Poison(func(id string) bool { return id == refused })
	enginetest.Await(t, func() bool {
		_, _ = n.Flow.RunOnce(t.Context(), n.Time.Now()) // the error is that of the pause
		runs, err := n.Store.WorkflowRuns(t.Context(), []string{root})
		require.NoError(t, err)
		return len(runs) == 1 && runs[0].Phase == wf.PhasePaused
	}, "the run is paused")
	require.Contains(t, runRow(t, n, root).Problem, "the store refuses a row")
	require.Equal(t, entity.StatusSuccess, stepRow(t, n, root, job.ID, "a").Status)
	require.Empty(t, owed(t, n))
	n.Faults.Poison(nil)
	cancel(t, n, root)
	follow(t, n, root, entity.StatusCancelled)
	require.Equal(t, entity.ReasonRunCancelled, stepRow(t, n, root, job.ID, "b").Reason)
	require.Empty(t, owed(t, n))
	require.Empty(t, runRow(t, n, root).Problem)
}
