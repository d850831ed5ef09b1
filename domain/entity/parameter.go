package entity

import (
	"encoding/json"
	"maps"
)

// ParameterType is what the values of a parameter are.
type ParameterType string

// The types. A DATE is 2026-11-22, a DATETIME is RFC 3339, both as texts.
const (
	ParameterString   ParameterType = "STRING"
	ParameterInteger  ParameterType = "INTEGER"
	ParameterNumber   ParameterType = "NUMBER"
	ParameterBoolean  ParameterType = "BOOLEAN"
	ParameterEnum     ParameterType = "ENUM"
	ParameterDate     ParameterType = "DATE"
	ParameterDateTime ParameterType = "DATETIME"
)

// JobParameter is a parameter that a job declares.
type JobParameter struct {
	Name string        `json:"name"`
	Type ParameterType `json:"type"`
	// Default is the value of runs that are given none, as JSON; empty is none.
	Default     json.RawMessage `json:"default,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Description string          `json:"description,omitempty"`
	// Values are those of an ENUM.
	Values []string `json:"values,omitempty"`
}

// WithDefaults are the parameters of a run, a JSON object or empty, with the defaults of those that it was not given.
func (j *Job) WithDefaults(given string) string {
	if len(j.Parameters) == 0 {
		return given
	}
	values := map[string]json.RawMessage{}
	for _, p := range j.Parameters {
		if len(p.Default) > 0 {
			values[p.Name] = p.Default
		}
	}
	if len(values) == 0 {
		return given
	}
	if given != "" {
		var own map[string]json.RawMessage
		if json.Unmarshal([]byte(given), &own) != nil {
			return given
		}
		for name, value := range own {
			if string(value) == "null" {
				delete(own, name)
			}
		}
		maps.Copy(values, own)
	}
	text, err := json.Marshal(values)
	if err != nil {
		return given // a default that is no JSON was never stored
	}
	return string(text)
}
