package follow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// evaluate answers the conditions and the lists that a decision asks for.
func (f *Follower) evaluate(ctx context.Context, p *passage, after *wf.State, asks []workflow.Ask) (
	map[int]workflow.Value, error,
) {
	facts := workflow.Facts{Ends: map[string]entity.StepEnd{}}
	if p.root != nil {
		facts.Params = json.RawMessage(p.flow.Job.WithDefaults(p.root.Params))
	}
	var needed []int
	for _, a := range asks {
		if a.When {
			needed = append(needed, p.flow.Graph.Needs(a.Step)...)
		}
	}
	names := make([]string, len(needed))
	for i, at := range needed {
		names[i] = p.flow.Graph.Definition().Steps[at].Name
	}
	ends, err := endsOf(ctx, f.Executions, p.run.ID, p.flow, after, names)
	if err != nil {
		return nil, err
	}
	facts.Ends = ends
	values := make(map[int]workflow.Value, len(asks))
	for _, a := range asks {
		v := workflow.Value{Holds: true}
		if a.When {
			holds, err := f.Conditions.Holds(p.flow.Graph.Definition().Steps[a.Step].When, facts)
			if v.Holds = holds; err != nil {
				v.Wrong = err.Error()
			}
		}
		if a.Items && v.Holds && v.Wrong == "" {
			list, wrong, err := itemsOf(ctx, f.Executions, p.flow, p.root, after, a.Step)
			if err != nil {
				return nil, err
			}
			if v.Items = len(list); wrong != nil {
				v.Wrong = "forEach.items: " + wrong.Error()
			}
		}
		values[a.Step] = v
	}
	return values, nil
}

// executions reads executions by id.
type executions interface {
	ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error)
}

// endsOf are what steps of a run came to, by name, as far as the state says that they have ended.
func endsOf(ctx context.Context, read executions, runID string, flow *Workflow, state *wf.State, names []string) (
	map[string]entity.StepEnd, error,
) {
	ends, ids, stepOf := map[string]entity.StepEnd{}, []string{}, map[string]int{}
	for _, name := range names {
		i, known := flow.Graph.Step(name)
		if !known || !state.Steps[i].Decided() {
			continue
		}
		s := &state.Steps[i]
		end := entity.StepEnd{Status: string(s.Fate.Status()), Reason: string(s.Fate.Reason())}
		if s.Owed { // its row is stored with what follows it, and has no result but that of its items
			if s.Items != nil {
				list, err := resultsOf(ctx, read, flow, runID, state, i)
				if err != nil {
					return nil, err
				}
				end.Outputs, end.Count = json.RawMessage(list), countOf(s.Items)
			}
			ends[name] = end
			continue
		}
		ends[name] = end
		key := wf.Key{Name: name, Item: wf.Whole, Generation: s.Generation}
		id := wf.ExecutionID(runID, flow.stepID(i), key)
		if s.Fate == wf.FateSucceededByHand || s.Fate == wf.FateReused {
			id = wf.ExecutionID(runID, flow.ownID(i), key)
		}
		ids, stepOf[id] = append(ids, id), i
	}
	if len(ids) == 0 {
		return ends, nil
	}
	rows, err := read.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the results of %d steps: %w", len(ids), err)
	}
	for _, e := range rows {
		step := &flow.Graph.Definition().Steps[stepOf[e.ID]]
		end := entity.StepEnd{Status: string(e.Status), Reason: string(e.Reason)}
		if items := state.Steps[stepOf[e.ID]].Items; items != nil {
			end.Outputs, end.Count = json.RawMessage(e.Result), countOf(items)
		} else if e.Status == entity.StatusSuccess {
			if end.Output, err = workflow.Output(step, e.Result); err != nil {
				return nil, fmt.Errorf("the output of the step %s: %w", step.Name, err)
			}
		}
		ends[step.Name] = end
	}
	return ends, nil
}
