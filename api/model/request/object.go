package request

import (
	"bytes"
	"encoding/json"
)

// object is a decoded JSON object. Values are nil, bool, string, json.Number,
// []any and *object. The order of the fields is kept.
type object struct {
	names  []string
	fields map[string]any
}

// MarshalJSON writes the object as it was read: same order, same digits. The
// work grows with the text alone, however deep it nests.
func (o *object) MarshalJSON() ([]byte, error) {
	w := writer{}
	w.texts = json.NewEncoder(&w.out)
	w.texts.SetEscapeHTML(false)
	err := w.object(o)
	return w.out.Bytes(), err
}

// writer writes values as compact JSON.
type writer struct {
	out   bytes.Buffer
	texts *json.Encoder
}

func (w *writer) value(v any) error {
	switch v := v.(type) {
	case *object:
		return w.object(v)
	case []any:
		return w.array(v)
	case json.Number:
		w.out.WriteString(v.String()) // a number of a body that was JSON
		return nil
	}
	if err := w.texts.Encode(v); err != nil {
		return err
	}
	w.out.Truncate(w.out.Len() - 1) // the line's end
	return nil
}

func (w *writer) object(o *object) error {
	w.out.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(name); err != nil {
			return err
		}
		w.out.WriteByte(':')
		if err := w.value(o.fields[name]); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

func (w *writer) array(items []any) error {
	w.out.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}
