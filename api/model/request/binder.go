package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

// faults collects wrong fields; binders of nested objects share one.
type faults struct{ list []apperror.Field }

// codeUnknownField is the code of a field that nobody reads.
const codeUnknownField = "unknown_field"

// codeWrongType is the code of a field that holds a value of another type.
const codeWrongType = "wrong_type"

// maxFaults bounds the fields of one answer: a body of a million mistakes must
// not become an answer of many times its size. The rest shows when these are
// mended.
const maxFaults = 100

func (f *faults) add(field, code, format string, args ...any) {
	if len(f.list) < maxFaults {
		f.list = append(f.list, apperror.Field{Field: clip(field), Code: code, Message: fmt.Sprintf(format, args...)})
	}
}

// binder takes the fields of one object one by one. A field that is absent or
// null is not read. A field left at the end is unknown.
type binder struct {
	path   string
	object *object
	taken  map[string]bool
	faults *faults
	// places are of the whole body, whose path is base.
	places places
	base   string
	// open passes over fields that nobody takes.
	open bool
}

// has reports whether something is wrong with a field.
func (f *faults) has(field string) bool {
	return slices.ContainsFunc(f.list, func(wrong apperror.Field) bool { return wrong.Field == field })
}

// required adds a field that must not be empty, and is.
func (f *faults) required(field, value string) {
	if value == "" && !f.has(field) {
		f.add(field, "required", "is required")
	}
}

func newBinder(o *object, f *faults) *binder {
	return &binder{object: o, taken: map[string]bool{}, faults: f}
}

// take marks a field as known and returns its value; ok is false when there
// is nothing to bind.
func (b *binder) take(name string) (v any, ok bool) {
	b.taken[name] = true
	v, ok = b.object.fields[name]
	return v, ok && v != nil
}

func (b *binder) wrongType(name, want string, got any) {
	b.faults.add(join(b.path, name), codeWrongType, "must be %s, not %s", want, typeName(got))
}

// typed reads a value of one type; want says which for people.
func typed[T any](b *binder, name, want string) (value T, ok bool) {
	v, ok := b.take(name)
	if !ok {
		return value, false
	}
	if value, ok = v.(T); !ok {
		b.wrongType(name, want, v)
	}
	return value, ok
}

// integer reads a whole number of at most so many bits.
func (b *binder) integer(name string, bits int) (i int64, ok bool) {
	n, ok := typed[json.Number](b, name, "a whole number")
	if !ok {
		return 0, false
	}
	i, err := strconv.ParseInt(n.String(), 10, bits)
	switch {
	case err == nil:
		return i, true
	case strings.ContainsAny(n.String(), ".eE"):
		b.faults.add(join(b.path, name), "not_an_integer", "must be a whole number without fraction or exponent")
	default:
		b.faults.add(join(b.path, name), "out_of_range", "is beyond the range of whole numbers")
	}
	return 0, false
}

func (b *binder) float(name string) (f float64, ok bool) {
	n, ok := typed[json.Number](b, name, "a number")
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	if err != nil {
		b.faults.add(join(b.path, name), "out_of_range", "is beyond the range of numbers")
		return 0, false
	}
	return f, true
}

func (b *binder) time(name string) (t time.Time, ok bool) {
	s, ok := typed[string](b, name, "a time as a string, such as 2026-11-20T21:33:00.000Z")
	if !ok {
		return t, false
	}
	t, remedy := ParseTime(s)
	if remedy != "" {
		b.faults.add(join(b.path, name), "invalid_time", "%s", remedy)
		return t, false
	}
	return t, true
}

// rfc3339 is stricter than the standard library, which also takes one-digit
// hours, commas and impossible offsets.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// ParseTime reads RFC 3339 strictly and returns UTC in milliseconds. A remedy
// that is not empty says what is wrong. Years before 1970 are refused: they
// are mistakes, and the zero time means "none" inside.
func ParseTime(s string) (t time.Time, remedy string) {
	const want = "must be an RFC 3339 time with a zone, such as 2026-11-20T21:33:00.000Z"
	if len(s) > 40 || !rfc3339.MatchString(s) {
		return time.Time{}, want
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, want
	}
	t = t.UTC().Truncate(time.Millisecond)
	if t.Before(time.Unix(0, 0)) || t.Year() > 9999 {
		return time.Time{}, "must be in the years 1970 to 9999"
	}
	return t, ""
}

// strings reads an array of strings; it is not nil where one is given.
func (b *binder) strings(name string) (out []string, ok bool) {
	items, ok := typed[[]any](b, name, "an array of strings")
	if !ok {
		return nil, false
	}
	out = []string{}
	for i, item := range items {
		s, isString := item.(string)
		if !isString {
			b.wrongType(name+"["+strconv.Itoa(i)+"]", "a string", item)
			ok = false
			continue
		}
		out = append(out, s)
	}
	return out, ok
}

// labels reads an object of strings.
func (b *binder) labels(name string) (out map[string]string, ok bool) {
	o, ok := typed[*object](b, name, "an object")
	if !ok {
		return nil, false
	}
	out = make(map[string]string, len(o.names))
	for _, key := range o.names {
		s, isString := o.fields[key].(string)
		if !isString {
			b.wrongType(name+"."+key, "a string", o.fields[key])
			continue
		}
		out[key] = s
	}
	return out, true
}

// raw reads an object, whatever it holds, as compact JSON.
func (b *binder) raw(name string) (text string, ok bool) {
	o, ok := typed[*object](b, name, "an object")
	if !ok {
		return "", false
	}
	compact, err := o.MarshalJSON()
	if err != nil {
		b.faults.add(join(b.path, name), "invalid", "cannot be kept as JSON")
		return "", false
	}
	return escapeControls(string(compact)), true
}

// scalar reads a string, a number or a truth as JSON.
func (b *binder) scalar(name string) (text string, ok bool) {
	v, ok := b.take(name)
	if !ok {
		return "", false
	}
	switch v.(type) {
	case string, json.Number, bool:
	default:
		b.wrongType(name, "a string, a number, true or false", v)
		return "", false
	}
	raw, err := json.Marshal(v)
	if err != nil {
		b.faults.add(join(b.path, name), "invalid", "cannot be kept as JSON")
		return "", false
	}
	return escapeControls(string(raw)), true
}

// escapeControls escapes the control characters that JSON allows as they are,
// DEL and those from U+0080: texts that are stored hold none.
func escapeControls(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// child is a binder of an object inside.
func (b *binder) child(name string, o *object, f *faults) *binder {
	return &binder{
		path: join(b.path, name), object: o, taken: map[string]bool{}, faults: f, places: b.places, base: b.base,
		open: b.open,
	}
}

// nested runs fn with a binder of an object inside, and closes it; ok is false
// when there is no object.
func (b *binder) nested(name string, fn func(*binder)) (ok bool) {
	o, ok := typed[*object](b, name, "an object")
	if !ok {
		return false
	}
	child := b.child(name, o, b.faults)
	fn(child)
	child.close()
	return true
}

// each runs fn with a binder of each object of an array, as long as fn returns true. Each
// binder collects its own wrong fields. fn closes the binder.
func (b *binder) each(name string, fn func(i int, b *binder) bool) {
	items, _ := typed[[]any](b, name, "an array of objects")
	for i, item := range items {
		field := name + "[" + strconv.Itoa(i) + "]"
		o, isObject := item.(*object)
		if !isObject {
			b.wrongType(field, "an object", item)
			continue
		}
		if !fn(i, b.child(field, o, &faults{})) {
			return
		}
	}
}

// ignore marks fields that are accepted and not used.
func (b *binder) ignore(names ...string) {
	for _, n := range names {
		b.taken[n] = true
	}
}

// close refuses what nobody took.
func (b *binder) close() {
	if b.open {
		return
	}
	known := slices.Sorted(maps.Keys(b.taken))
	for _, name := range b.object.names {
		switch {
		case b.taken[name]:
			continue
		case len(b.faults.list) >= maxFaults:
			return
		}
		remedy := "remove it"
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
			remedy = "did you mean " + known[i] + "?"
		} else {
			elsewhere, near := b.places.remedy(b.base, b.path, name), spelling.Nearest(name, known)
			switch {
			case elsewhere != "" && near != "":
				remedy = elsewhere + ", or did you mean " + near + "?"
			case elsewhere != "":
				remedy = elsewhere
			case near != "":
				remedy = "did you mean " + near + "?"
			}
		}
		b.faults.add(join(b.path, name), codeUnknownField, "is not a field here; %s", remedy)
	}
}

// clip keeps a name from the outside short enough for an answer.
func clip(s string) string {
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// merge joins the wrong fields of the binding with those of the validation, one entry a
// field. The binding wins: it left out a field of the wrong type, so that the validation
// judged its default.
func merge(bound, validated []apperror.Field) []apperror.Field {
	out := slices.Clone(bound)
	for _, v := range validated {
		covered := slices.ContainsFunc(bound, func(b apperror.Field) bool {
			return b.Field == v.Field || strings.HasPrefix(b.Field, v.Field+".") || strings.HasPrefix(b.Field, v.Field+"[")
		})
		if !covered {
			out = append(out, v)
		}
	}
	return out
}
