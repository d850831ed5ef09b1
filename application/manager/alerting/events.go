package alerting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// eventBatch is how many events one transaction takes at most.
	eventBatch = 500
	// maxFound bounds the evidence of one transaction: where many rules see many jobs it takes
	// fewer events, at least one. Else it would take longer than a transaction may.
	maxFound = 2000
	// turnBatches is how many batches are taken before alerts are planned: those of a storm
	// are told while it lasts.
	turnBatches = 10
)

// endData is what rules read of the event of an end, in the names of the API.
type endData struct {
	ExecutionID  string        `json:"executionId"`
	JobID        string        `json:"jobId"`
	FireKey      string        `json:"fireKey"`
	Status       entity.Status `json:"status"`
	Reason       entity.Reason `json:"reason"`
	Attempt      int           `json:"attempt"`
	ErrorMessage string        `json:"errorMessage"`
	SkipCount    int           `json:"skipCount"`
}

// RunOnce evaluates the events that wait, some batches of them at most. It returns how many
// it has taken, and whether more wait.
func (e *Evaluator) RunOnce(ctx context.Context) (total int, more bool, err error) {
	for range turnBatches {
		var taken int
		taken, more, err = e.batch(ctx)
		total += taken
		if err != nil || !more {
			return total, false, err
		}
	}
	return total, more, nil
}

// batch takes one batch of events, again where somebody else was first.
func (e *Evaluator) batch(ctx context.Context) (taken int, more bool, err error) {
	for range episode.MaxTries {
		taken, more, err = e.take(ctx)
		if !errors.Is(err, episode.ErrOvertaken) {
			break
		}
	}
	return taken, more, err
}

// found is evidence with the event that it comes from.
type found struct {
	event  string
	signal alerting.Signal
}

func (e *Evaluator) take(ctx context.Context) (taken int, more bool, err error) {
	events, err := e.Events.PendingEvents(ctx, entity.ReaderRules, 0, eventBatch)
	if err != nil {
		return 0, false, fmt.Errorf("read events for rules: %w", err)
	}
	if len(events) == 0 {
		return 0, false, nil
	}
	full := len(events) == eventBatch
	signals, judged, err := e.judge(ctx, events)
	if err != nil {
		return 0, false, err
	}
	full, events = full || judged < len(events), events[:judged]
	ids := make([]string, len(events))
	for i, event := range events {
		ids[i] = event.ID
	}
	now, changed := e.Clock.Now(), 0
	err = e.Store.Write(ctx, repository.LaneComplete, "alert-events", func(ctx context.Context, tx repository.Tx) error {
		mine, err := tx.Records.TakeEvents(ctx, entity.ReaderRules, ids)
		if err != nil {
			return err
		}
		taken = len(mine)
		changed, err = happen(ctx, tx, signals, mine, now)
		return err
	})
	if changed > 0 { // also where nobody knows whether the commit happened
		e.Wake()
	}
	if err != nil {
		return 0, false, fmt.Errorf("evaluate %d events: %w", len(events), err)
	}
	return taken, full, nil
}

// judge asks the rules about events, and returns how many of these: the first ones whose
// evidence one transaction can write. It reads alone, so that it may be asked again.
func (e *Evaluator) judge(ctx context.Context, events []entity.Event) (out []found, judged int, err error) {
	rules, err := e.rules(ctx)
	if err != nil {
		return nil, 0, err
	}
	ends := make([]endData, len(events))
	jobIDs := make([]string, 0, len(events))
	for i, event := range events {
		if event.Topic != entity.TopicExecutions {
			continue
		}
		if err := json.Unmarshal([]byte(event.Payload), &ends[i]); err != nil {
			e.Logger.Error("an event cannot be read and raises no alert", "event", event.ID, "error", err)
			continue
		}
		jobIDs = append(jobIDs, ends[i].JobID)
	}
	jobs, err := e.Alerts.AlertJobs(ctx, jobIDs)
	if err != nil {
		return nil, 0, fmt.Errorf("read the jobs of events: %w", err)
	}
	history, ordered := history{runs: e.Runs, jobs: map[string]*past{}}, ruleset.InOrder(rules)
	judged = len(events)
	for i, event := range events {
		if len(out) >= maxFound {
			judged = i
			break
		}
		job, known := jobs[ends[i].JobID]
		if !known {
			continue
		}
		end := endOf(ends[i], event.CreateTime)
		for _, rule := range append(ordered[:len(ordered):len(ordered)], alerting.ShortRules(ruleset.JobOf(job))...) {
			runs, err := history.before(ctx, rule, job, end)
			if err != nil {
				return nil, 0, err
			}
			if signal, yes := alerting.OnEnd(rule, ruleset.JobOf(job), end, runs); yes {
				out = append(out, found{event.ID, signal})
			}
		}
	}
	hold, judged, err := e.expressions(ctx, rules, events[:judged], ends[:judged], jobs)
	if err != nil {
		return nil, 0, err
	}
	unusual, judged, err := e.findings(ctx, rules, events[:judged])
	return slices.Concat(out, hold, unusual), judged, err
}

func endOf(d endData, at time.Time) alerting.End {
	return alerting.End{
		ExecutionID: d.ExecutionID, FireKey: d.FireKey, Status: d.Status, Reason: d.Reason, At: at, Attempt: d.Attempt,
		Message: d.ErrorMessage, Fires: max(d.SkipCount, 1),
	}
}

// happen writes what the evidence of the taken events does, and returns how many alerts
// it has changed. Several pieces of evidence for one alert are one write.
func happen(ctx context.Context, tx repository.Tx, signals []found, taken []string, now time.Time) (int, error) {
	mine := make(map[string]bool, len(taken))
	for _, id := range taken {
		mine[id] = true
	}
	var own []alerting.Signal
	for _, f := range signals {
		if mine[f.event] {
			own = append(own, f.signal)
		}
	}
	return episode.Raise(ctx, tx, own, now)
}
