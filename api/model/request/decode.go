// Package request reads what callers send: bodies, query parameters and
// headers. It is strict, and it reports everything that is wrong at once.
package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// maxDepth is how deep objects and arrays may nest.
const maxDepth = 64

// object is a decoded JSON object. Values are nil, bool, string, json.Number,
// []any and *object. The order of the fields is kept.
type object struct {
	names  []string
	fields map[string]any
}

// MarshalJSON writes the object as it was read: same order, same digits.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(o.fields[name]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	var out bytes.Buffer
	if err := json.Compact(&out, b.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func malformed(code, format string, args ...any) error {
	return fault.New(fault.KindMalformed, code, fmt.Sprintf(format, args...))
}

// decode reads exactly one JSON object. What the standard library would mend
// or pass over in silence is refused: invalid UTF-8, lone surrogates,
// duplicate names, trailing data, excessive depth.
func decode(body []byte) (*object, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, malformed("empty_body", "the body is empty; send a JSON object")
	}
	if !utf8.Valid(body) {
		return nil, malformed("invalid_utf8", "the body is not valid UTF-8")
	}
	if err := checkSyntax(body); err != nil {
		return nil, err
	}
	if at := loneSurrogate(body); at >= 0 {
		return nil, malformed("lone_surrogate", "the body holds half of a surrogate pair at byte %d; write the character itself or both halves", at)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	v, err := readValue(d, 0, "")
	if err != nil {
		return nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, malformed("not_an_object", "the body must be a JSON object, not %s", typeName(v))
	}
	return o, nil
}

func checkSyntax(body []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(body, &raw)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return malformed("invalid_json", "the body is not JSON: %s at byte %d", syntax.Error(), syntax.Offset)
	default:
		return malformed("invalid_json", "the body is not JSON")
	}
}

// readValue reads one value. path is the field it stands in.
func readValue(d *json.Decoder, depth int, path string) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, malformed("invalid_json", "the body is not JSON")
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth++; depth > maxDepth {
		return nil, malformed("too_deep", "the body nests deeper than %d levels", maxDepth)
	}
	if delim == '[' {
		return readArray(d, depth, path)
	}
	return readObject(d, depth, path)
}

func readArray(d *json.Decoder, depth int, path string) (any, error) {
	items := []any{}
	for d.More() {
		v, err := readValue(d, depth, path+"["+strconv.Itoa(len(items))+"]")
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, closeValue(d)
}

func readObject(d *json.Decoder, depth int, path string) (any, error) {
	o := &object{fields: map[string]any{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, malformed("invalid_json", "the body is not JSON")
		}
		name, _ := t.(string)
		v, err := readValue(d, depth, join(path, name))
		if err != nil {
			return nil, err
		}
		if _, twice := o.fields[name]; twice {
			return nil, malformed("duplicate_field", "the field %q is given twice; give it once", clip(join(path, name)))
		}
		o.names = append(o.names, name)
		o.fields[name] = v
	}
	return o, closeValue(d)
}

func closeValue(d *json.Decoder) error {
	if _, err := d.Token(); err != nil && !errors.Is(err, io.EOF) {
		return malformed("invalid_json", "the body is not JSON")
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// loneSurrogate returns the offset of an escaped half of a surrogate pair
// without its other half, or -1. The body is valid JSON.
func loneSurrogate(body []byte) int {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		u := escapedUnit(body[i:])
		switch {
		case u < 0:
			i++ // a two-character escape such as \" or \\
		case u >= 0xd800 && u < 0xdc00:
			low := escapedUnit(body[i+6:])
			if low < 0xdc00 || low > 0xdfff {
				return i
			}
			i += 11
		case u >= 0xdc00 && u < 0xe000:
			return i
		default:
			i += 5
		}
	}
	return -1
}

// escapedUnit is the UTF-16 unit of a \uXXXX escape at the start, or -1.
func escapedUnit(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
