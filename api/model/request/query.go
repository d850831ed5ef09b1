package request

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Bounds of lists.
const (
	DefaultLimit = 50
	MaxLimit     = 200
	// maxParameter is the length of a query parameter's value in bytes.
	maxParameter = 512
)

// Query takes query parameters one by one and collects what is wrong. Like
// fields of a body, unknown and repeated parameters are refused: a misspelt
// filter that is ignored shows more than was asked for.
type Query struct {
	values url.Values
	taken  map[string]bool
	faults faults
}

// NewQuery parses the raw query of a request.
func NewQuery(raw string) *Query {
	q := &Query{taken: map[string]bool{}}
	values, err := url.ParseQuery(raw)
	if err != nil {
		q.faults.add("query", "malformed", "the query string is not correctly escaped")
		values = nil
	}
	q.values = values
	return q
}

// Text returns a parameter, or "" when it is absent.
func (q *Query) Text(name string) string {
	q.taken[name] = true
	values := q.values[name]
	if len(values) == 0 {
		return ""
	}
	s := values[0]
	switch {
	case len(values) > 1:
		q.faults.add(name, "repeated", "is given more than once; give it once")
	case len(s) > maxParameter:
		q.faults.add(name, "too_long", "must have at most %d bytes", maxParameter)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		q.faults.add(name, "invalid_text", "must be valid UTF-8 without control characters")
	default:
		return s
	}
	return ""
}

// Int returns a whole number in a range, or the default when it is absent.
func (q *Query) Int(name string, otherwise, minimum, maximum int) int {
	before := len(q.faults.list)
	s := q.Text(name)
	if !q.values.Has(name) || len(q.faults.list) > before {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < minimum || n > maximum {
		q.faults.add(name, "out_of_range", "must be a whole number from %d to %d", minimum, maximum)
		return otherwise
	}
	return n
}

// Bool returns true or false; absent is false.
func (q *Query) Bool(name string) bool {
	return OneOf(q, name, "true", "false") == "true"
}

// Time returns a moment, or the zero time when it is absent.
func (q *Query) Time(name string) time.Time {
	s := q.Text(name)
	if s == "" {
		return time.Time{}
	}
	// A plus that was not escaped arrives as a space.
	t, remedy := ParseTime(strings.Replace(s, " ", "+", 1))
	if remedy != "" {
		q.faults.add(name, "invalid_time", "%s", remedy)
	}
	return t
}

// wallLayouts are how a time of the clock on the wall may be written.
var wallLayouts = [...]string{"2006-01-02T15:04", "2006-01-02T15:04:05"}

// Moment returns a moment, or a time of the clock on the wall where it names no zone, read as if that were UTC; both
// are zero when it is absent.
func (q *Query) Moment(name string) (at, wall time.Time) {
	for _, layout := range wallLayouts {
		t, err := time.Parse(layout, q.values.Get(name))
		if err != nil || len(q.values.Get(name)) != len(layout) {
			continue
		}
		if q.Text(name); t.Year() < 1970 {
			q.faults.add(name, "invalid_time", "must be in the years 1970 to 9999")
			return at, wall
		}
		return at, t
	}
	return q.Time(name), wall
}

// Span returns the parameters from and to.
func (q *Query) Span() (from, to time.Time) {
	from, to = q.Time("from"), q.Time("to")
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		q.faults.add("to", "out_of_order", "must be after from")
	}
	return from, to
}

// Zone returns an IANA time zone, or nil when it is absent.
func (q *Query) Zone(name string) *time.Location {
	s := q.Text(name)
	if s == "" {
		return nil
	}
	zone, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		q.faults.add(name, "unknown_time_zone", "must be an IANA time zone such as Asia/Shanghai or UTC")
		return nil
	}
	return zone
}

// AtMostOne refuses two of the parameters together.
func (q *Query) AtMostOne(names ...string) {
	var given []string
	for _, name := range names {
		if q.values.Get(name) != "" {
			given = append(given, name)
		}
	}
	if len(given) > 1 {
		q.faults.add(given[1], "conflict", "cannot be given together with %s; leave out one of them", given[0])
	}
}

// OneOf returns a parameter of an enumeration, or "" when it is absent.
func OneOf[T ~string](q *Query, name string, known ...T) T {
	s := T(q.Text(name))
	if s != "" && !slices.Contains(known, s) {
		q.faults.add(name, "unknown_value", "must be one of %s", named(known))
		return ""
	}
	return s
}

// SomeOf returns values of an enumeration that stand in one parameter with commas between them, each once; nil when it
// is absent.
func SomeOf[T ~string](q *Query, name string, known ...T) []T {
	text := q.Text(name)
	if text == "" {
		return nil
	}
	var out []T
	for _, one := range strings.Split(text, ",") {
		switch {
		case !slices.Contains(known, T(one)):
			q.faults.add(name, "unknown_value", "must be one or more of %s, with commas between them", named(known))
			return nil
		case !slices.Contains(out, T(one)):
			out = append(out, T(one))
		}
	}
	return out
}

// Language returns the parameter lang, or what the header Accept-Language puts
// first; English is the default.
func (q *Query) Language(h http.Header) schedule.Language {
	if lang := OneOf(q, "lang", schedule.English, schedule.Chinese); lang != "" {
		return lang
	}
	if strings.HasPrefix(strings.ToLower(h.Get("Accept-Language")), "zh") {
		return schedule.Chinese
	}
	return schedule.English
}

// Page returns the parameters limit and cursor.
func (q *Query) Page() repository.Page {
	p := repository.Page{Limit: q.Int("limit", DefaultLimit, 1, MaxLimit), Cursor: q.Text("cursor")}
	opaque := func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"'<>\;`, r)
	}
	if strings.ContainsFunc(p.Cursor, opaque) {
		q.faults.add("cursor", "invalid_cursor", "must be the nextCursor of a former page")
	}
	return p
}

// Done returns everything that was wrong.
func (q *Query) Done() error {
	known := "there are none"
	if len(q.taken) > 0 {
		known = "known are " + strings.Join(slices.Sorted(maps.Keys(q.taken)), ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !q.taken[name] {
			q.faults.add(name, "unknown_parameter", "is not a parameter here; %s", known)
		}
	}
	return apperror.Invalid(q.faults.list)
}

// maxTopicsText and maxStepsText bound a list in one parameter, in bytes.
const maxTopicsText, maxStepsText = 4 << 10, 9 << 10

// list returns what stands in one parameter with commas between it, each once; nothing where it is absent or empty.
// missing is the remedy then, or empty where the parameter may be left out.
func (q *Query) list(name, missing string, most, bytes int) []string {
	q.taken[name] = true
	values := q.values[name]
	switch {
	case len(values) == 0 || len(values) == 1 && values[0] == "":
		if missing != "" {
			q.faults.add(name, "required", "%s", missing)
		}
		return nil
	case len(values) > 1:
		q.faults.add(name, "repeated", "is given more than once; put commas between its parts")
		return nil
	case len(values[0]) > bytes:
		q.faults.add(name, "too_long", "must have at most %d bytes", bytes)
		return nil
	}
	parts := strings.Split(values[0], ",")
	slices.Sort(parts)
	parts = slices.Compact(parts)
	if len(parts) > most {
		q.faults.add(name, "too_many", "must have at most %d parts", most)
	}
	return parts
}

// Topics returns 1 to most topics, which stand in one parameter with commas between them,
// each once.
func (q *Query) Topics(name string, most int) []string {
	return q.list(name, "name what to watch, such as jobs,executions", most, maxTopicsText)
}

// Steps returns names of steps, which stand in one parameter with commas between them, each once.
func (q *Query) Steps(name string) []string { return q.list(name, "", wf.MaxSteps, maxStepsText) }
