package request

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// StepsBody is what a workflow has beside the fields of other jobs.
type StepsBody struct {
	// Steps are at most 200, in any order.
	Steps []StepBody `json:"steps" maxItems:"200"`
	// OnStepFailure says what a failure does that no edge asks for, and that is not tolerated.
	OnStepFailure string `json:"onStepFailure,omitempty" enums:"GO_ON,STOP,HOLD" default:"GO_ON"`
	// HoldSec is how long HOLD waits for a person; 0 is a day.
	HoldSec int `json:"holdSec,omitempty" minimum:"0" maximum:"604800"`
}

// StepBody is a step. It has one of http, command, custom, job, approval and wait.
type StepBody struct {
	// Name has 1 to 40 of a–z, 0–9, - and _.
	Name string `json:"name" maxLength:"40"`
	// Needs are steps that must have ended as asked; a plain name asks for success.
	Needs []NeedBody `json:"needs,omitempty"`
	Join  string     `json:"join,omitempty" enums:"ALL,ANY" default:"ALL"`
	// MinSuccess is how many of the needs must be successes, under ALL.
	MinSuccess int `json:"minSuccess,omitempty" minimum:"0"`
	// When is a condition; where it does not hold, the step is skipped.
	When     string             `json:"when,omitempty" maxLength:"1024"`
	Tolerate bool               `json:"tolerate,omitempty" default:"false"`
	Finally  bool               `json:"finally,omitempty" default:"false"`
	ForEach  *ForEachBody       `json:"forEach,omitempty"`
	HTTP     stepWork[HTTPData] `json:"http,omitempty"`
	// Command is the work of a COMMAND job.
	Command  stepWork[CommandData] `json:"command,omitempty"`
	Custom   *CustomBody           `json:"custom,omitempty"`
	Job      *NamedJobBody         `json:"job,omitempty"`
	Approval *ApprovalBody         `json:"approval,omitempty"`
	Wait     *WaitBody             `json:"wait,omitempty"`
	// TimeoutSec and the three after it are as of a job; for http, command and custom alone.
	TimeoutSec       int        `json:"timeoutSec,omitempty" minimum:"0" maximum:"604800"`
	StartDeadlineSec int        `json:"startDeadlineSec,omitempty" minimum:"0" maximum:"604800"`
	Priority         int        `json:"priority,omitempty" minimum:"1" maximum:"10"`
	RetryPolicy      *RetryBody `json:"retryPolicy,omitempty"`
	// Output names parts of the result for other steps, such as rows: ${result.count}.
	Output map[string]string `json:"output,omitempty"`
}

// NeedBody is an edge.
type NeedBody struct {
	Step string `json:"step" maxLength:"40"`
	// On is one of success, failure, blocked, skipped, unsuccessful, ok and done, or a list of them.
	On oneOrMore `json:"on,omitempty"`
}

func (NeedBody) shortFor() string { return "step" }

// ForEachBody runs a step once for each item of a list.
type ForEachBody struct {
	// Items is a list, or a text with the one placeholder of one.
	Items       listOrText    `json:"items"`
	MaxParallel int           `json:"maxParallel,omitempty" minimum:"1" maximum:"1000"`
	MaxItems    int           `json:"maxItems,omitempty" minimum:"1" maximum:"10000"`
	Tolerate    *TolerateBody `json:"tolerate,omitempty"`
}

// TolerateBody is how many items may fail.
type TolerateBody struct {
	Count   int `json:"count,omitempty" minimum:"0"`
	Percent int `json:"percent,omitempty" minimum:"0" maximum:"100"`
}

// CustomBody is the work of a handler.
type CustomBody struct {
	JobClass string    `json:"jobClass" maxLength:"255"`
	Data     rawObject `json:"data,omitempty"`
}

// NamedJobBody is a job that exists by itself.
type NamedJobBody struct {
	// Name is that of a job of the same group, or group/name.
	Name   string    `json:"name" maxLength:"201"`
	Params rawObject `json:"params,omitempty"`
}

// ApprovalBody waits for the word of people.
type ApprovalBody struct {
	Users []string `json:"users,omitempty"`
	Teams []string `json:"teams,omitempty"`
	// Need is how many must approve; absent, one.
	Need       int    `json:"need,omitempty" minimum:"1" maximum:"5"`
	TimeoutSec int    `json:"timeoutSec,omitempty" minimum:"1"`
	OnTimeout  string `json:"onTimeout,omitempty" enums:"REJECT,APPROVE,FAIL" default:"REJECT"`
	// NotBy excludes the one who triggered the workflow run.
	NotBy *string `json:"notBy,omitempty" enums:"TRIGGERER"`
	Text  string  `json:"text,omitempty" maxLength:"2000"`
}

// WaitBody ends after a while, or at a moment.
type WaitBody struct {
	ForSec int    `json:"forSec,omitempty" minimum:"1"`
	Until  string `json:"until,omitempty"`
}

// definition is the graph of which this was said. A value at its default is left out: one meaning has one form.
func (b *StepsBody) definition(timeoutSec int) *wf.Definition {
	d := &wf.Definition{
		Steps: make([]wf.Step, len(b.Steps)), HoldSec: b.HoldSec, TimeoutSec: timeoutSec,
		OnStepFailure: unlessDefault(wf.OnStepFailure(b.OnStepFailure), wf.GoOn),
	}
	for i := range b.Steps {
		d.Steps[i] = b.Steps[i].step()
	}
	return d
}

// unlessDefault is a word, or nothing where it is the default.
func unlessDefault[T ~string](word, standard T) T {
	if word == standard {
		return ""
	}
	return word
}

func (b *StepBody) step() wf.Step {
	s := wf.Step{
		Name: b.Name, Join: unlessDefault(wf.Join(b.Join), wf.JoinAll), MinSuccess: b.MinSuccess, When: b.When,
		Tolerate: b.Tolerate, Finally: b.Finally, HTTP: rawOf(b.HTTP.text), Command: rawOf(b.Command.text),
		TimeoutSec: b.TimeoutSec, StartDeadlineSec: b.StartDeadlineSec, Priority: b.Priority, Output: b.Output,
	}
	for _, n := range b.Needs {
		s.Needs = append(s.Needs, n.need())
	}
	if f := b.ForEach; f != nil {
		s.ForEach = &wf.ForEach{Items: f.Items.raw, MaxParallel: f.MaxParallel, MaxItems: f.MaxItems}
		if t := f.Tolerate; t != nil {
			s.ForEach.Tolerate = &wf.Tolerate{Count: t.Count, Percent: t.Percent}
		}
	}
	if c := b.Custom; c != nil {
		s.Custom = &wf.Custom{JobClass: c.JobClass, Data: rawOf(string(c.Data))}
	}
	if j := b.Job; j != nil {
		s.Job = &wf.NamedJob{Name: j.Name, Params: rawOf(string(j.Params))}
	}
	if a := b.Approval; a != nil {
		s.Approval = &wf.Approval{
			Users: a.Users, Teams: a.Teams, Need: a.Need, TimeoutSec: a.TimeoutSec, Text: a.Text,
			OnTimeout: unlessDefault(wf.OnTimeout(a.OnTimeout), wf.TimeoutRejects), NotBy: wf.NotBy(or(a.NotBy, "")),
		}
	}
	if w := b.Wait; w != nil {
		s.Wait = &wf.Wait{ForSec: w.ForSec, Until: w.Until}
	}
	if b.RetryPolicy != nil {
		policy := b.RetryPolicy.policy()
		s.RetryPolicy = &policy
	}
	return s
}

func (b *NeedBody) need() wf.Need {
	n := wf.Need{Step: b.Step}
	if b.On == nil {
		return n
	}
	n.On = []wf.Word{}
	for _, word := range b.On {
		n.On = append(n.On, wf.Word(strings.ToLower(word)))
	}
	if slices.Equal(n.On, []wf.Word{wf.Word(wf.ClassSuccess)}) {
		n.On = nil
	}
	return n
}

// rawOf is a text of JSON; none where it is empty.
func rawOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// stepWork is the work of an executor. It is kept as it was written; its fields are those of T.
type stepWork[T any] struct{ text string }

func (stepWork[T]) documents() reflect.Type { return reflect.TypeFor[T]() }

func (w *stepWork[T]) readFrom(b *binder, name string) (ok bool) {
	var data T
	ok = b.nested(name, func(b *binder) {
		b.into(reflect.ValueOf(&data).Elem())
		if c, is := any(&data).(interface{ complete(b *binder) }); is {
			c.complete(b)
		}
	})
	if ok {
		w.text, ok = b.raw(name)
	}
	return ok
}

func (d *HTTPData) complete(b *binder) { b.faults.required(join(b.path, "url"), d.URL) }

func (d *CommandData) complete(b *binder) {
	script, command := b.object.fields["script"] != nil, b.object.fields["command"] != nil
	switch {
	case script == command:
		b.faults.add(b.path, "conflict", "give one of command, and script with interpreter")
	case script:
		b.faults.required(join(b.path, "interpreter"), d.Interpreter)
	}
}

// oneOrMore is a list of texts; one text stands for a list of it.
type oneOrMore []string

func (o *oneOrMore) readFrom(b *binder, name string) (ok bool) {
	if text, is := b.object.fields[name].(string); is {
		b.ignore(name)
		*o = oneOrMore{text}
		return true
	}
	if v := b.object.fields[name]; v != nil {
		if _, is := v.([]any); !is {
			b.ignore(name)
			b.wrongType(name, "a word, or a list of words", v)
			return false
		}
	}
	list, ok := b.strings(name)
	if ok {
		*o = list
	}
	return ok
}

// listOrText is a JSON list, or a text.
type listOrText struct{ raw json.RawMessage }

func (l *listOrText) readFrom(b *binder, name string) (ok bool) {
	v, ok := b.take(name)
	if !ok {
		return false
	}
	switch v.(type) {
	case string, []any:
	default:
		b.wrongType(name, "a list, or a text with the placeholder of one", v)
		return false
	}
	w := writer{}
	w.texts = json.NewEncoder(&w.out)
	w.texts.SetEscapeHTML(false)
	if err := w.value(v); err != nil {
		b.faults.add(join(b.path, name), "invalid", "cannot be kept as JSON")
		return false
	}
	l.raw = json.RawMessage(escapeControls(w.out.String()))
	return true
}
