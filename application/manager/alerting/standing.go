package alerting

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// standingTypes are the rules that events ask about workflow runs which stand for people.
var standingTypes = map[string]alert.RuleType{
	event.TypeStepHeld: alert.StepHeld, event.TypeApprovalWaiting: alert.ApprovalWaiting,
}

// standing asks the rules about events that tell of workflow runs which stand for people. It returns how many events it
// has judged.
func (e *Evaluator) standing(ctx context.Context, rules map[string]*alert.Rule, events []entity.Event) (
	out []found, judged int, err error,
) {
	data := map[int]event.PeopleData{}
	var ids []string
	for i, one := range events {
		if _, asks := standingTypes[one.Type]; !asks {
			continue
		}
		var d event.PeopleData
		if err := json.Unmarshal([]byte(one.Payload), &d); err != nil {
			e.Logger.Error("an event cannot be read and raises no alert", "event", one.ID, "error", err)
			continue
		}
		data[i] = d
		ids = append(ids, d.WorkflowID)
	}
	if len(ids) == 0 {
		return nil, len(events), nil
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return nil, 0, fmt.Errorf("read the workflows of events: %w", err)
	}
	for _, i := range slices.Sorted(maps.Keys(data)) {
		if len(out) >= maxFound {
			return out, i, nil
		}
		d := data[i]
		job, known := jobs[d.WorkflowID]
		if !known {
			continue
		}
		for _, rule := range ruleset.InOrder(rules) {
			signal, yes := alerting.OnStanding(rule, ruleset.JobOf(job), alerting.Standing{
				Type: standingTypes[events[i].Type], At: events[i].CreateTime, ExecutionID: d.ExecutionID, StepKey: d.StepKey,
				RunID: d.RunID, Until: d.Until, Text: d.Text, Need: d.Need,
			})
			if yes {
				out = append(out, found{events[i].ID, signal})
			}
		}
	}
	return out, len(events), nil
}

// over are the executions of open alerts about which nobody has to decide any more.
func (e *Evaluator) over(ctx context.Context, held []*alert.Alert) (map[string]bool, error) {
	var ids []string
	for _, a := range held {
		if a.Type.Stands() && a.Open() {
			ids = append(ids, a.ExecutionID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return e.Standing(ctx, ids)
}
