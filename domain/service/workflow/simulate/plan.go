// Package simulate plays a workflow run without running anything: with the decision of the engine, and with outcomes
// that somebody chose.
package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// Plan says what the steps of a simulated run come to. A step of which nothing is said succeeds.
type Plan struct {
	// Outcomes are those of steps by name, and of single items of maps, such as load[3].
	Outcomes map[string]Outcome
	// Items are the lengths of the lists of maps.
	Items map[string]int
	// When are the answers of conditions. Others are evaluated as far as the simulation knows what they read.
	When map[string]bool
	// Params are those of the run, as a JSON object.
	Params map[string]json.RawMessage
}

// Outcome is a word for how an execution ends.
type Outcome string

// rejected is the end of an approval that people refused.
const rejected Outcome = "REJECTED"

// Outcomes lists the words: the final states of executions, and REJECTED for an approval.
func Outcomes() (words []string) {
	for _, s := range entity.Statuses() {
		if s.Final() {
			words = append(words, string(s))
		}
	}
	return append(words, string(rejected))
}

// end is that of an execution.
func (o Outcome) end(key wf.Key) workflow.End {
	switch o {
	case "":
		return workflow.End{Key: key, Status: entity.StatusSuccess}
	case rejected:
		return workflow.End{Key: key, Status: entity.StatusFailed, Reason: entity.ReasonRejected}
	}
	return workflow.End{Key: key, Status: entity.Status(o)}
}

// Check lists what does not fit the workflow.
func (p *Plan) Check(g *workflow.Graph) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	step := func(option, name string) *wf.Step {
		if i, known := g.Step(name); known {
			return &g.Definition().Steps[i]
		}
		add("%s: %q is no step of the workflow%s", option, name, meant(name, g))
		return nil
	}
	for _, text := range slices.Sorted(maps.Keys(p.Outcomes)) {
		key, err := wf.ParseKey(text)
		if err != nil || key.Generation > 1 {
			add("outcome: %q is no step; write NAME, or NAME[3] for an item of a map", text)
			continue
		}
		s, outcome := step("outcome", key.Name), p.Outcomes[text]
		switch {
		case !slices.Contains(Outcomes(), string(outcome)):
			add("outcome: %q is none; choose one of %s", outcome, strings.Join(Outcomes(), ", "))
		case s == nil:
		case outcome == rejected && s.Approval == nil:
			add("outcome: %s is no approval, and is not rejected; FAILED is the word", key.Name)
		case key.Item != wf.Whole && s.ForEach == nil:
			add("outcome: %s has no forEach, and so no item %d", key.Name, key.Item)
		case key.Item != wf.Whole && key.Item >= p.items(s):
			add("outcome: %s has %d items here, counted from 0; say --items %s=%d", key.Name, p.items(s), key.Name,
				key.Item+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Items)) {
		s, n := step("items", name), p.Items[name]
		switch {
		case s == nil:
		case s.ForEach == nil:
			add("items: %s has no forEach", name)
		case n < 0 || n > wf.MaxItems:
			add("items: %s has 0 to %d items, not %d", name, wf.MaxItems, n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.When)) {
		if s := step("when", name); s != nil && s.When == "" {
			add("when: %s has no condition", name)
		}
	}
	return faults
}

// items is the length of the list of a map: as planned, as written, or else one.
func (p *Plan) items(s *wf.Step) int {
	if n, given := p.Items[s.Name]; given {
		return n
	}
	if n, written := literal(s); written {
		return n
	}
	return 1
}

// literal is the length of a list that stands in the definition.
func literal(s *wf.Step) (n int, written bool) {
	var list []json.RawMessage
	if json.Unmarshal(s.ForEach.Items, &list) != nil {
		return 0, false
	}
	return len(list), true
}

func meant(name string, g *workflow.Graph) string {
	var names []string
	for i := range g.Definition().Steps {
		names = append(names, g.Definition().Steps[i].Name)
	}
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
