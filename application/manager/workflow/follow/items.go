package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// itemsOf is the list of a map. wrong says why there is none; err that it could not be read now.
func itemsOf(ctx context.Context, read executions, flow *Workflow, root *entity.Execution, state *wf.State, step int) (
	list []json.RawMessage, wrong, err error,
) {
	items := flow.Graph.Definition().Steps[step].ForEach.Items
	if json.Unmarshal(items, &list) == nil {
		return list, nil, nil
	}
	var text string
	if wrong := json.Unmarshal(items, &text); wrong != nil || root == nil {
		return nil, fmt.Errorf("it is neither a list nor a placeholder of one"), nil
	}
	ends, err := endsOf(ctx, read, root.ID, flow, state, placeholder.StepsRead(items))
	if err != nil {
		return nil, nil, err
	}
	run := entity.Run{Job: flow.steps[step], Execution: root, Steps: &entity.StepValues{RunID: root.ID, Ends: ends}}
	list, wrong = placeholder.StepList(text, placeholder.Of(run))
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
// they are longer than what steps may hand on.
func resultsOf(ctx context.Context, read executions, flow *Workflow, runID string, state *wf.State, step int) (
	string, error,
) {
	name, items := flow.Graph.Definition().Steps[step].Name, state.Steps[step].Items
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
				ids = append(ids, wf.ExecutionID(runID, flow.stepID(step), key))
			}
		}
		rows, err := read.ByIDs(ctx, ids)
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
			if outputs[key.Item-from], err = workflow.Output(&flow.Graph.Definition().Steps[step], e.Result); err != nil {
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

// finishMaps ends the rows of maps, which are there and run without a node.
func (w *writing) finishMaps(ctx context.Context, tx mapRows, p *passage) (ended []*entity.Execution, err error) {
	ids := map[string]workflow.Row{}
	for _, row := range p.rows {
		if row.Kind == workflow.RowFinish {
			ids[p.stepID(row.Key)] = row
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	order := make([]string, 0, len(ids))
	for id := range ids {
		order = append(order, id)
	}
	slices.Sort(order)
	rows, err := tx.Lock(ctx, order)
	if err != nil {
		return nil, fmt.Errorf("lock the rows of %d maps: %w", len(ids), err)
	}
	for _, e := range rows {
		row := ids[e.ID]
		if e.Status != entity.StatusRunning {
			continue
		}
		o := entity.Outcome{
			Status: row.Status, Reason: row.Reason, Message: p.messageOf(row), Result: p.results[row.Step], Progress: 100,
		}
		at := entity.AttemptTime{Start: e.StartTime, End: w.now, Took: max(w.now.Sub(e.StartTime), 0)}
		if err := e.Finish(row.Status, &o, at, w.now); err != nil {
			return nil, err
		}
		if err := tx.Update(ctx, e, entity.StatusRunning, e.Token); err != nil {
			return nil, fmt.Errorf("end the map %s: %w", e.ID, err)
		}
		e.Decided = true
		ended = append(ended, e)
	}
	return ended, nil
}

// mapRows are the rows of maps inside a transaction.
type mapRows interface {
	Lock(ctx context.Context, ids []string) ([]*entity.Execution, error)
	Update(ctx context.Context, e *entity.Execution, from entity.Status, token int64) error
}

// messageOf says how many items of a map failed or never ran.
func (p *passage) messageOf(row workflow.Row) string {
	items := p.next.Steps[row.Step].Items
	if items == nil || row.Status == entity.StatusSuccess && p.results[row.Step] != "" {
		return ""
	}
	c := workflow.CountsOf(items)
	if row.Status == entity.StatusSuccess {
		return fmt.Sprintf("the results of %d items are longer than %d bytes, and are not handed on", c.Total,
			workflow.MaxOutput)
	}
	return fmt.Sprintf("%d of %d items failed, %d did not run", c.Failed, c.Total, c.NotRun)
}
