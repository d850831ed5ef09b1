package jobdata

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// Expand replaces the placeholders in all strings of a JSON object, at any depth. It
// returns data without placeholders unchanged, byte for byte.
func Expand(data string, run *placeholder.Values) (string, []apperror.Field) {
	if !placeholder.Holds(data) {
		return data, nil
	}
	var problems []apperror.Field
	value, err := placeholder.Texts{
		Each: func(place, text string) string {
			filled, err := placeholder.Expand(text, run, placeholder.Raw)
			if err != nil && len(problems) < maxProblems {
				problems = append(problems, apperror.Field{Field: place, Code: codeOf(err), Message: err.Error()})
			}
			return filled
		},
		Label: label,
	}.Walk(Path, []byte(data))
	if _, object := value.(map[string]any); err != nil || !object {
		return data, []apperror.Field{{Field: Path, Code: "invalid", Message: "must be a JSON object, such as {}"}}
	}
	expanded, _ := json.Marshal(value) // what was JSON is JSON again
	return string(expanded), problems
}

// maxProblems bounds how many wrong placeholders an answer names.
const maxProblems = 20
