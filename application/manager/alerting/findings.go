package alerting

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// findings asks the rules about events that tell of something unusual, and returns how many
// events it has judged.
func (e *Evaluator) findings(ctx context.Context, rules map[string]*alert.Rule,
	events []entity.Event,
) (out []found, judged int, err error) {
	data := map[int]monitoring.UnusualData{}
	var ids []string
	for i, event := range events {
		if event.Type != monitoring.EventUnusual {
			continue
		}
		var d monitoring.UnusualData
		if err := json.Unmarshal([]byte(event.Payload), &d); err != nil {
			e.Logger.Error("an event cannot be read and raises no alert", "event", event.ID, "error", err)
			continue
		}
		data[i] = d
		ids = append(ids, d.JobID)
	}
	if len(ids) == 0 {
		return nil, len(events), nil
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return nil, 0, fmt.Errorf("read the jobs of findings: %w", err)
	}
	for _, i := range slices.Sorted(maps.Keys(data)) {
		if len(out) >= maxFound {
			return out, i, nil
		}
		d := data[i]
		job, known := jobs[d.JobID]
		if !known {
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(rules)) {
			signal, yes := alerting.OnUnusual(rules[id], ruleset.JobOf(job), alerting.Unusual{
				Finding: d.Finding, At: events[i].CreateTime, Evidence: events[i].ID, ExecutionID: d.ExecutionID,
			})
			if yes {
				out = append(out, found{events[i].ID, signal})
			}
		}
	}
	return out, len(events), nil
}
