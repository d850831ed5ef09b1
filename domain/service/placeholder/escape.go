package placeholder

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Escape makes a value fit for its place; before is the text that precedes it.
// One belongs to one text: it is called for its values in their order.
type Escape func(before, value string) string

// Raw leaves a value as it is: for arguments, headers and variables, which are
// whole texts and are checked afterwards.
func Raw(_, value string) string { return value }

// URL escapes a value so that it stays in its part of a URL, whatever it
// holds. One that begins the text is taken as it is, since a whole address is
// no part of one.
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

// Body is the escape for a text that is sent: JSON where the text is JSON, so
// that a value cannot change its structure, Raw elsewhere. A text is JSON also
// with ${params} in place of a value, which then stands there as the object
// that it is.
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

// after reports whether what comes next is inside a string.
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
