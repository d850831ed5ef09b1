package alerting

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// eventWindow is how many waiting events a turn reads at its beginning. So the leader plans the alerts of a storm while
// it lasts. A group with thousands of failures delays the others no longer than that.
const eventWindow = 10 * eventBatch

// waiting are the events of one turn that it has read and not taken. Groups take turns. The events of a job stay in
// their order.
type waiting struct {
	// cheap are those whose jobs no pattern sees; dear are the others, and groups is how many of these each group has.
	cheap, dear []entity.Event
	groups      map[string]int
	// emptied says that a slice has the last dear event of a group.
	emptied bool
	// patterns are the conditions that have patterns. steps is the size of all that see a job, by its id. It is the same
	// for all of the turn: otherwise an event could overtake an older one of its job.
	patterns []said
	steps    map[string]int
	// last is the event up to which the turn has read; more says that others wait behind it.
	last int64
	more bool
}

// waiting reads the oldest events that wait for the rules.
func (e *Evaluator) waiting(ctx context.Context) (*waiting, error) {
	rules, err := e.rules(ctx)
	if err != nil {
		return nil, err
	}
	w := &waiting{groups: map[string]int{}, steps: map[string]int{}}
	for _, c := range e.conditions(rules) {
		if c.Steps() > 0 && !e.budget.Suspended(c.rule.ID) {
			w.patterns = append(w.patterns, c)
		}
	}
	return w, e.read(ctx, w, eventWindow)
}

// read reads at most so many further events, when all cheap ones are taken. Dear events of groups that have none come
// before those that wait.
func (e *Evaluator) read(ctx context.Context, w *waiting, most int) error {
	var found, cheap, first, last []entity.Event
	for w.more = true; w.more && len(found) < most; {
		page, err := e.Events.PendingEvents(ctx, entity.ReaderRules, w.last, eventBatch)
		if err != nil {
			return fmt.Errorf("read events for rules: %w", err)
		}
		if len(page) > 0 {
			w.last = page[len(page)-1].Seq
		}
		found, w.more = append(found, page...), len(page) == eventBatch
	}
	if err := e.weigh(ctx, w, found); err != nil {
		return err
	}
	for _, event := range found {
		switch {
		case w.stepsOf(event) == 0:
			cheap = append(cheap, event)
		case w.groups[groupOf(event)] == 0:
			first = append(first, event)
		default:
			last = append(last, event)
		}
	}
	for _, event := range slices.Concat(first, last) {
		w.groups[groupOf(event)]++
	}
	w.cheap, w.dear = inTurns(cheap), slices.Concat(inTurns(first), w.dear, last)
	return nil
}

// weigh adds up the patterns that see the jobs of events.
func (e *Evaluator) weigh(ctx context.Context, w *waiting, events []entity.Event) error {
	if len(w.patterns) == 0 {
		return nil
	}
	var ids []string
	for _, event := range events {
		if _, known := w.steps[event.Key]; !known && event.Topic == entity.TopicExecutions {
			w.steps[event.Key] = 0
			ids = append(ids, event.Key)
		}
	}
	jobs, err := e.Alerts.AlertJobs(ctx, ids)
	if err != nil {
		return fmt.Errorf("read the jobs of events: %w", err)
	}
	for id, job := range jobs {
		for _, c := range w.patterns {
			if seenBy(c.rule, job) {
				w.steps[id] += c.Steps()
			}
		}
	}
	return nil
}

// stepsOf is the size of the patterns that see an event. They see ends only.
func (w *waiting) stepsOf(event entity.Event) int {
	if event.Topic != entity.TopicExecutions {
		return 0
	}
	return w.steps[event.Key]
}

// slice removes the first dear events and returns them: those that one transaction takes, and whose patterns take at
// most so many steps, or one event.
func (w *waiting) slice(most int) (first []entity.Event) {
	n := 0
	for steps := 0; n < min(len(w.dear), takeBatch); n++ {
		if steps += w.stepsOf(w.dear[n]) * alerting.MaxMatched; n > 0 && steps > most {
			break
		}
	}
	first, w.dear = w.dear[:n], w.dear[n:]
	for _, event := range first {
		group := groupOf(event)
		w.groups[group]--
		w.emptied = w.emptied || w.groups[group] == 0
	}
	return first
}

// inTurns returns events, one of each group after the other.
func inTurns(events []entity.Event) []entity.Event {
	if len(events) < 2 {
		return events
	}
	groups, order := map[string][]entity.Event{}, []string(nil)
	for _, event := range events {
		group := groupOf(event)
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], event)
	}
	out := make([]entity.Event, 0, len(events))
	for turn := 0; len(out) < len(events); turn++ {
		for _, group := range order {
			if waits := groups[group]; turn < len(waits) {
				out = append(out, waits[turn])
			}
		}
	}
	return out
}

// groupOf is the group that an event names, as its payload spells it. JSON escapes a quote within a text, so no message
// of a run can look like the name. Events without a group are a group of their own.
func groupOf(event entity.Event) string {
	const name = `"group":"`
	_, rest, found := strings.Cut(event.Payload, name)
	if !found {
		return ""
	}
	group, _, _ := strings.Cut(rest, `"`)
	return group
}
