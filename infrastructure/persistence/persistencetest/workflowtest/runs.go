// Package workflowtest is the contract of the tables of workflow runs.
package workflowtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func runOf(name string) workflow.Run {
	return workflow.Run{
		ID: identity.ExecutionID(noon, name, "fire", 0), WorkflowID: identity.RandomID(noon), Version: 3,
		CreateTime: noon, UpdateTime: noon,
	}
}

// Runs is the contract of workflow runs and of what they owe.
func Runs(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	a, b := runOf("a"), runOf("b")
	write := func(fn func(ctx context.Context, tx repository.Tx) error) {
		t.Helper()
		require.NoError(t, s.Write(t.Context(), repository.LaneComplete, "test", fn))
	}
	read := func(id string) workflow.Run {
		t.Helper()
		runs, err := s.WorkflowRuns(t.Context(), []string{id, "nobody"})
		require.NoError(t, err)
		require.Len(t, runs, 1)
		return runs[0]
	}
	write(func(ctx context.Context, tx repository.Tx) error {
		return tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{a, b})
	})
	require.Equal(t, a, read(a.ID), "it has no state yet")

	saved := a
	saved.State, saved.Phase, saved.Wake = []byte{1, 0, 255}, workflow.PhasePaused, noon.Add(time.Minute)
	saved.Problem = "no — 不"
	write(func(ctx context.Context, tx repository.Tx) error {
		seqs, err := tx.WorkflowRuns.LockRuns(ctx, []string{b.ID, a.ID, "nobody"})
		require.Equal(t, map[string]int64{a.ID: 0, b.ID: 0}, seqs)
		if err != nil {
			return err
		}
		return tx.WorkflowRuns.SaveRuns(ctx, []workflow.Run{saved, b}, noon.Add(time.Second))
	})
	saved.Seq, saved.UpdateTime = 1, noon.Add(time.Second)
	require.Equal(t, saved, read(a.ID))
	write(func(ctx context.Context, tx repository.Tx) error {
		return tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{a})
	})
	require.Equal(t, saved, read(a.ID), "a run that is opened again stays as it is")

	due, err := s.RunsToWake(t.Context(), noon.Add(time.Minute-time.Millisecond), 10)
	require.NoError(t, err)
	require.Empty(t, due)
	due, err = s.RunsToWake(t.Context(), noon.Add(time.Minute), 10)
	require.NoError(t, err)
	require.Equal(t, []string{a.ID}, due)

	step := workflow.StepRow{ID: workflow.StepID(a.WorkflowID, "load"), WorkflowID: a.WorkflowID, Name: "load"}
	for range 2 {
		write(func(ctx context.Context, tx repository.Tx) error {
			return tx.WorkflowRuns.AddSteps(ctx, []workflow.StepRow{step})
		})
	}
	steps, err := s.WorkflowSteps(t.Context(), []string{step.ID, "nobody"})
	require.NoError(t, err)
	require.Equal(t, []workflow.StepRow{step}, steps)
}

// Owed is the contract of deleting what several runs owe.
func Owed(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	a, b := runOf("a"), runOf("b")
	var all []entity.Todo
	for _, run := range []string{a.ID, b.ID} {
		for _, item := range []string{
			workflow.OwesOpening, workflow.OwesEnd("load"), workflow.OwesEnd("score"), workflow.OwesClose,
		} {
			all = append(all, workflow.Todo(run, item, noon))
		}
	}
	next := entity.Todo{Run: a.ID, Kind: entity.TodoNext, Time: noon}
	drop := func(todos ...entity.Todo) (dropped int) {
		t.Helper()
		require.NoError(t, s.Write(t.Context(), repository.LaneComplete, "test",
			func(ctx context.Context, tx repository.Tx) (err error) {
				dropped, err = tx.Todos.DropTodos(ctx, todos)
				return err
			}))
		return dropped
	}
	left := func() (todos []entity.Todo) {
		t.Helper()
		todos, err := s.Todos(t.Context(), entity.TodoRun, noon, 100)
		require.NoError(t, err)
		return todos
	}
	require.NoError(t, s.Write(t.Context(), repository.LaneComplete, "test",
		func(ctx context.Context, tx repository.Tx) error { return tx.Todos.AddTodos(ctx, append(all, next)) }))
	require.ElementsMatch(t, all, left())
	require.Equal(t, 3, drop(all[1], all[2], all[5], all[1], workflow.Todo(b.ID, "nothing", noon)), "each row once")
	require.ElementsMatch(t, []entity.Todo{all[0], all[3], all[4], all[6], all[7]}, left())
	require.Equal(t, 2, drop(all[0], all[4]), "of one item")
	require.Equal(t, 3, drop(all...))
	require.Empty(t, left())
	require.Equal(t, 1, drop(next), "a row of another kind stayed")
}

// Lists is the contract of lists of workflow runs and of their steps.
func Lists(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	flow := storetest.JobID(1)
	root := storetest.RunOf(flow, noon)
	storetest.StartedOn(root, "n", 1)
	root.Claim, root.NodeID = entity.OpenKey(), ""
	over, plain := storetest.RunOf(flow, noon.Add(time.Second)), storetest.RunOf(storetest.JobID(2), noon.Add(time.Second))
	rows := []*entity.Execution{root, over, plain}
	stepID := workflow.StepID(flow, "a")
	var steps []string
	for item := range 3 {
		key := workflow.Key{Name: "a", Item: item, Generation: 1}
		e := storetest.RunOf(stepID, noon)
		e.ID, e.FireKey = workflow.ExecutionID(root.ID, stepID, key), identity.StepKey(root.ID, key.String())
		rows, steps = append(rows, e), append(steps, e.ID)
	}
	storetest.Add(t, s, nil, rows...)
	err := s.Write(t.Context(), repository.LaneComplete, "test", func(ctx context.Context, tx repository.Tx) error {
		if err := tx.WorkflowRuns.AddSteps(ctx, []workflow.StepRow{{ID: stepID, WorkflowID: flow, Name: "a"}}); err != nil {
			return err
		}
		return tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{
			{ID: root.ID, WorkflowID: flow, CreateTime: noon, UpdateTime: noon},
			{ID: over.ID, WorkflowID: flow, Phase: workflow.PhaseClosed, CreateTime: noon, UpdateTime: noon},
		})
	})
	require.NoError(t, err)
	runs := func(f repository.WorkflowRunFilter) []string {
		ids, next, err := s.WorkflowRunIDs(t.Context(), f, repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Empty(t, next)
		return append([]string{}, ids...)
	}
	open1 := []workflow.Phase{workflow.PhaseOpen}
	require.Equal(t, []string{over.ID, root.ID}, runs(repository.WorkflowRunFilter{}))
	require.Equal(t, []string{over.ID, root.ID}, runs(repository.WorkflowRunFilter{WorkflowID: flow}))
	require.Equal(t, []string{root.ID}, runs(repository.WorkflowRunFilter{Phases: open1}))
	require.Equal(t, []string{root.ID}, runs(repository.WorkflowRunFilter{Phases: open1, WorkflowID: flow}))
	require.Equal(t, []string{over.ID}, runs(repository.WorkflowRunFilter{Phases: []workflow.Phase{workflow.PhaseClosed}}))
	require.Equal(t, []string{root.ID}, runs(repository.WorkflowRunFilter{Status: entity.StatusRunning}))
	require.Empty(t, runs(repository.WorkflowRunFilter{Groups: []string{"nobody's"}}))
	require.Empty(t, runs(repository.WorkflowRunFilter{Groups: []string{"nobody's"}, WorkflowID: flow}))
	require.Equal(t, []string{root.ID}, runs(repository.WorkflowRunFilter{To: noon.Add(time.Second)}))

	list := func(f repository.ExecutionFilter) []string {
		found, _, err := s.Executions.List(t.Context(), f, repository.Page{Limit: 10})
		require.NoError(t, err)
		return storetest.IDs(found)
	}
	require.ElementsMatch(t, []string{root.ID, over.ID, plain.ID}, list(repository.ExecutionFilter{}))
	require.ElementsMatch(t, []string{over.ID, plain.ID}, list(repository.ExecutionFilter{Status: entity.StatusWaiting}))
	require.Len(t, list(repository.ExecutionFilter{Steps: true}), 6)
	require.ElementsMatch(t, steps, list(repository.ExecutionFilter{JobID: stepID}))
	require.ElementsMatch(t, steps, list(repository.ExecutionFilter{RunID: root.ID, RunJobs: []string{stepID, "none"}}))
	require.Empty(t, list(repository.ExecutionFilter{RunID: over.ID, RunJobs: []string{stepID}}))
	require.Empty(t, list(repository.ExecutionFilter{RunID: root.ID, RunJobs: []string{stepID}, Groups: []string{"no"}}))
	found, err := s.Executions.Standings(t.Context(), append(steps, "none"))
	require.NoError(t, err)
	require.ElementsMatch(t, steps, storetest.IDs(found))
}
