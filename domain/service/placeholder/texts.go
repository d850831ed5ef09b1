package placeholder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Texts walks the texts in a JSON value, at any depth, in an order that is always the same.
type Texts struct {
	// Each gets a text and its place, and gives the text that is to stand there.
	Each func(place, text string) string
	// Name gets a name of an object, and the place of the object; may be nil.
	Name func(place, name string)
	// Label makes a name a part of a place; nil takes it as it is.
	Label func(name string) string
}

// Walk reads the value, whose own place is given, and returns it with the texts of Each in it. Numbers stay as written.
func (t Texts) Walk(place string, data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return t.walk(place, value), nil
}

func (t Texts) walk(place string, value any) any {
	switch v := value.(type) {
	case string:
		return t.Each(place, v)
	case []any:
		for i := range v {
			v[i] = t.walk(fmt.Sprintf("%s[%d]", place, i), v[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if t.Name != nil {
				t.Name(place, name)
			}
			label := name
			if t.Label != nil {
				label = t.Label(name)
			}
			v[name] = t.walk(place+"."+label, v[name])
		}
	}
	return value
}

// StepsRead names the steps that the texts of a JSON value read, each once. A text that is wrong reads none: that is
// said when it is filled.
func StepsRead(data []byte) []string {
	return stepsRead(data, func(r StepRead) bool { return r.Step != "" })
}

// OutputsRead names the steps whose output the texts read, or their outputs where they have items.
func OutputsRead(data []byte) []string {
	return stepsRead(data, func(r StepRead) bool { return r.Part == PartOutput || r.Part == PartOutputs })
}

func stepsRead(data []byte, counts func(StepRead) bool) (names []string) {
	if !Holds(string(data)) {
		return nil
	}
	_, _ = Texts{Each: func(_, text string) string {
		reads, _ := StepReads(text)
		for _, r := range reads {
			if counts(r) && !slices.Contains(names, r.Step) {
				names = append(names, r.Step)
			}
		}
		return text
	}}.Walk("", data)
	return names
}

// FillAll replaces the placeholders in all texts of a JSON value, and tells the first that is wrong. It returns data
// without placeholders unchanged, byte for byte.
func FillAll(data []byte, values *Values) (filled string, wrong error) {
	if !Holds(string(data)) {
		return string(data), nil
	}
	value, err := Texts{Each: func(_, text string) string {
		text, err := Expand(text, values, Raw)
		if wrong == nil {
			wrong = err
		}
		return text
	}}.Walk("", data)
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(value)
	if wrong == nil {
		wrong = err
	}
	return string(out), wrong
}
