// Package jobdata reads the executor's part of a definition field by field. It
// collects all errors, so that one answer names them all.
package jobdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/domain/service/spelling"
)

// Path is the name of the object in the API; fields are named below it.
const Path = "jobData"

// maxUnknown bounds how many unknown fields an answer names one by one. maxWrong bounds
// all errors of an answer: 64 KiB of input must not cause an answer of many times that
// size.
const (
	maxUnknown = 20
	maxWrong   = 100
)

// Reader reads the fields of one object. A null field counts as absent. It is not safe
// for concurrent use.
type Reader struct {
	values   map[string]json.RawMessage
	taken    map[string]bool
	problems []apperror.Field
	run      *placeholder.Values
}

// Read takes a JSON object as a string; an empty string is an object without fields.
// Anything else is an error. run gives the values of placeholders.
func Read(data string, run *placeholder.Values) *Reader {
	r := &Reader{taken: map[string]bool{}, run: run}
	if strings.TrimSpace(data) == "" {
		return r
	}
	if err := json.Unmarshal([]byte(data), &r.values); err != nil {
		r.values = nil
		r.problems = append(r.problems,
			apperror.Field{Field: Path, Code: "invalid", Message: "must be a JSON object, such as {}"})
	}
	return r
}

// Reject records an error of a field; name is relative to jobData. It keeps the first
// hundred.
func (r *Reader) Reject(name, code, format string, args ...any) {
	if len(r.problems) >= maxWrong {
		return
	}
	r.problems = append(r.problems, apperror.Field{
		Field: Path + "." + name, Code: code,
		Message: fmt.Sprintf(format, args...),
	})
}

// Raw marks a field as known and returns its JSON; ok is false when it is
// absent.
func (r *Reader) Raw(name string) (value json.RawMessage, ok bool) {
	r.taken[name] = true
	value, ok = r.values[name]
	return value, ok && string(value) != "null"
}

// Text reads a string of at most maxBytes; "" when absent or wrong.
func (r *Reader) Text(name string, maxBytes int) string {
	raw, ok := r.Raw(name)
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		r.wrongType(name, "a string", raw)
		return ""
	}
	return r.bounded(name, s, maxBytes)
}

// Filled reports whether the texts have their values already, so that none of them is what the author of the job wrote.
func (r *Reader) Filled() bool { return r.run.Filled() }

// Scalar is Text for a field whose strings look like numbers: it also accepts numbers
// and booleans, as they are written.
func (r *Reader) Scalar(name string, maxBytes int) string {
	raw, ok := r.Raw(name)
	if !ok {
		return ""
	}
	s, ok := scalar(raw)
	if !ok {
		r.wrongType(name, "a string", raw)
		return ""
	}
	return r.bounded(name, s, maxBytes)
}

func (r *Reader) bounded(name, s string, maxBytes int) string {
	if len(s) > maxBytes {
		r.Reject(name, "too_long", "shorten it to at most %d bytes; it has %d", maxBytes, len(s))
		return ""
	}
	return s
}

// scalar returns a JSON string, number or boolean as a string. Digits stay as they are
// written: 1.10 does not become 1.1.
func scalar(raw json.RawMessage) (s string, ok bool) {
	switch kind(raw) {
	case "a string":
		return s, json.Unmarshal(raw, &s) == nil
	case "a number", "true or false":
		return string(raw), true
	}
	return "", false
}

// Template reads a string that may hold placeholders; their values count towards its
// length.
func (r *Reader) Template(name string, maxBytes int, escape placeholder.Escape) string {
	text := r.Expand(name, r.Text(name, maxBytes), escape)
	if len(text) > maxBytes {
		r.Reject(name, "too_long", "its placeholders make it longer than %d bytes", maxBytes)
		return ""
	}
	return text
}

// Expand replaces the placeholders in the string of a field; "" when that fails.
func (r *Reader) Expand(name, text string, escape placeholder.Escape) string {
	expanded, err := placeholder.Expand(text, r.run, escape)
	if err != nil {
		r.Reject(name, codeOf(err), "%s", err)
	}
	return expanded
}

// The codes of placeholders without a value.
const (
	codePlaceholder   = "invalid_placeholder"
	codeSecretMissing = "secret_missing"
)

func codeOf(err error) string {
	if placeholder.SecretMissing(err) {
		return codeSecretMissing
	}
	return codePlaceholder
}

// Refused is the outcome of a run whose data are wrong. A run that lacks a secret is
// not retried: an operator must store the secret first.
func Refused(problems []apperror.Field, message string) entity.Outcome {
	if slices.ContainsFunc(problems, func(f apperror.Field) bool { return f.Code == codeSecretMissing }) {
		o := entity.Failed(entity.ReasonSecretMissing, message)
		o.NoRetry = true
		return o
	}
	return entity.Failed(entity.ReasonInvalid, message)
}

// Peek returns a string as it was written; "" when absent or wrong.
func (r *Reader) Peek(name string) string {
	var s string
	_ = json.Unmarshal(r.values[name], &s)
	return s
}

// Integer reads a whole number between low and high; zero when absent or wrong.
func (r *Reader) Integer(name string, low, high int64) int64 {
	raw, ok := r.Raw(name)
	if !ok {
		return 0
	}
	if kind(raw) != "a number" {
		r.wrongType(name, "a whole number", raw)
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case err != nil && bytes.ContainsAny(raw, ".eE"):
		r.Reject(name, "not_an_integer", "must be a whole number without fraction or exponent")
		return 0
	case err != nil || n < low || n > high:
		r.Reject(name, "out_of_range", "must be between %d and %d", low, high)
		return 0
	}
	return n
}

// Boolean reads true or false; false when absent or wrong.
func (r *Reader) Boolean(name string) bool {
	raw, ok := r.Raw(name)
	var b bool
	if ok && json.Unmarshal(raw, &b) != nil {
		r.wrongType(name, "true or false", raw)
	}
	return b
}

// Texts reads an object of strings, such as headers; nil when absent or wrong. Numbers
// and booleans count as strings, as they are written. It rejects other values by their
// keys.
func (r *Reader) Texts(name string) map[string]string {
	raw, ok := r.Raw(name)
	if !ok {
		return nil
	}
	var members map[string]json.RawMessage
	if kind(raw) != "an object" || json.Unmarshal(raw, &members) != nil {
		r.wrongType(name, "an object of strings", raw)
		return nil
	}
	texts := make(map[string]string, len(members))
	for _, key := range slices.Sorted(maps.Keys(members)) {
		s, ok := scalar(members[key])
		if !ok {
			r.wrongType(name+"."+label(key), "a string", members[key])
			continue
		}
		texts[key] = s
	}
	return texts
}

// List reads an array of at most maxItems strings; nil when it is wrong. Numbers and
// booleans count as strings, as they are written.
func (r *Reader) List(name string, maxItems int) []string {
	raw, ok := r.Raw(name)
	if !ok {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		r.wrongType(name, "an array of strings", raw)
		return nil
	}
	if len(items) > maxItems {
		r.Reject(name, "too_many", "shorten it to at most %d items; it has %d", maxItems, len(items))
		return nil
	}
	texts := make([]string, len(items))
	for i, item := range items {
		s, ok := scalar(item)
		if !ok {
			r.wrongType(fmt.Sprintf("%s[%d]", name, i), "a string", item)
			return nil
		}
		texts[i] = s
	}
	return texts
}

// Integers reads an array of at most maxItems whole numbers between low and high; nil
// when absent or wrong.
func (r *Reader) Integers(name string, maxItems int, low, high int64) []int64 {
	raw, ok := r.Raw(name)
	if !ok {
		return nil
	}
	var numbers []int64
	if kind(raw) != "an array" || json.Unmarshal(raw, &numbers) != nil {
		r.wrongType(name, "an array of whole numbers", raw)
		return nil
	}
	if len(numbers) > maxItems {
		r.Reject(name, "too_many", "shorten it to at most %d items; it has %d", maxItems, len(numbers))
		return nil
	}
	for _, n := range numbers {
		if n < low || n > high {
			r.Reject(name, "out_of_range", "must hold numbers between %d and %d", low, high)
			return nil
		}
	}
	return numbers
}

// IsList reports whether a field holds an array; it does not mark the field as known.
func (r *Reader) IsList(name string) bool { return kind(r.values[name]) == "an array" }

// End returns all errors, including those for unknown fields.
func (r *Reader) End() []apperror.Field {
	unknown := 0
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		if r.taken[name] {
			continue
		}
		if unknown++; unknown > maxUnknown {
			continue
		}
		r.Reject(label(name), "unknown_field", "is not a field of this kind of job; %s", r.known(name))
	}
	if unknown > maxUnknown {
		r.problems = append(r.problems, apperror.Field{
			Field: Path, Code: "unknown_field", Message: fmt.Sprintf("has %d more unknown fields", unknown-maxUnknown),
		})
	}
	return r.problems
}

// known suggests the field that was probably meant, or lists the known fields.
func (r *Reader) known(name string) string {
	names := slices.Sorted(maps.Keys(r.taken))
	switch near := spelling.Nearest(name, names); {
	case near != "":
		return "did you mean " + near + "?"
	case len(names) == 0:
		return "it has none"
	}
	return "there are " + strings.Join(names, ", ")
}

func (r *Reader) wrongType(name, want string, raw json.RawMessage) {
	r.Reject(name, "wrong_type", "must be %s, not %s", want, kind(raw))
}

// kind names the type of a JSON value for people.
func kind(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// label turns a key of the input into a part of a field's name.
func label(key string) string {
	const longest = 64
	if len(key) > longest {
		cut := longest
		for !utf8.RuneStart(key[cut]) {
			cut--
		}
		key = key[:cut] + "…"
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) {
		return strconv.QuoteToASCII(key)
	}
	return key
}
