// Package request reads what callers send: bodies, query parameters and
// headers. It is strict, and it reports everything that is wrong at once.
package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

func malformed(code, format string, args ...any) error {
	return apperror.New(apperror.KindMalformed, code, fmt.Sprintf(format, args...))
}

// decode reads exactly one JSON object of at most so many values. Mistakes that
// the standard library would mend or pass over in silence are refused: invalid
// UTF-8, lone surrogates, duplicate names, trailing data, excessive depth. It
// stops when ctx ends: nobody waits for the answer any more.
func decode(ctx context.Context, body []byte, values int) (*object, error) {
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
		return nil, malformed("lone_surrogate",
			"the body holds half of a surrogate pair at byte %d; write the character itself or both halves", at)
	}
	d := decoder{json: json.NewDecoder(bytes.NewReader(body)), ctx: ctx, most: values}
	d.json.UseNumber()
	v, err := d.value()
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
	if json.Valid(body) {
		return nil
	}
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

// The bounds of one body, beside its bytes. A value takes many times the memory of its
// text, and a long name is repeated in every path.
const (
	// maxDepth is how deep objects and arrays may nest.
	maxDepth = 64
	// maxName is the length of a field's name, in bytes.
	maxName = 256
	// maxBodyValues bounds the values of a body. Parameters of a trigger and
	// the data of a job, 64 KiB each, hold fewer.
	maxBodyValues = 50_000
	// lookEvery is after how many values the end of the call is looked for.
	lookEvery = 1024
)

// decoder reads the values of one body. It belongs to one goroutine.
type decoder struct {
	json *json.Decoder
	ctx  context.Context
	// path is where it stands; a text is made of it for a fault alone.
	path []step
	// count is how many values there were, most how many there may be.
	count, most int
}

// step is a field, or an item of an array.
type step struct {
	name string
	// item is noItem for a field.
	item int
}

const noItem = -1

// value reads one value.
func (d *decoder) value() (any, error) {
	if d.count++; d.count > d.most {
		return nil, apperror.New(apperror.KindTooLarge, "too_many_values",
			fmt.Sprintf("the body holds more than %d values; send it in parts", d.most))
	}
	if d.count%lookEvery == 0 && d.ctx.Err() != nil {
		return nil, fmt.Errorf("read the body: %w", d.ctx.Err())
	}
	t, err := d.json.Token()
	if err != nil {
		return nil, malformed("invalid_json", "the body is not JSON")
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if len(d.path) >= maxDepth {
		return nil, malformed("too_deep", "the body nests deeper than %d levels", maxDepth)
	}
	if delim == '[' {
		return d.array()
	}
	return d.object()
}

func (d *decoder) array() (any, error) {
	items := []any{}
	for d.json.More() {
		v, err := d.inside(step{item: len(items)})
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	return items, d.close()
}

func (d *decoder) object() (any, error) {
	o := &object{fields: map[string]any{}}
	for d.json.More() {
		t, err := d.json.Token()
		if err != nil {
			return nil, malformed("invalid_json", "the body is not JSON")
		}
		name, _ := t.(string)
		if len(name) > maxName {
			return nil, apperror.InvalidField(d.where(name), "name_too_long",
				fmt.Sprintf("is a name of more than %d bytes; shorten it", maxName))
		}
		v, err := d.inside(step{name: name, item: noItem})
		if err != nil {
			return nil, err
		}
		if _, twice := o.fields[name]; twice {
			return nil, malformed("duplicate_field", "the field %q is given twice; give it once", d.where(name))
		}
		o.names = append(o.names, name)
		o.fields[name] = v
	}
	return o, d.close()
}

// inside reads a value one step further in.
func (d *decoder) inside(s step) (any, error) {
	d.path = append(d.path, s)
	v, err := d.value()
	d.path = d.path[:len(d.path)-1]
	return v, err
}

// where is the path of a name below the place where the decoder stands, short
// enough for an answer.
func (d *decoder) where(name string) string {
	path := ""
	for _, s := range d.path {
		if s.item == noItem {
			path = join(path, s.name)
		} else {
			path += "[" + strconv.Itoa(s.item) + "]"
		}
	}
	return clip(join(path, name))
}

func (d *decoder) close() error {
	if _, err := d.json.Token(); err != nil && !errors.Is(err, io.EOF) {
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
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}
