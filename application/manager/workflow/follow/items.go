package follow

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

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
			Status: row.Status, Reason: row.Reason, Message: p.messageOf(row), Result: p.view.results[row.Step], Progress: 100,
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
	if items == nil || row.Status == entity.StatusSuccess && p.view.results[row.Step] != "" {
		return ""
	}
	c := workflow.CountsOf(items)
	if row.Status == entity.StatusSuccess {
		return fmt.Sprintf("the results of %d items are longer than %d bytes, and are not handed on", c.Total,
			workflow.MaxOutput)
	}
	return fmt.Sprintf("%d of %d items failed, %d did not run", c.Failed, c.Total, c.NotRun)
}
