package workflow

import (
	"encoding/json"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// HandedOn says of each step whether another one reads its output, or its outputs.
func HandedOn(d *wf.Definition) []bool {
	read := map[string]bool{}
	for i := range d.Steps {
		for _, text := range texts(&d.Steps[i]) {
			for _, name := range placeholder.OutputsRead(text) {
				read[name] = true
			}
		}
	}
	out := make([]bool, len(d.Steps))
	for i := range d.Steps {
		name := d.Steps[i].Name
		out[i] = read[name]
		for k := range d.Steps { // a condition has no placeholders
			out[i] = out[i] || strings.Contains(d.Steps[k].When, "steps."+name+".output")
		}
	}
	return out
}

// texts are the parts of a step that may have placeholders, as JSON.
func texts(s *wf.Step) []json.RawMessage {
	all := []json.RawMessage{s.HTTP, s.Command}
	add := func(text string) {
		raw, _ := json.Marshal(text) // texts always marshal
		all = append(all, raw)
	}
	switch {
	case s.Custom != nil:
		all = append(all, s.Custom.Data)
	case s.Job != nil:
		all = append(all, s.Job.Params)
	case s.Approval != nil:
		add(s.Approval.Text)
	case s.Wait != nil:
		add(s.Wait.Until)
	}
	if s.ForEach != nil {
		all = append(all, s.ForEach.Items)
	}
	return all
}
