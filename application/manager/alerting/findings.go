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

// telling is a kind of events that tell something of one job each, with data D.
type telling[D any] struct {
	// is reports whether an event is of the kind, by its type.
	is func(eventType string) bool
	// job is the id of the job that an event tells of.
	job func(d *D) string
	// ask asks a rule about an event.
	ask func(rule *alert.Rule, job alerting.Job, event *entity.Event, d *D) (alerting.Signal, bool)
}

// findings asks the rules about events that tell of something unusual, and returns how many
// events it has judged.
func (e *Evaluator) findings(ctx context.Context, rules map[string]*alert.Rule, events []entity.Event) (
	[]found, int, error,
) {
	return askEach(ctx, e, telling[monitoring.UnusualData]{
		is:  func(eventType string) bool { return eventType == monitoring.EventUnusual },
		job: func(d *monitoring.UnusualData) string { return d.JobID },
		ask: func(rule *alert.Rule, job alerting.Job, from *entity.Event, d *monitoring.UnusualData) (alerting.Signal, bool) {
			return alerting.OnUnusual(rule, job, alerting.Unusual{
				Finding: d.Finding, At: from.CreateTime, Evidence: from.ID, ExecutionID: d.ExecutionID,
			})
		},
	}, rules, events)
}

// askEach asks the rules about the events of one kind, and returns how many events it has judged.
func askEach[D any](ctx context.Context, e *Evaluator, kind telling[D], rules map[string]*alert.Rule,
	events []entity.Event,
) (out []found, judged int, err error) {
	data := map[int]*D{}
	var ids []string
	for i, event := range events {
		if !kind.is(event.Type) {
			continue
		}
		var d D
		if err := json.Unmarshal([]byte(event.Payload), &d); err != nil {
			e.Logger.Error("an event cannot be read and raises no alert", "event", event.ID, "error", err)
			continue
		}
		data[i] = &d
		ids = append(ids, kind.job(&d))
	}
	if len(ids) == 0 {
		return nil, len(events), nil
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return nil, 0, fmt.Errorf("read the jobs that events tell of: %w", err)
	}
	for _, i := range slices.Sorted(maps.Keys(data)) {
		if len(out) >= maxFound {
			return out, i, nil
		}
		job, known := jobs[kind.job(data[i])]
		if !known {
			continue
		}
		for _, rule := range ruleset.InOrder(rules) {
			if signal, yes := kind.ask(rule, ruleset.JobOf(job), &events[i], data[i]); yes {
				out = append(out, found{events[i].ID, signal})
			}
		}
	}
	return out, len(events), nil
}
