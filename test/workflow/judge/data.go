package judge

import (
	"encoding/json"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/workflow"
)

// out is what the target answers.
type out struct {
	V    string
	List []string
}

// handedOn is what a step hands on: the answer to its last attempt.
func (p *passage) handedOn(s *step) (o out, ok bool) {
	if at, of := p.origin(s); of != s {
		return at.handedOn(of)
	}
	if s.status != "SUCCESS" || s.reason == "OPERATOR" {
		return o, false
	}
	for _, r := range s.rows[s.last] {
		if c, answered := p.answered(r); answered && c.Step != nil {
			return o, json.Unmarshal([]byte(c.Step.Out), &o) == nil
		}
	}
	return o, false
}

// listOf is the list of a map, which the step before was answered.
func (p *passage) listOf(s *step) (list []string, known bool) {
	if json.Unmarshal(s.def.ForEach.Items, &list) == nil {
		return list, true
	}
	text := string(s.def.ForEach.Items)
	_, rest, _ := strings.Cut(text, "${steps.")
	name, _, _ := strings.Cut(rest, ".")
	if p.steps[name] == nil {
		return nil, false
	}
	o, ok := p.handedOn(p.steps[name])
	return o.List, ok
}

// data compares what each call read with what others were answered.
func (p *passage) data() {
	for _, s := range p.steps {
		for _, rows := range s.rows {
			for _, r := range rows {
				p.read(s, r, -1)
			}
		}
		for item, generations := range s.items {
			for _, r := range generations {
				p.read(s, r, item)
			}
		}
	}
}

func (p *passage) read(s *step, r history.Row, item int) {
	for _, c := range p.calls[r.ID] {
		if c.Step == nil {
			continue
		}
		for name, got := range c.Step.In {
			want, checked := p.given(s, name, item)
			if checked && string(got) != want && !(s.def.Join == wf.JoinAny && string(got) == `""`) {
				p.violate(RuleData, "%s of %s: attempt %d of %s read %s as %s, and it was %s", p.flow.Name, p.run.ID, c.Attempt,
					p.key(r), name, got, want)
			}
		}
	}
}

// given is what a call was to read, as JSON.
func (p *passage) given(s *step, name string, item int) (text string, checked bool) {
	quote := func(v any) string {
		text, _ := json.Marshal(v) // texts and lists of them always marshal
		return string(text)
	}
	switch name {
	case "item":
		if list, known := p.listOf(s); known && item < len(list) {
			return quote(list[item]), true
		}
		return "nothing", true
	case "outputs":
		return p.outputs(p.steps[s.def.Needs[0].Step]), true
	case "above":
		at := parent{p, s.def.Name}
		if s.def.Job == nil {
			at = p.parents[p.run.ID]
		}
		if at.p == nil {
			return "", false
		}
		def := at.p.steps[at.step].def
		o, _ := at.p.handedOn(at.p.steps[def.Needs[0].Step])
		return quote(o.V), true
	}
	need := p.steps[name]
	if need == nil {
		return "", false
	}
	o, _ := p.handedOn(need)
	return quote(o.V), true
}

// outputs are the results of a map in the order of its items, null for those that did not succeed.
func (p *passage) outputs(s *step) string {
	if at, of := p.origin(s); of != s {
		return at.outputs(of)
	}
	list, known := p.listOf(s)
	if !known || s.status == "SKIPPED" || workflow.FateOf(s.status, s.reason) == workflow.Failure && len(s.items) == 0 {
		return "null"
	}
	results := make([]json.RawMessage, len(list))
	for i := range list {
		r := s.newest(i)
		if results[i] = json.RawMessage("null"); r.Status == "SUCCESS" {
			if c, ok := p.answered(r); ok && c.Step != nil {
				results[i] = json.RawMessage(c.Step.Out)
			}
		}
	}
	text, _ := json.Marshal(results) // what the target answered is JSON
	return string(text)
}
