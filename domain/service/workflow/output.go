package workflow

import (
	"encoding/json"
	"fmt"
	"strings"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/jsonpath"
)

// MaxOutput bounds the output of a step as JSON, in bytes.
const MaxOutput = 64 << 10

// part is ${result.a.b:-default} in output.
type part struct {
	path     jsonpath.Path
	fallback *string
}

// parsePart reads the text of an output; no part where it is plain text.
func parsePart(text string) (p *part, remedy string) {
	if !strings.Contains(text, "${") {
		return nil, ""
	}
	body, is := strings.CutPrefix(text, "${result")
	body, closed := strings.CutSuffix(body, "}")
	body, fallback, given := strings.Cut(body, ":-")
	p = &part{}
	if given {
		p.fallback = &fallback
	}
	var ok bool
	if p.path, ok = jsonpath.Parse(body); !is || !closed || !ok || strings.ContainsAny(fallback, "{}") {
		return nil, "write a whole text as ${result.FIELD} or ${result.FIELD:-default}, or one without ${"
	}
	return p, ""
}

// CheckOutput says how to mend a text of output; empty is nothing.
func CheckOutput(text string) (remedy string) {
	_, remedy = parsePart(text)
	return remedy
}

// Output is what other steps may read of a step that succeeded with a result. A part that the result does not have is
// left out. The error says that it is too long.
func Output(step *wf.Step, result string) (json.RawMessage, error) {
	whole := json.RawMessage(result)
	if !json.Valid(whole) {
		whole, _ = json.Marshal(result) // texts always marshal
	}
	output := map[string]json.RawMessage{}
	isObject := strings.HasPrefix(strings.TrimLeft(string(whole), " \t\r\n"), "{")
	switch {
	case len(step.Output) == 0 && isObject:
		return bounded(whole)
	case len(step.Output) == 0 && result != "":
		output["text"] = whole
	}
	for name, text := range step.Output {
		p, remedy := parsePart(text)
		if remedy != "" {
			return nil, fmt.Errorf("output.%s: %s", name, remedy)
		}
		if p != nil {
			if value, found := p.path.In(whole); found {
				output[name] = value
				continue
			}
			if p.fallback == nil {
				continue
			}
			text = *p.fallback
		}
		output[name], _ = json.Marshal(text) // texts always marshal
	}
	made, err := json.Marshal(output)
	if err != nil {
		return nil, fmt.Errorf("write an output as JSON: %w", err)
	}
	return bounded(made)
}

func bounded(output json.RawMessage) (json.RawMessage, error) {
	if len(output) > MaxOutput {
		return nil, fmt.Errorf("the output has %d bytes; at most %d are handed on: name parts of it in output, or hand on "+
			"where it is", len(output), MaxOutput)
	}
	return output, nil
}
