package jobdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Expand replaces the placeholders in all strings of a JSON object, at any depth. It
// returns data without placeholders unchanged, byte for byte.
func Expand(data string, run *placeholder.Values) (string, []apperror.Field) {
	if !placeholder.Holds(data) {
		return data, nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(data)))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		return data, []apperror.Field{{Field: Path, Code: "invalid", Message: "must be a JSON object, such as {}"}}
	}
	e := expansion{run: run}
	expanded, err := json.Marshal(e.value(Path, value))
	if err != nil {
		return data, []apperror.Field{{Field: Path, Code: "invalid", Message: "must be a JSON object, such as {}"}}
	}
	return string(expanded), e.problems
}

// maxProblems bounds how many wrong placeholders an answer names.
const maxProblems = 20

type expansion struct {
	run      *placeholder.Values
	problems []apperror.Field
}

func (e *expansion) value(path string, v any) any {
	switch v := v.(type) {
	case string:
		text, err := placeholder.Expand(v, e.run, placeholder.Raw)
		if err != nil && len(e.problems) < maxProblems {
			e.problems = append(e.problems, apperror.Field{Field: path, Code: codeOf(err), Message: err.Error()})
		}
		return text
	case []any:
		for i := range v {
			v[i] = e.value(fmt.Sprintf("%s[%d]", path, i), v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = e.value(path+"."+label(name), v[name])
		}
	}
	return v
}
