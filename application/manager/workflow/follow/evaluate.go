package follow

import (
	"context"
	"encoding/json"

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
	ends, err := p.view.endsOf(ctx, after, names)
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
			list, wrong, err := p.view.itemsOf(ctx, after, a.Step)
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
