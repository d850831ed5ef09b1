package jobdata

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// Fill puts the texts of fields into a JSON object, for a program that takes each of them as it stands. Fields that the
// object lacks stay out, and other fields stay as they are.
func Fill(data string, texts map[string]any) (string, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(data), &fields); err != nil {
		return "", fmt.Errorf("read the data of a job: %w", err)
	}
	for name, text := range texts {
		if raw, given := fields[name]; !given || string(raw) == "null" {
			continue
		}
		filled, err := marshal(text)
		if err != nil {
			return "", fmt.Errorf("write the field %s of a job: %w", name, err)
		}
		fields[name] = filled
	}
	filled, err := marshal(fields)
	return string(filled), err
}

// marshal writes JSON with all characters as they are.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// Unfilled is what is wrong with an object that could not be filled.
func Unfilled(err error) []apperror.Field {
	return []apperror.Field{{Field: Path, Code: "invalid", Message: err.Error()}}
}
