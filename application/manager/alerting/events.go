package alerting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

const (
	// eventBatch is how many events one statement reads, and takeBatch how many of these one transaction takes at most.
	// After evaluateTime it takes those that are evaluated: slow rules delay the alerts of others by no more than that.
	eventBatch   = 500
	takeBatch    = 200
	evaluateTime = 500 * time.Millisecond
	// turnTime bounds the evaluation before the leader plans alerts, although events wait.
	turnTime = 500 * time.Millisecond
	// lookEvery is the number of items between two checks whether a loop has to end.
	lookEvery = 100
	// maxFound bounds the evidence of one transaction: where many rules see many jobs it takes
	// fewer events, at least one. Else it would take longer than a transaction may.
	maxFound = 2000
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

// RunOnce evaluates events that wait, as many as a turn has time for. It returns how many it has taken, and whether
// more wait. Between slices of dear events it reads what has come, and takes cheap events at once. When it has taken
// events that a flood of dear ones could hold up, the turn ends: the leader plans their alerts.
func (e *Evaluator) RunOnce(ctx context.Context) (total int, more bool, err error) {
	ends, budget := e.Machine.Monotonic()+turnTime, fires.NewBudget()
	w, err := e.waiting(ctx)
	if err != nil {
		return 0, false, err
	}
	// Cheap events come first, but in each second turn only: otherwise they could keep dear ones away.
	for owed := e.owed.Swap(false); ; owed = false {
		var slice []entity.Event
		if owed || len(w.cheap) == 0 {
			slice = w.slice(e.pace.steps())
		}
		e.owed.Store(len(slice) == 0 && len(w.dear) > 0)
		dear, dearLeft, dearErr := e.all(ctx, budget, ends, slice)
		cheap, cheapLeft, err := e.all(ctx, budget, ends, w.cheap)
		total += dear + cheap
		if err := errors.Join(dearErr, err); err != nil {
			return total, false, err
		}
		left := dearLeft || cheapLeft // later events of a job must not come before those that are left
		if left || w.emptied || len(w.cheap) > 0 || len(w.dear) == 0 || e.Machine.Monotonic() >= ends {
			return total, w.more || left || len(w.dear) > 0, nil
		}
		if err := e.read(ctx, w, eventBatch); err != nil {
			return total, false, err
		}
	}
}

// all takes events in batches. left says that it leaves some to the next turn.
func (e *Evaluator) all(ctx context.Context, budget *fires.Budget, ends time.Duration, events []entity.Event) (
	total int, left bool, err error,
) {
	for part := range slices.Chunk(events, eventBatch) {
		if left = total > 0 && e.Machine.Monotonic() >= ends; left {
			break
		}
		var taken int
		taken, left, err = e.batch(ctx, budget, ends, part)
		if total += taken; err != nil || left {
			break
		}
	}
	return total, left, err
}

// found is evidence with the event that it comes from.
type found struct {
	event  string
	signal alerting.Signal
}

// batch takes some events. One whose evidence the store refuses, or that cannot be judged, holds up no other.
// left says that it leaves events to the next turn, because a moment of monotonic time has come or the budget is spent.
func (e *Evaluator) batch(ctx context.Context, budget *fires.Budget, ends time.Duration, events []entity.Event) (
	taken int, left bool, err error,
) {
	err = batch.Walk(e.Aside.Blames(), events, func(event entity.Event) string { return event.ID },
		func(part []entity.Event) error {
			for len(part) > 0 {
				n, judged, err := e.take(ctx, budget, part)
				if taken += n; err != nil {
					return fmt.Errorf("evaluate %d events: %w", len(part), err)
				}
				part = part[judged:]
				if len(part) > 0 && (judged == 0 || e.Machine.Monotonic() >= ends) {
					left = true
					break
				}
			}
			return nil
		}, func(event entity.Event, cause error) error {
			if err := e.takeAlone(ctx, event, cause); err != nil {
				return err
			}
			taken++
			return nil
		})
	return taken, left, err
}

// take evaluates and takes the first of some events: as many as it can evaluate within some time, and one transaction
// can write. It returns how many it has taken, and how many of these it has evaluated.
func (e *Evaluator) take(ctx context.Context, budget *fires.Budget, events []entity.Event) (
	taken, judged int, err error,
) {
	signals, judged, err := e.evaluate(ctx, budget, events[:min(len(events), takeBatch)])
	if err != nil || judged == 0 {
		return 0, 0, err
	}
	changed := 0
	for range episode.MaxTries {
		taken, changed, err = e.store(ctx, events[:judged], signals)
		if !errors.Is(err, episode.ErrOvertaken) {
			break
		}
	}
	if errors.Is(err, episode.ErrOvertaken) { // no event is to blame for that
		err = fmt.Errorf("%w: %w", repository.ErrLocked, err)
	}
	if changed > 0 { // also where nobody knows whether the commit happened
		e.Wake()
	}
	return taken, judged, err
}

// store takes events and writes what their evidence does, in one transaction.
func (e *Evaluator) store(ctx context.Context, events []entity.Event, signals []found) (
	taken, changed int, err error,
) {
	ids := convert.All(events, func(event entity.Event) string { return event.ID })
	now := e.Clock.Now()
	err = e.Store.Write(ctx, repository.LaneComplete, "alert-events", func(ctx context.Context, tx repository.Tx) error {
		mine, err := tx.Records.TakeEvents(ctx, entity.ReaderRules, ids)
		if err != nil {
			return err
		}
		taken = len(mine)
		changed, err = happen(ctx, tx, signals, mine, now)
		return err
	})
	if err != nil {
		taken = 0
	}
	return taken, changed, err
}

// takeAlone takes an event that cannot be taken with others.
func (e *Evaluator) takeAlone(ctx context.Context, event entity.Event, cause error) error {
	a := entity.SetAside{Kind: entity.AsideEvent, ID: event.ID}
	var end endData
	if event.Topic == entity.TopicExecutions && json.Unmarshal([]byte(event.Payload), &end) == nil {
		a.Job = end.JobID
	}
	var signals []found
	judged := 0
	judging := batch.Guard(func() (err error) {
		signals, judged, err = e.evaluate(ctx, fires.NewBudget(), []entity.Event{event})
		return err
	})
	if judging != nil && batch.Passes(judging) || judging == nil && judged == 0 {
		return judging
	}
	if len(signals) > 0 {
		a.Rule = signals[0].signal.Rule.ID
	}
	now := e.Clock.Now()
	take := func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Records.TakeEvents(ctx, entity.ReaderRules, []string{event.ID})
		return err
	}
	raised, err := e.helpless(ctx, a, cause, func(ctx context.Context, tx repository.Tx) error {
		if judging != nil {
			return judging
		}
		mine, err := tx.Records.TakeEvents(ctx, entity.ReaderRules, []string{event.ID})
		if err != nil {
			return err
		}
		_, err = happen(ctx, tx, signals, mine, now)
		return err
	}, take)
	if raised {
		e.Wake()
	}
	return err
}

// evaluate asks the rules about events, and returns how many of these: the first ones whose evidence one transaction
// can write, and whose past this turn may read. It writes only which rules are suspended, so a caller may repeat it.
func (e *Evaluator) evaluate(ctx context.Context, budget *fires.Budget, events []entity.Event) (
	out []found, judged int, err error,
) {
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
	reader, ordered := fires.NewReader(e.Runs, budget, e.Clock.Now()), ruleset.InOrder(rules)
	for i, event := range events {
		reader.Expect(ends[i].JobID, ends[i].ExecutionID, event.CreateTime)
	}
	judged = len(events)
	spent := e.span(ctx)
events:
	for i, event := range events {
		if full, err := spent(i, len(out)); full || err != nil {
			if judged = i; err != nil {
				return nil, 0, err
			}
			break
		}
		job, known := jobs[ends[i].JobID]
		if !known {
			continue
		}
		end := endOf(ends[i], event.CreateTime)
		for _, rule := range append(ordered[:len(ordered):len(ordered)], alerting.ShortRules(ruleset.JobOf(job))...) {
			past, err := before(ctx, reader, rule, job, end)
			if errors.Is(err, fires.ErrLater) {
				judged = i
				break events
			}
			if err != nil {
				return nil, 0, err
			}
			if signal, yes := alerting.OnEnd(rule, ruleset.JobOf(job), end, past); yes {
				out = append(out, found{event.ID, signal})
			}
		}
	}
	hold, judged, err := e.expressions(ctx, e.conditions(rules), events[:judged], ends[:judged], jobs)
	if err != nil {
		return nil, 0, err
	}
	unusual, judged, err := e.findings(ctx, rules, events[:judged])
	if err != nil {
		return nil, 0, err
	}
	standing, judged, err := e.standing(ctx, rules, events[:judged])
	return slices.Concat(out, hold, unusual, standing), judged, err
}

// span begins to judge. The function that it returns reports, before the item i, whether the
// items before it are enough for one transaction, by their evidence and by the time they took;
// and it ends with ctx.
func (e *Evaluator) span(ctx context.Context) func(i, found int) (full bool, err error) {
	began := e.Machine.Monotonic()
	return func(i, found int) (bool, error) {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		return found >= maxFound || i > 0 && e.Machine.Monotonic()-began >= evaluateTime, nil
	}
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
