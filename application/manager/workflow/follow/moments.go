package follow

import (
	"context"
	"encoding/json"
	"time"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// moments are those until which steps wait that start now. A step whose text is no moment, or one too far away, starts
// at once: its executor says what is wrong.
func (f *Follower) moments(ctx context.Context, p *passage, now time.Time) (map[int]time.Time, error) {
	found := map[int]time.Time{}
	for _, row := range p.rows {
		step := &p.flow.Graph.Definition().Steps[row.Step]
		if row.Kind != workflow.RowStart || step.Wait == nil {
			continue
		}
		if !row.Until.IsZero() {
			found[row.Step] = row.Until
			continue
		}
		text, err := json.Marshal(step.Wait.Until)
		if err != nil {
			continue
		}
		values, err := p.view.valuesOf(ctx, p.next, p.flow.Job, text)
		if err != nil {
			return nil, err
		}
		filled, err := placeholder.Expand(step.Wait.Until, values, placeholder.Raw)
		if err != nil {
			continue
		}
		until, err := time.Parse(time.RFC3339, filled)
		if err == nil && until.After(now) && until.Sub(now) <= wf.MaxWaitSec*time.Second {
			found[row.Step] = until.UTC().Truncate(time.Millisecond)
		}
	}
	return found, nil
}
