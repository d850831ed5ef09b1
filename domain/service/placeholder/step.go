package placeholder

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/jsonpath"
)

// The names of references that steps of workflows have beside the others.
const (
	ofStep = "steps"
	ofItem = "item"
	index  = "index"
	runID  = "run.id"
	// runOutcome is known to steps that run last.
	runOutcome = "run.outcome"
)

// The parts of a step that others may read.
const (
	PartOutput = "output"
	PartStatus = "status"
	PartReason = "reason"
	// PartOutputs and PartCount are those of a map: its results in order, and how many items came to what.
	PartOutputs = "outputs"
	PartCount   = "count"
)

// StepRead is what a placeholder of a step reads.
type StepRead struct {
	// Text is the whole placeholder.
	Text string
	// Step and Part are those of ${steps.NAME.PART}; empty for the others.
	Step, Part string
	// Item, Index, RunID and RunOutcome say which other it is.
	Item, Index, RunID, RunOutcome bool
	// Defaulted: it has a default for a value that is missing.
	Defaulted bool
}

// stepRef is a placeholder of a step.
type stepRef struct {
	name, step, part string
	path             jsonpath.Path // below the part
	fallback         *string
	// err says what is wrong with it. Only steps of workflows hear that: to others it is no placeholder.
	err error
}

// parseStep reads a placeholder of a step; nil for any other.
func parseStep(text string) *stepRef {
	body, fallback, given := strings.Cut(text, ":-")
	ref := &stepRef{name: ofStep}
	if given {
		ref.fallback = &fallback
	}
	var path string
	switch {
	case body == index || body == runID || body == runOutcome:
		ref.name = body
		if given {
			ref.err = wrong("${%.60s} always has a value; leave the default away", text)
		}
		return ref
	case body == ofItem || strings.HasPrefix(body, ofItem+".") || strings.HasPrefix(body, ofItem+"["):
		ref.name, path = ofItem, body[len(ofItem):]
	case strings.HasPrefix(body, ofStep+"."):
		step, rest, _ := strings.Cut(body[len(ofStep)+1:], ".")
		end := len(rest)
		if at := strings.IndexAny(rest, ".["); at >= 0 {
			end = at
		}
		ref.step, ref.part, path = step, rest[:end], rest[end:]
		if step == "" || !readable(ref.part, path) {
			ref.err = wrong("${%.60s} is no part of a step; write ${steps.NAME.output.FIELD}, ${steps.NAME.status} or "+
				"${steps.NAME.reason}, for a map ${steps.NAME.outputs} or ${steps.NAME.count.success}", text)
			return ref
		}
	default:
		return nil
	}
	var ok bool
	if ref.path, ok = jsonpath.Parse(path); !ok {
		ref.err = wrong("${%.60s}: below a value stand .NAME and [0], such as ${steps.load.output.rows[0].id}", text)
	}
	return ref
}

// readable reports whether there is such a part, and something below it as it has to be.
func readable(part, path string) bool {
	switch part {
	case PartOutput, PartOutputs:
		return true
	case PartStatus, PartReason:
		return path == ""
	case PartCount:
		switch path {
		case ".total", ".success", ".failed", ".notRun":
			return true
		}
	}
	return false
}

// Steps are the values of the placeholders of one step.
type Steps = entity.StepValues

// StepEnd is what others may read of a step.
type StepEnd = entity.StepEnd

// WithSteps lets the values have those of a step of a workflow.
func (v *Values) WithSteps(steps *Steps) *Values {
	v.steps = steps
	return v
}

// step is what a placeholder of a step stands for.
func (v *Values) step(ref *reference) (value, error) {
	r := ref.step
	if v.steps == nil {
		return value{}, unknown(strings.TrimSuffix(strings.TrimPrefix(ref.text, mark), "}"))
	}
	if r.err != nil {
		return value{}, r.err
	}
	if v.sample && r.name != index {
		out := value{placeholder: ref.text, text: Sample, sample: true, open: true}
		if r.fallback != nil {
			out.known = []string{*r.fallback}
		}
		return out, nil
	}
	var raw json.RawMessage
	switch r.name {
	case index:
		return value{placeholder: ref.text, text: strconv.Itoa(v.steps.Index)}, nil
	case runID:
		return value{placeholder: ref.text, text: v.steps.RunID}, nil
	case runOutcome:
		return value{placeholder: ref.text, text: v.steps.Outcome}, nil
	case ofItem:
		raw = v.steps.Item
	default:
		end := v.steps.Ends[r.step]
		switch r.part {
		case PartOutput:
			if raw = end.Output; end.TooLong != "" {
				return value{}, wrong("%s: %s", ref.text, end.TooLong)
			}
		case PartOutputs:
			raw = end.Outputs
		case PartCount:
			raw = end.Count
		default:
			if end.Status != "" {
				text := map[string]string{PartStatus: end.Status, PartReason: end.Reason}[r.part]
				return value{placeholder: ref.text, text: text}, nil
			}
		}
	}
	if found, ok := r.path.In(raw); ok {
		return value{placeholder: ref.text, text: textOf(found)}, nil
	}
	if r.fallback != nil {
		return value{placeholder: ref.text, text: *r.fallback}, nil
	}
	if end := v.steps.Ends[r.step]; r.part == PartOutput && end.Status == string(entity.StatusSuccess) {
		return value{}, wrong("%s has no value in this run: the step %s succeeded, and its result has no such part; mend "+
			"what it leaves as its result, or give a default with :- before the }", ref.text, r.step)
	}
	return value{}, wrong("%s has no value in this run; give it a default with :- before the }, or need the success of "+
		"the step", ref.text)
}

// StepReads lists the placeholders of steps in a text, in their order; the error is that of the first placeholder that
// is wrong.
func StepReads(text string) ([]StepRead, error) {
	if !Holds(text) {
		return nil, nil
	}
	parts, err := parse(text)
	if err != nil {
		return nil, err
	}
	var reads []StepRead
	for _, p := range parts {
		if p.value == nil || p.value.step == nil {
			continue
		}
		r := p.value.step
		if r.err != nil {
			return reads, r.err
		}
		reads = append(reads, StepRead{
			Text: p.value.text, Step: r.step, Part: r.part, Item: r.name == ofItem, Index: r.name == index,
			RunID: r.name == runID, RunOutcome: r.name == runOutcome, Defaulted: r.fallback != nil,
		})
	}
	return reads, nil
}

// OnlyOne reports whether a text is one placeholder of a step, and nothing else.
func OnlyOne(text string) bool {
	parts, err := parse(text)
	return err == nil && len(parts) == 3 && parts[0].text == "" && parts[2].text == "" && parts[1].value != nil
}

// StepList is the list that a text with the one placeholder stands for.
func StepList(text string, values *Values) ([]json.RawMessage, error) {
	filled, err := Expand(text, values, Raw)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(filled), &list); err != nil || list == nil {
		return nil, wrong("%.60s is no list", text)
	}
	return list, nil
}
