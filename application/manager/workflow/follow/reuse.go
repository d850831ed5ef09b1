package follow

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// EndID is the execution by which a final step came to what it is: of a job with shards the first one.
func (w *Workflow) EndID(runID string, i int, s *wf.StepState) string {
	key := wf.Key{Name: w.Graph.Definition().Steps[i].Name, Item: wf.Whole, Generation: s.Generation}
	if s.Fate == wf.FateSucceededByHand || s.Fate == wf.FateReused {
		return wf.ExecutionID(runID, w.ownID(i), key)
	}
	return wf.ExecutionID(runID, w.stepID(i), key)
}

// Reused is the row of a step that a run takes over from the one that it repeats: former is the execution there, and
// nil where the step was skipped and no row of it is left. It is stored with the root, so that no run needs rows of
// another one.
func (w *Workflow) Reused(root *entity.Execution, i int, s *wf.StepState, former *entity.Execution, now time.Time,
) *entity.Execution {
	key := wf.Key{Name: w.Graph.Definition().Steps[i].Name, Item: wf.Whole, Generation: 1}
	e := &entity.Execution{
		ID: w.reusedID(root.ID, i), JobID: w.ownID(i), FireKey: identity.StepKey(root.ID, key.String()),
		ScheduledTime: root.ScheduledTime, DueTime: now, Trigger: entity.TriggerDependency, ShardTotal: 1,
		JobVersion: root.JobVersion, Priority: w.steps[i].Priority, Status: s.Fate.Status(), Reason: s.Fate.Reason(),
		RootID: wf.ExecutionID(root.IdempotencyKey(), w.ownID(i), key), EndTime: now, Decided: true,
		CreateTime: now, UpdateTime: now,
	}
	if former != nil {
		e.Result, e.ErrorMessage, e.RootID = former.Result, former.ErrorMessage, former.IdempotencyKey()
	}
	if e.Status == entity.StatusSuccess {
		e.Reason, e.Progress = entity.ReasonReused, 100
	}
	return e
}

func (w *Workflow) reusedID(runID string, i int) string {
	return w.EndID(runID, i, &wf.StepState{Fate: wf.FateReused, Generation: 1})
}

// takeOver lets a run that repeats another one begin with the rows that were stored with its root: their steps are not
// repeated.
func (f *Follower) takeOver(ctx context.Context, p *passage, state *wf.State) error {
	if p.root == nil || p.root.RetryOf == "" {
		return nil
	}
	steps, ids := map[string]int{}, make([]string, len(state.Steps))
	for i := range state.Steps {
		ids[i] = p.flow.reusedID(p.id(), i)
		steps[ids[i]] = i
	}
	rows, err := f.Executions.Standings(ctx, ids)
	if err != nil {
		return fmt.Errorf("read what the workflow run %s takes over: %w", p.id(), err)
	}
	var former *wf.State
	for _, e := range rows {
		i := steps[e.ID]
		if former == nil && p.flow.Graph.Definition().Steps[i].ForEach != nil {
			if former, err = f.formerOf(ctx, p); err != nil {
				return err
			}
		}
		var items *wf.Items
		if former != nil && e.Status == entity.StatusSuccess {
			items = former.Steps[i].Items
		}
		state.Keep(i, keptFate(e), items)
	}
	return nil
}

// keptFate is that of a row which a run takes over.
func keptFate(e *entity.Execution) wf.Fate {
	for _, fate := range []wf.Fate{wf.FateCondition, wf.FateUpstreamSkipped} {
		if e.Status == fate.Status() && e.Reason == fate.Reason() {
			return fate
		}
	}
	return wf.FateOf(e.Status, e.Reason)
}

// formerOf is the state of the run that this one repeats. It says how many items its maps had. Retention keeps it as
// long as this one is live.
func (f *Follower) formerOf(ctx context.Context, p *passage) (*wf.State, error) {
	runs, err := f.Runs.WorkflowRuns(ctx, []string{p.root.RetryOf})
	if err != nil {
		return nil, fmt.Errorf("read the run that the workflow run %s repeats: %w", p.id(), err)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("the workflow run %s, which this one repeats, is gone; cancel this one, and trigger the "+
			"workflow", p.root.RetryOf)
	}
	state, err := wf.Decode(runs[0].State)
	if err == nil && !state.Fits(p.flow.Graph.Definition()) {
		err = wf.ErrState
	}
	return state, err
}
