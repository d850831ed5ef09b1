package alerting

import (
	"context"

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
	[]found, int, error,
) {
	return askEach(ctx, e, telling[event.PeopleData]{
		is:  func(eventType string) bool { return standingTypes[eventType] != "" },
		job: func(d *event.PeopleData) string { return d.WorkflowID },
		ask: func(rule *alert.Rule, job alerting.Job, from *entity.Event, d *event.PeopleData) (alerting.Signal, bool) {
			return alerting.OnStanding(rule, job, alerting.Standing{
				Type: standingTypes[from.Type], At: from.CreateTime, ExecutionID: d.ExecutionID, StepKey: d.StepKey,
				RunID: d.RunID, Until: d.Until, Text: d.Text, Need: d.Need,
			})
		},
	}, rules, events)
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
