// Package answer reads answers of the API by the paths of their fields.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// Object is an answer of the API, or one of its items, with numbers as they stand there.
type Object map[string]any

// At is what stands at a path such as schedule.timeZone; nil where there is nothing.
func (o Object) At(path string) any {
	first, rest, nested := strings.Cut(path, ".")
	inner, is := o[first].(map[string]any)
	if nested && is {
		return Object(inner).At(rest)
	}
	if nested {
		return nil
	}
	return o[first]
}

// Has reports whether there is anything at a path: an empty string is nothing.
func (o Object) Has(path string) bool { v := o.At(path); return v != nil && v != "" }

// Is reports whether a path says yes.
func (o Object) Is(path string) bool { return o.At(path) == true }

// Text is what stands at a path as people read it: lists and labels in one line.
func (o Object) Text(path string) string { return o.Joined(path, ", ") }

// Joined is Text with other words between the parts of a list or of labels.
func (o Object) Joined(path, between string) string { return textOf(o.At(path), between) }

// Int is a whole number; 0 for none.
func (o Object) Int(path string) int64 {
	n, _ := o.number(path)
	return n
}

// Float is a number; 0 for none.
func (o Object) Float(path string) float64 {
	n, _ := o.At(path).(json.Number)
	f, _ := n.Float64() // an empty one is zero
	return f
}

func (o Object) number(path string) (n int64, is bool) {
	text, _ := o.At(path).(json.Number)
	n, err := text.Int64()
	return n, err == nil
}

// Took is a number of milliseconds as people read it; "" for none.
func (o Object) Took(path string) string {
	if ms, is := o.number(path); is {
		return (time.Duration(ms) * time.Millisecond).String()
	}
	return ""
}

// List are the objects of a list.
func (o Object) List(path string) []Object {
	items, _ := o.At(path).([]any)
	all := make([]Object, len(items))
	for i, item := range items {
		all[i], _ = item.(map[string]any)
	}
	return all
}

// Inner is the object at a path, empty where there is none.
func (o Object) Inner(path string) Object {
	inner, is := o.At(path).(map[string]any)
	if !is {
		return Object{}
	}
	return inner
}

// Texts are the parts of a list.
func (o Object) Texts(path string) []string {
	items, _ := o.At(path).([]any)
	return convert.All(items, func(item any) string { return textOf(item, ", ") })
}

// textOf writes a value in one line; between stands between the parts of a list and of labels.
func textOf(v any, between string) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		return strings.Join(Object{"": v}.Texts(""), between)
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+"="+textOf(v[name], between))
		}
		return strings.Join(parts, between)
	}
	return fmt.Sprint(v)
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Object) UnmarshalJSON(text []byte) error {
	type Object map[string]any // without this method
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode((*Object)(o))
}

// Decode reads an answer.
func Decode(raw json.RawMessage) (Object, error) {
	o := Object{}
	if len(raw) == 0 {
		return o, nil
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("the answer is not understood: %w", err)
	}
	return o, nil
}
