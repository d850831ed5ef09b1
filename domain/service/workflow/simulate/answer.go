package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// answer evaluates the conditions and the lists that a decision asks for, and notes what it came to.
func (p *player) answer(at *moment, after *wf.State, asks []workflow.Ask) map[int]workflow.Value {
	values := make(map[int]workflow.Value, len(asks))
	for _, a := range asks {
		step := &p.g.Definition().Steps[a.Step]
		v := workflow.Value{Holds: true}
		if a.When {
			v = p.when(at, after, a.Step)
		}
		if a.Items && v.Wrong == "" {
			v.Items = p.plan.items(step)
			_, given := p.plan.Items[step.Name]
			if _, written := literal(step); !given && !written && v.Holds {
				at.note(a.Step, fmt.Sprintf("its list is not known, and taken to have one item (--items %s=N)", step.Name))
			}
		}
		if v.Wrong != "" {
			at.note(a.Step, v.Wrong)
		}
		values[a.Step] = v
	}
	return values
}

// when is the answer of a condition: the one that was given, that of the condition itself, or yes where it reads what
// no simulation knows.
func (p *player) when(at *moment, after *wf.State, i int) workflow.Value {
	step := &p.g.Definition().Steps[i]
	if holds, given := p.plan.When[step.Name]; given {
		at.note(i, fmt.Sprintf("its condition was said to be %t", holds))
		return workflow.Value{Holds: holds}
	}
	facts := workflow.Facts{Ends: map[string]placeholder.StepEnd{}}
	facts.Params, _ = json.Marshal(p.plan.Params) // JSON always marshals
	for k := range after.Steps {
		if s := &after.Steps[k]; s.Decided() {
			facts.Ends[p.g.Definition().Steps[k].Name] = placeholder.StepEnd{
				Status: string(s.Fate.Status()), Reason: string(s.Fate.Reason()),
			}
		}
	}
	holds, err := p.conditions.Holds(step.When, facts)
	var missing *workflow.MissingError
	switch {
	case err == nil:
		at.note(i, fmt.Sprintf("its condition is %t", holds))
		return workflow.Value{Holds: holds}
	case errors.As(err, &missing) && p.unknown(after, missing.Path):
		at.note(i, fmt.Sprintf("its condition is taken to hold, as %s is not known (--when %s=false for the other case)",
			strings.Join(missing.Path, "."), step.Name))
		return workflow.Value{Holds: true}
	}
	return workflow.Value{Wrong: err.Error()}
}

// unknown reports whether a real run might have a value that the simulation has not.
func (p *player) unknown(after *wf.State, path []string) bool {
	if path[0] != "steps" {
		_, given := p.plan.Params[path[1]]
		return !given
	}
	i, known := p.g.Step(path[1])
	return known && path[2] == placeholder.PartOutput && after.Steps[i].Fate.Class() == wf.ClassSuccess
}
