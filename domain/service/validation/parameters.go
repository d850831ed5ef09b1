package validation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// The bounds of the parameters that a job declares.
const (
	MaxParameters           = 50
	MaxParameterDescription = 500
	MaxParameterValues      = 100
	// MaxParameterBytes bounds a value, and MaxParametersBytes all declarations, as JSON.
	MaxParameterBytes  = 4 << 10
	MaxParametersBytes = bounds.ParametersBytes
	// maxFound is how many wrong values of one call are told.
	maxFound = 100
)

// parameterName is what ${params.NAME} can name.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

var parameterTypes = []entity.ParameterType{
	entity.ParameterString, entity.ParameterInteger, entity.ParameterNumber, entity.ParameterBoolean, entity.ParameterEnum,
	entity.ParameterDate, entity.ParameterDateTime,
}

// parameters checks what a job declares.
func (c *checker) parameters(j *entity.Job) {
	if n := len(j.Parameters); n > MaxParameters {
		c.add("parameters", CodeTooMany, "declare at most %d parameters; there are %d", MaxParameters, n)
		return
	}
	if text, err := json.Marshal(j.Parameters); err == nil && len(text) > MaxParametersBytes {
		c.add("parameters", CodeTooLong, "must be at most %d KiB of JSON together; shorten defaults and descriptions",
			MaxParametersBytes>>10)
	}
	if n := alertsBytes(j); n > bounds.AlertsBytes && len(j.Parameters) > 0 {
		c.add("parameters", CodeTooLarge, "keep at most %d bytes of JSON together with the channels of alerts, where <, > "+
			"and & take 6 each; there are %d: shorten descriptions, or name fewer channels", bounds.AlertsBytes, n)
	}
	seen := map[string]bool{}
	for i := range j.Parameters {
		p, field := &j.Parameters[i], fmt.Sprintf("parameters[%d]", i)
		switch {
		case p.Name == "":
			c.add(field+".name", CodeRequired, "give the parameter a name")
		case !parameterName.MatchString(p.Name):
			c.add(field+".name", CodeInvalid, "must begin with a letter or _, and have at most 64 letters, digits, _ and -")
		case seen[p.Name]:
			c.add(field+".name", CodeConflict, "another parameter has this name: declare each once")
		}
		seen[p.Name] = true
		oneOf(c, field+".type", p.Type, parameterTypes)
		c.text(field+".description", p.Description, MaxParameterDescription)
		c.enumValues(field, p)
		switch {
		case len(p.Default) > 0:
			if _, wrong := value(p, p.Default); wrong != "" && slices.Contains(parameterTypes, p.Type) {
				c.add(field+".default", CodeInvalid, "%s", wrong)
			}
		case p.Required && j.Schedule.Kind != schedule.None && j.Schedule.Kind != "":
			c.add(field+".default", CodeRequired, "fires of the schedule are given no values: give the required parameter a "+
				"default, or let the job have no schedule")
		}
	}
}

// alertsBytes is what the parameters take with what shares their place in the store.
func alertsBytes(j *entity.Job) int {
	if len(j.Parameters)+len(j.Next) == 0 {
		return 0 // the others have room
	}
	text, err := json.Marshal(struct {
		entity.JobAlerts
		Deadline   entity.JobDeadline    `json:"deadline,omitzero"`
		Parameters []entity.JobParameter `json:"parameters"`
		Next       []entity.Next         `json:"next"`
	}{j.Alerts, j.Deadline, j.Parameters, j.Next})
	if err != nil {
		return 0
	}
	return len(text)
}

func (c *checker) enumValues(field string, p *entity.JobParameter) {
	switch {
	case p.Type != entity.ParameterEnum:
		if len(p.Values) > 0 {
			c.add(field+".values", CodeConflict, "only an ENUM has values: remove them, or make it an ENUM")
		}
	case len(p.Values) == 0:
		c.add(field+".values", CodeRequired, "list the values of the ENUM")
	case len(p.Values) > MaxParameterValues:
		c.add(field+".values", CodeTooMany, "list at most %d values; there are %d", MaxParameterValues, len(p.Values))
	default:
		for i, v := range p.Values {
			if entry := fmt.Sprintf("%s.values[%d]", field, i); v == "" || slices.Contains(p.Values[:i], v) {
				c.add(entry, CodeInvalid, "must be a text that is not listed before")
			} else {
				c.line(entry, v, MaxName)
			}
		}
	}
}

// Params checks the values of a trigger, a JSON object or empty, by what the job declares, and returns them in the
// declared types. Of a job that declares nothing they are as they were given. null is no value. A text that
// reads as the type is taken for the value.
func Params(j *entity.Job, given string) (params string, wrong []apperror.Field) {
	if len(j.Parameters) == 0 {
		return given, nil
	}
	values := map[string]json.RawMessage{}
	if given != "" && json.Unmarshal([]byte(given), &values) != nil {
		return given, []apperror.Field{{Field: "params", Code: CodeInvalid, Message: "must be a JSON object"}}
	}
	add := func(name, code, format string, args ...any) {
		if len(wrong) < maxFound {
			wrong = append(wrong, apperror.Field{Field: "params." + name, Code: code, Message: fmt.Sprintf(format, args...)})
		}
	}
	declared := make([]string, len(j.Parameters))
	for i := range j.Parameters {
		p := &j.Parameters[i]
		declared[i] = p.Name
		raw, ok := values[p.Name]
		if !ok || string(raw) == "null" {
			delete(values, p.Name)
			if p.Required && len(p.Default) == 0 {
				add(p.Name, CodeRequired, "the job asks for it: give %s", wanted(p))
			}
			continue
		}
		converted, remedy := value(p, raw)
		if remedy != "" {
			add(p.Name, CodeInvalid, "%s", remedy)
			continue
		}
		values[p.Name] = converted
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(declared, name) {
			add(Text(name, MaxName), CodeUnknown, "the job declares no such parameter; it has %s", strings.Join(declared, ", "))
		}
	}
	if len(wrong) > 0 || len(values) == 0 {
		return "", wrong
	}
	text, err := json.Marshal(values)
	if err != nil {
		return given, []apperror.Field{{Field: "params", Code: CodeInvalid, Message: "must be a JSON object"}}
	}
	return string(text), nil
}

// wanted describes a value of the type.
func wanted(p *entity.JobParameter) string {
	switch p.Type {
	case entity.ParameterInteger:
		return "a whole number"
	case entity.ParameterNumber:
		return "a number"
	case entity.ParameterBoolean:
		return "true or false"
	case entity.ParameterEnum:
		return "one of " + Text(strings.Join(p.Values, ", "), 200)
	case entity.ParameterDate:
		return "a date such as 2026-11-22"
	case entity.ParameterDateTime:
		return "a time with its zone, such as 2026-11-22T06:00:00Z"
	}
	return "a string"
}

// value is a value in the type of its parameter; a remedy that is not empty says what is wrong.
func value(p *entity.JobParameter, raw json.RawMessage) (converted json.RawMessage, remedy string) {
	wrong := "must be " + wanted(p)
	if len(raw) > MaxParameterBytes {
		return nil, fmt.Sprintf("must be at most %d KiB", MaxParameterBytes>>10)
	}
	var text string
	isText := json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"'
	if !isText {
		text = string(raw)
	}
	var ok bool
	switch p.Type {
	case entity.ParameterInteger:
		_, err := strconv.ParseInt(text, 10, 64)
		ok = err == nil && json.Valid([]byte(text))
	case entity.ParameterNumber:
		f, err := strconv.ParseFloat(text, 64)
		ok = err == nil && !math.IsInf(f, 0) && json.Valid([]byte(text))
	case entity.ParameterBoolean:
		ok = text == "true" || text == "false"
	case entity.ParameterEnum:
		return raw, unless(isText && slices.Contains(p.Values, text), wrong)
	case entity.ParameterDate:
		_, err := time.Parse(time.DateOnly, text)
		return raw, unless(isText && err == nil, wrong)
	case entity.ParameterDateTime:
		_, err := time.Parse(time.RFC3339, text)
		return raw, unless(isText && err == nil, wrong)
	default:
		return raw, unless(isText, wrong)
	}
	return json.RawMessage(text), unless(ok, wrong)
}

func unless(ok bool, text string) string {
	if ok {
		return ""
	}
	return text
}
