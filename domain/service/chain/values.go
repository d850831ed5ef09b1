package chain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// MaxParams bounds the values of one start as JSON, in bytes: that of any trigger.
const MaxParams = bounds.ParamsBytes

// The placeholders that stand in params of next alone.
const (
	result     = "${result"
	statusMark = "${status}"
	reasonMark = "${reason}"
)

// Check says what is wrong with the params of a next, a JSON object; empty is nothing.
func Check(job *entity.Job, params json.RawMessage) (remedy string) {
	if len(params) == 0 {
		return ""
	}
	e := expansion{values: placeholder.Samples(job), status: entity.StatusSuccess, sample: true}
	if _, err := e.object(params); err != nil {
		return err.Error()
	}
	return ""
}

// values are the params of a start.
func values(next *entity.Next, end End) (string, error) {
	if len(next.Params) == 0 {
		return "", nil
	}
	e := expansion{
		values: placeholder.Of(entity.Run{Job: end.Job, Execution: end.First}),
		status: end.Outcome, reason: end.First.Reason, result: end.First.Result, sharded: end.First.ShardTotal > 1,
	}
	return e.object(next.Params)
}

// expansion fills the strings of one object.
type expansion struct {
	values  *placeholder.Values
	status  entity.Status
	reason  entity.Reason
	result  string
	sharded bool
	// sample: no run is known yet.
	sample bool
	err    error
}

func (e *expansion) object(params json.RawMessage) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || object == nil {
		return "", fmt.Errorf("params must be a JSON object, such as {}")
	}
	filled := e.fill("params", object)
	if e.err != nil {
		return "", e.err
	}
	text, err := json.Marshal(filled)
	if err != nil {
		return "", fmt.Errorf("params cannot be written as JSON: %w", err)
	}
	if len(text) > MaxParams {
		return "", fmt.Errorf("params have %d bytes with their values; at most %d are handed on", len(text), MaxParams)
	}
	return string(text), nil
}

func (e *expansion) fill(path string, v any) any {
	switch v := v.(type) {
	case string:
		filled, err := e.text(v)
		if err != nil && e.err == nil {
			e.err = fmt.Errorf("%s: %w", path, err)
		}
		return filled
	case []any:
		for i := range v {
			v[i] = e.fill(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = e.fill(path+"."+name, v[name])
		}
	}
	return v
}

// text fills one string. A string that is one placeholder of the result takes its JSON value.
func (e *expansion) text(s string) (any, error) {
	if rest, is := strings.CutPrefix(s, result); is && strings.IndexByte(rest, '}') == len(rest)-1 {
		return e.resultOf(strings.TrimSuffix(rest, "}"))
	}
	if strings.Contains(strings.ReplaceAll(s, "$"+result, ""), result) {
		return nil, fmt.Errorf("a placeholder of the result must be the whole string")
	}
	// Escaped marks come first, and stay.
	s = strings.NewReplacer("$"+statusMark, "$"+statusMark, "$"+reasonMark, "$"+reasonMark,
		statusMark, string(e.status), reasonMark, string(e.reason)).Replace(s)
	if names := placeholder.SecretNames(s); len(names) > 0 {
		return nil, fmt.Errorf("a secret is not handed on: name %s in the job that is started",
			placeholder.OfSecret(names[0]))
	}
	return placeholder.Expand(s, e.values, placeholder.Raw)
}

// resultOf is ${result}, ${result.a.b} or ${result.a.b:-default}; path is what stands behind "result".
func (e *expansion) resultOf(path string) (any, error) {
	path, fallback, given := strings.Cut(path, ":-")
	missing := func(format string, args ...any) (any, error) {
		if given {
			return fallback, nil
		}
		return nil, fmt.Errorf(format+"; a default is written ${result.NAME:-default}", args...)
	}
	steps := strings.Split(path, ".")
	if steps[0] != "" || slices.Contains(steps[1:], "") {
		return nil, fmt.Errorf("${result%s} is no placeholder; write ${result} or ${result.NAME}", path)
	}
	if e.sample {
		return placeholder.Sample, nil
	}
	if e.sharded {
		return missing("a fire of several shards has no one result")
	}
	if len(steps) == 1 {
		if e.result == "" {
			return missing("the run has no result")
		}
		if value, is := decode(e.result); is {
			return value, nil
		}
		return e.result, nil
	}
	value, is := decode(e.result)
	if !is {
		return missing("the result of the run is no JSON")
	}
	for _, name := range steps[1:] {
		object, is := value.(map[string]any)
		if !is {
			return missing("the result of the run has no %s", strings.Join(steps[1:], "."))
		}
		if value, is = object[name]; !is {
			return missing("the result of the run has no %s", strings.Join(steps[1:], "."))
		}
	}
	return value, nil
}

// decode reads one JSON value, with the digits of its numbers.
func decode(text string) (value any, is bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil, false
	}
	return value, !decoder.More()
}
