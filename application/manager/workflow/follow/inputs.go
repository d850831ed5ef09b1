package follow

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
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
}

// Run runs one attempt.
func (i *Inputs) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	runID, step, ok := run.Execution.StepOf()
	if !ok {
		return i.Next.Run(ctx, run, rep)
	}
	filled, err := i.fill(ctx, run, runID, step)
	if err != nil {
		return entity.Failed(entity.ReasonError, "the inputs of the step cannot be read: "+err.Error())
	}
	return i.Next.Run(ctx, filled, rep)
}

// fill reads what the step reads. It changes copies alone: the execution belongs to the engine.
func (i *Inputs) fill(ctx context.Context, run entity.Run, runID, step string) (entity.Run, error) {
	run.Steps = &entity.StepValues{RunID: runID}
	if !placeholder.Holds(run.Job.Data) {
		return run, nil
	}
	runs, err := i.Runs.WorkflowRuns(ctx, []string{runID})
	if err != nil || len(runs) == 0 {
		return run, fmt.Errorf("read the workflow run %s: %w", runID, orGone(err))
	}
	roots, err := i.Executions.ByIDs(ctx, []string{runID})
	if err != nil || len(roots) == 0 {
		return run, fmt.Errorf("read the root of the workflow run: %w", orGone(err))
	}
	exec := *run.Execution
	exec.Params = roots[0].Params
	run.Execution = &exec
	flow, err := i.Catalog.Get(ctx, runs[0].WorkflowID, runs[0].Version)
	if err != nil || flow == nil {
		return run, fmt.Errorf("read the definition of the workflow run: %w", orGone(err))
	}
	state, err := wf.Decode(runs[0].State)
	if err != nil {
		return run, err
	}
	key, err := wf.ParseKey(step)
	if err != nil {
		return run, err
	}
	at, known := flow.Graph.Step(key.Name)
	if !known {
		return run, errGone
	}
	if flow.Graph.Definition().Steps[at].Finally {
		run.Steps.Outcome = string(workflow.OutcomeOf(flow.Graph, state).Status)
	}
	if key.Item != wf.Whole {
		if err := i.item(ctx, run, flow, roots[0], state, at, key.Item); err != nil {
			return run, err
		}
	}
	run.Steps.Ends, err = endsOf(ctx, i.Executions, runID, flow, state, placeholder.StepsRead([]byte(run.Job.Data)))
	return run, err
}

// item gives an execution its item of the list. The list is that from which the map was made: what it reads is final.
func (i *Inputs) item(ctx context.Context, run entity.Run, flow *Workflow, root *entity.Execution, state *wf.State,
	step, item int,
) error {
	list, wrong, err := itemsOf(ctx, i.Executions, flow, root, state, step)
	switch {
	case err != nil:
		return err
	case wrong != nil:
		return wrong
	case item >= len(list):
		return fmt.Errorf("forEach.items has %d items now, and this is the one at %d", len(list), item)
	}
	run.Steps.Item, run.Steps.Index = list[item], item
	return nil
}

func orGone(err error) error {
	if err == nil {
		return errGone
	}
	return err
}
