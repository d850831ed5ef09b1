package validate

import (
	"encoding/json"
	"maps"
	"slices"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

func (c *checker) names() []string { return slices.Sorted(maps.Keys(c.at)) }

// reads checks what a step reads of others.
func (c *checker) reads(i int) {
	s := &c.d.Steps[i]
	c.when(i)
	c.strings(i, "http", s.HTTP)
	c.strings(i, "command", s.Command)
	switch {
	case s.Custom != nil:
		c.strings(i, "custom.data", s.Custom.Data)
	case s.Job != nil:
		c.strings(i, "job.params", s.Job.Params)
	case s.Approval != nil:
		c.read(i, "approval.text", s.Approval.Text, true)
	case s.Wait != nil:
		c.read(i, "wait.until", s.Wait.Until, true)
	}
	if s.ForEach != nil {
		var text string
		if json.Unmarshal(s.ForEach.Items, &text) == nil {
			c.read(i, "forEach.items", text, false)
		}
	}
}

func (c *checker) when(i int) {
	s := &c.d.Steps[i]
	if s.When == "" || len(s.When) > wf.MaxWhen {
		return
	}
	where := field(i, ".when")
	if placeholder.Holds(s.When) {
		c.add(where, validation.CodeInvalid, "a condition has no placeholders; write steps.NAME.output.FIELD or params.NAME")
		return
	}
	if c.ports.Conditions == nil {
		return
	}
	steps, problems := c.ports.Conditions.Check(s.When)
	for _, p := range problems {
		c.add(where, validation.CodeInvalid, "%s", p)
	}
	for _, name := range steps {
		at, known := c.at[name]
		switch {
		case !known:
			c.add(where, validation.CodeUnknown, "reads steps.%s, which is no step here%s", validation.Text(name, wf.MaxName),
				meant(name, c.names()))
		case !c.ended[i][at] && !c.direct(i, at):
			c.add(where, validation.CodeConflict, "reads steps.%s, which may not have ended by then; add it to needs", name)
		}
	}
}

// direct reports whether a step names another one in its needs. Under ANY that one may be live.
func (c *checker) direct(i, at int) bool {
	return slices.ContainsFunc(c.d.Steps[i].Needs, func(n wf.Need) bool { return c.at[n.Step] == at })
}

// strings checks each text of a JSON value, by its field.
func (c *checker) strings(i int, name string, data json.RawMessage) {
	if len(data) == 0 {
		return
	}
	check := func(place, text string) { c.read(i, place, text, true) }
	_, _ = placeholder.Texts{ // kind says so where it cannot be read
		Each:  func(place, text string) string { check(place, text); return text },
		Name:  check,
		Label: func(name string) string { return validation.Text(name, 50) },
	}.Walk(name, data)
}

// read checks the placeholders of steps in one text. Placeholders of one item stand where the work of one item is.
func (c *checker) read(i int, name, text string, inItem bool) {
	s, where := &c.d.Steps[i], field(i, ".%s", name)
	c.shown(s, where, text)
	reads, err := placeholder.StepReads(text)
	if err != nil {
		c.add(where, validation.CodeInvalid, "%s", err)
		return
	}
	for _, r := range reads {
		switch {
		case r.Item || r.Index:
			if s.ForEach == nil || !inItem {
				c.add(where, validation.CodeConflict, "%s is there in the work of a step with forEach alone", r.Text)
			}
		case r.RunOutcome:
			if !s.Finally {
				c.add(where, validation.CodeConflict, "%s is known to steps with finally: true alone", r.Text)
			}
		case r.Step != "":
			c.readOf(i, where, r, inItem)
		}
	}
}

// shown refuses secrets in texts that no executor fills: people read them, or another job keeps them as parameters.
func (c *checker) shown(s *wf.Step, where, text string) {
	names := placeholder.SecretNames(text)
	switch {
	case len(names) == 0:
	case s.Job != nil:
		c.add(where, validation.CodeInvalid, "a secret is not handed on: name %s in the job that is started",
			placeholder.OfSecret(names[0]))
	case s.Approval != nil || s.Wait != nil:
		c.add(where, validation.CodeInvalid, "%s is a secret, and people would read it; leave it out",
			placeholder.OfSecret(names[0]))
	}
}

// readOf checks a placeholder of another step. The list of a map is read when the map starts and again for its items:
// it must not read what may still change.
func (c *checker) readOf(i int, where string, r placeholder.StepRead, inItem bool) {
	at, known := c.at[r.Step]
	if !known {
		c.add(where, validation.CodeUnknown, "%s: %q is no step here%s", r.Text, r.Step,
			meant(r.Step, c.names()))
		return
	}
	other := &c.d.Steps[at]
	isMap := other.ForEach != nil
	switch r.Part {
	case placeholder.PartOutput:
		if isMap {
			c.add(where, validation.CodeConflict, "%s: %s has forEach; read its outputs or count", r.Text, r.Step)
			return
		}
	case placeholder.PartOutputs, placeholder.PartCount:
		if !isMap {
			c.add(where, validation.CodeConflict, "%s: %s has no forEach; read its output", r.Text, r.Step)
			return
		}
	}
	sure := c.succeeded[i][at]
	if r.Part == placeholder.PartStatus || r.Part == placeholder.PartReason {
		sure = c.ended[i][at]
	}
	switch {
	case !c.ended[i][at] && !c.direct(i, at):
		c.add(where, validation.CodeConflict, "reads steps.%s, which may not have ended by then; add it to needs", r.Step)
	case !c.ended[i][at] && !inItem:
		c.add(where, validation.CodeConflict, "%s: %s may still be live, as join is ANY, and the list must not change; "+
			"use join ALL", r.Text, r.Step)
	case sure || r.Defaulted:
	case !c.ended[i][at]:
		c.add(where, validation.CodeConflict, "%s: %s may still be live, as join is ANY; give a default with :- before the }",
			r.Text, r.Step)
	default:
		c.add(where, validation.CodeConflict, "%s: %s may be skipped or fail; give a default with :- before the }, or need "+
			"its success", r.Text, r.Step)
	}
}
