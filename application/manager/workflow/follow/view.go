package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// executions reads executions by id.
type executions interface {
	ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error)
}

// view reads what a run holds: what its steps came to, and the lists of its maps. It is for one look.
type view struct {
	read  executions
	runID string
	flow  *Workflow
	// root is nil where the run has none any more.
	root *entity.Execution
	// results are those of maps that have ended, by step. They never change.
	results map[int]string
}

// endsOf are what steps came to, by name, as far as the state says that they have ended.
func (v *view) endsOf(ctx context.Context, state *wf.State, names []string) (map[string]entity.StepEnd, error) {
	ends, ids, stepOf := map[string]entity.StepEnd{}, []string{}, map[string]int{}
	for _, name := range names {
		i, known := v.flow.Graph.Step(name)
		if !known || !state.Steps[i].Decided() {
			continue
		}
		s := &state.Steps[i]
		end := entity.StepEnd{Status: string(s.Fate.Status()), Reason: string(s.Fate.Reason())}
		if s.Fate == wf.FateEmpty { // a map without items has results, too: none
			end.Outputs, end.Count = json.RawMessage("[]"), countOf(wf.NewItems(0))
			ends[name] = end
			continue
		}
		_, read := v.results[i]
		if s.Items != nil && (s.Owed || read) { // its row is stored with what follows it
			list, err := v.resultsOf(ctx, state, i)
			if err != nil {
				return nil, err
			}
			end.Outputs, end.Count = json.RawMessage(list), countOf(s.Items)
			ends[name] = end
			continue
		}
		if ends[name] = end; s.Owed {
			continue
		}
		id := v.flow.EndID(v.runID, i, s)
		ids, stepOf[id] = append(ids, id), i
	}
	if len(ids) == 0 {
		return ends, nil
	}
	rows, err := v.read.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the results of %d steps: %w", len(ids), err)
	}
	for _, e := range rows {
		step := &v.flow.Graph.Definition().Steps[stepOf[e.ID]]
		end := entity.StepEnd{Status: string(e.Status), Reason: string(e.Reason)}
		if items := state.Steps[stepOf[e.ID]].Items; items != nil {
			end.Outputs, end.Count = json.RawMessage(e.Result), countOf(items)
		} else if e.Status == entity.StatusSuccess {
			var wrong error
			if end.Output, wrong = workflow.Output(step, e.Result); wrong != nil {
				end.TooLong = wrong.Error() // it is that of a job which a step names, or nobody reads it
			}
		}
		ends[step.Name] = end
	}
	return ends, nil
}

// valuesOf are what the placeholders of a text stand for, by the definition of a job. A run that has lost its root has
// no params.
func (v *view) valuesOf(ctx context.Context, state *wf.State, job *entity.Job, text []byte) (
	*placeholder.Values, error,
) {
	ends, err := v.endsOf(ctx, state, placeholder.StepsRead(text))
	if err != nil {
		return nil, err
	}
	root := v.root
	if root == nil {
		root = &entity.Execution{ID: v.runID}
	}
	steps := &entity.StepValues{RunID: v.runID, Ends: ends}
	return placeholder.Of(entity.Run{Job: job, Execution: root, Steps: steps}), nil
}

// itemsOf is the list of a map. wrong says why there is none; err that it could not be read now.
func (v *view) itemsOf(ctx context.Context, state *wf.State, step int) (list []json.RawMessage, wrong, err error) {
	items := v.flow.Graph.Definition().Steps[step].ForEach.Items
	if json.Unmarshal(items, &list) == nil {
		return list, nil, nil
	}
	var text string
	if wrong := json.Unmarshal(items, &text); wrong != nil || v.root == nil {
		return nil, fmt.Errorf("it is neither a list nor a placeholder of one"), nil
	}
	values, err := v.valuesOf(ctx, state, v.flow.steps[step], items)
	if err != nil {
		return nil, nil, err
	}
	list, wrong = placeholder.StepList(text, values)
	return list, wrong, nil
}

// countOf says what became of the items of a map, as others read it.
func countOf(items *wf.Items) json.RawMessage {
	c := workflow.CountsOf(items)
	text, _ := json.Marshal(map[string]int{ // numbers always marshal
		"total": c.Total, "success": c.Succeeded, "failed": c.Failed, "notRun": c.NotRun,
	})
	return text
}

// itemsAtOnce bounds the results that one statement reads.
const itemsAtOnce = 500

// resultsOf are those of a map's items in their order, null for an item that did not succeed. They are nothing where
// they are longer than what steps may hand on. They are read once.
func (v *view) resultsOf(ctx context.Context, state *wf.State, step int) (string, error) {
	if list, known := v.results[step]; known {
		return list, nil
	}
	list, err := v.readResults(ctx, state, step)
	if err == nil {
		if v.results == nil {
			v.results = map[int]string{}
		}
		v.results[step] = list
	}
	return list, err
}

func (v *view) readResults(ctx context.Context, state *wf.State, step int) (string, error) {
	name, items := v.flow.Graph.Definition().Steps[step].Name, state.Steps[step].Items
	if items == nil {
		return "", nil
	}
	var list bytes.Buffer
	list.WriteByte('[')
	for from := 0; from < items.Total; from += itemsAtOnce {
		to := min(from+itemsAtOnce, items.Total)
		ids := make([]string, 0, to-from)
		for i := from; i < to; i++ {
			for generation := state.Steps[step].Generation; generation >= 1; generation-- {
				key := wf.Key{Name: name, Item: i, Generation: generation}
				ids = append(ids, wf.ExecutionID(v.runID, v.flow.stepID(step), key))
			}
		}
		rows, err := v.read.ByIDs(ctx, ids)
		if err != nil {
			return "", fmt.Errorf("read the results of the items of %s: %w", name, err)
		}
		outputs := make([]json.RawMessage, to-from)
		for _, e := range rows {
			_, text, _ := e.StepOf()
			key, err := wf.ParseKey(text)
			if err != nil || e.Status != entity.StatusSuccess {
				continue
			}
			if outputs[key.Item-from], err = workflow.Output(&v.flow.Graph.Definition().Steps[step], e.Result); err != nil {
				return "", nil //nolint:nilerr // one that is too long makes the list too long
			}
		}
		for i, output := range outputs {
			if from+i > 0 {
				list.WriteByte(',')
			}
			if output == nil {
				output = json.RawMessage("null")
			}
			list.Write(output)
		}
		if list.Len() >= workflow.MaxOutput {
			return "", nil
		}
	}
	list.WriteByte(']')
	return list.String(), nil
}
