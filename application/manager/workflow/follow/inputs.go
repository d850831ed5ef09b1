package follow

import (
	"cmp"
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/ending"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// runner runs attempts.
type runner interface {
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

// Inputs is the executor that gives steps what they read: the parameters of their workflow run, and what other steps
// came to. All other attempts pass it as they are. Safe for concurrent use.
type Inputs struct {
	Next       runner
	Catalog    *Catalog
	Runs       repository.WorkflowRunReader
	Executions repository.ExecutionReader

	lists lists
}

// Run runs one attempt.
func (i *Inputs) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	runID, step, ok := run.Execution.StepOf()
	if !ok || !run.Execution.Inline() { // a job that a step names has parameters of its own
		return i.Next.Run(ctx, run, rep)
	}
	filled, err := i.fill(ctx, run, runID, step)
	if err != nil {
		return ending.Unread(ctx, "the inputs of the step cannot be read", err)
	}
	return i.Next.Run(ctx, filled, rep)
}

// fill reads what the step reads. It changes copies alone: the execution belongs to the engine.
func (i *Inputs) fill(ctx context.Context, run entity.Run, runID, step string) (entity.Run, error) {
	run.Steps = &entity.StepValues{RunID: runID}
	if !placeholder.Holds(run.Job.Data) {
		return run, nil
	}
	key, err := wf.ParseKey(step)
	if err != nil {
		return run, err
	}
	var v *view
	var state *wf.State
	var from source
	if key.Item == wf.Whole {
		if v, state, err = i.open(ctx, runID); err == nil {
			from = source{flow: v.flow, params: v.root.Params}
		}
	} else {
		from, err = i.lists.get(ctx, mapOf{runID, key.Name}, func() (s source, err error) {
			if v, state, err = i.open(ctx, runID); err != nil {
				return s, err
			}
			return i.source(ctx, v, state, key.Name)
		})
	}
	if err != nil {
		return run, err
	}
	exec := *run.Execution
	exec.Params = from.params
	run.Execution = &exec
	if key.Item != wf.Whole {
		if key.Item >= len(from.list) {
			return run, fmt.Errorf("forEach.items has %d items now, and this is the one at %d", len(from.list), key.Item)
		}
		run.Steps.Item, run.Steps.Index = from.list[key.Item], key.Item
	}
	at, known := from.flow.Graph.Step(key.Name)
	if !known {
		return run, errGone
	}
	reads, finally := placeholder.StepsRead([]byte(run.Job.Data)), from.flow.Graph.Definition().Steps[at].Finally
	if len(reads) == 0 && !finally {
		return run, nil
	}
	if v == nil { // another item has read the list
		v = &view{read: i.Executions, runID: runID, flow: from.flow}
		if _, state, err = i.state(ctx, runID); err != nil {
			return run, err
		}
	}
	if finally {
		run.Steps.Outcome = string(workflow.OutcomeOf(v.flow.Graph, state).Status)
	}
	run.Steps.Ends, err = v.endsOf(ctx, state, reads)
	return run, err
}

// state reads where a run stands now.
func (i *Inputs) state(ctx context.Context, runID string) (wf.Run, *wf.State, error) {
	runs, err := i.Runs.WorkflowRuns(ctx, []string{runID})
	if err != nil || len(runs) == 0 {
		return wf.Run{}, nil, fmt.Errorf("read the workflow run %s: %w", runID, orGone(err))
	}
	state, err := wf.Decode(runs[0].State)
	return runs[0], state, err
}

// open reads a run with its root and its definition.
func (i *Inputs) open(ctx context.Context, runID string) (*view, *wf.State, error) {
	run, state, err := i.state(ctx, runID)
	if err != nil {
		return nil, nil, err
	}
	roots, err := i.Executions.ByIDs(ctx, []string{runID})
	if err != nil || len(roots) == 0 {
		return nil, nil, fmt.Errorf("read the root of the workflow run: %w", orGone(err))
	}
	flow, err := i.Catalog.Get(ctx, run.WorkflowID, run.Version)
	if err != nil || flow == nil {
		return nil, nil, fmt.Errorf("read the definition of the workflow run: %w", orGone(err))
	}
	return &view{read: i.Executions, runID: runID, flow: flow, root: roots[0]}, state, nil
}

// source reads the list of a map. It is that from which the map was made.
func (i *Inputs) source(ctx context.Context, v *view, state *wf.State, step string) (source, error) {
	at, known := v.flow.Graph.Step(step)
	if !known || v.flow.Graph.Definition().Steps[at].ForEach == nil {
		return source{}, errGone
	}
	list, wrong, err := v.itemsOf(ctx, state, at)
	return source{v.flow, v.root.Params, list}, cmp.Or(err, wrong)
}

func orGone(err error) error {
	if err == nil {
		return errGone
	}
	return err
}
