package follow_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Of a run whose definition is lost while its steps are live, a cancel stops what is found, and ends the root after
// that.
func TestALostDefinitionLeavesNoStepBehind(t *testing.T) {
	for name, lose := range map[string]string{
		"unreadable": "UPDATE scheduler_job_version SET definition = REPLACE(definition, 'custom', 'made') WHERE job_id = ?",
		"gone":       "DELETE FROM scheduler_job_version WHERE job_id = ?",
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, cfg persistence.Config) { lostDefinition(t, dbtest.Open(t, cfg), lose) })
		})
	}
}

func lostDefinition(t *testing.T, store *persistence.Store, lose string) {
	n := enginetest.On(t, store, enginetest.Options{})
	n.Start(t)
	n.Script.Hold()
	below := n.Add(t, flowJob("below", stepsOf(custom("deep", "")), nil))
	job := n.Add(t, flowJob("lost", stepsOf(
		custom("a", ""), says("each", "${index}", `"forEach": {"items": [1,2,3], "maxParallel": 2}`),
		fmt.Sprintf(`{"name": "flow", "job": {"name": "below", "id": %q}}`, below.ID),
		`{"name": "nap", "wait": {"forSec": 3600}}`, custom("tell", `"finally": true`)), nil))
	root, other := fire(t, n, job), fire(t, n, below)
	awaitStarts(t, n, 5) // a, two items, and the workflow below twice
	n.Change(t, job.ID, func(j *entity.Job) { j.Version++ })
	err := dbtest.Write(t.Context(), store, repository.LaneAPI, "lose", func(ctx context.Context, tx dbtest.Tx) error {
		if _, err := tx.Exec(ctx, lose, job.ID); err != nil {
			return err
		}
		return tx.Todos.AddTodos(ctx, []entity.Todo{wf.Todo(root, wf.OwesOpening, n.Time.Now())})
	})
	require.NoError(t, err)
	second := enginetest.On(t, store, enginetest.Options{Clock: n.Clock, NodeID: "node-2"}) // it has nothing in memory
	_, err = second.Flow.RunOnce(t.Context(), n.Time.Now())
	require.NoError(t, err)
	require.NotEmpty(t, runRow(t, n, root).Problem)
	require.True(t, n.Execution(t, root).Open())
	cancel(t, n, root)
	enginetest.Await(t, func() bool {
		_, err := second.Flow.RunOnce(t.Context(), n.Time.Now())
		require.NoError(t, err)
		require.NoError(t, n.Runner.Reconcile(t.Context()), "the holder hears of it")
		e := n.Execution(t, root)
		if e.Status.Final() {
			require.Empty(t, stepsOfRun(t, n, root, false), "no step outlives its root")
		}
		return e.Status == entity.StatusCancelled
	}, "the root ends")
	ended := stepsOfRun(t, n, root, true)
	require.Len(t, ended, 6) // a, each, each[0], each[1], flow, nap
	for _, e := range ended {
		require.Equal(t, entity.StatusCancelled, e.Status, e.FireKey)
	}
	require.Nil(t, stepRow(t, n, root, job.ID, "tell"))
	require.Equal(t, wf.PhaseClosed, runRow(t, n, root).Phase)
	require.True(t, n.Execution(t, other).Open(), "a run of the same moment goes on")
	cancel(t, n, other)
	follow(t, n, other, entity.StatusCancelled)
	require.Empty(t, owed(t, n))
}

// stepsOfRun are the executions of a run's steps that are final, or the others.
func stepsOfRun(t *testing.T, n *enginetest.Node, root string, final bool) (steps []*entity.Execution) {
	t.Helper()
	rows, _, err := n.Store.Executions.List(t.Context(), repository.ExecutionFilter{Steps: true},
		repository.Page{Limit: 100})
	require.NoError(t, err)
	for _, e := range rows {
		if run, _, ok := e.StepOf(); ok && run == root && e.Status.Final() == final {
			steps = append(steps, e)
		}
	}
	return steps
}
