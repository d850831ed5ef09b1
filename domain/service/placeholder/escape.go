package placeholder

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Escape makes a value fit for its place; before is the text that precedes it. An Escape
// belongs to one text: call it for the values of the text in their order.
type Escape func(before, value string) string

// Raw leaves a value as it is. It serves arguments, headers and variables, which are checked
// afterwards as a whole.
func Raw(_, value string) string { return value }

// URL escapes a value so that it stays in its part of a URL. It leaves a value that begins the
// text as it is, because a whole address is not a part of one.
func URL(before, value string) string {
	if before == "" {
		return value
	}
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// JSON escapes a value as the inside of a JSON string.
func JSON(_, value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}

// Body returns the escape for a request body: JSON where the body is JSON, so that a value
// cannot change its structure, otherwise Raw. A body is also JSON with ${params} in place of a
// value. There the parameters stand as an object.
func Body(text string) Escape {
	if !json.Valid([]byte(strings.ReplaceAll(text, mark+allParams+"}", "null"))) {
		return Raw
	}
	var within quotes
	return func(before, value string) string {
		if within.after(before) {
			return JSON(before, value)
		}
		return value
	}
}

// quotes follows a JSON text as it grows.
type quotes struct {
	seen   int
	inside bool
}

// after reports whether the next value is inside a string.
func (q *quotes) after(text string) bool {
	for ; q.seen < len(text); q.seen++ {
		switch {
		case q.inside && text[q.seen] == '\\':
			q.seen++ // what follows a backslash closes nothing
		case text[q.seen] == '"':
			q.inside = !q.inside
		}
	}
	return q.inside
}
