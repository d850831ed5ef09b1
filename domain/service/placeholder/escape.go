package placeholder

import (
	"encoding/json"
	"net/url"
	"strings"
)

// Escape makes a value fit for its place; before is how much text precedes it.
type Escape func(before int, value string) string

// Raw leaves a value as it is: for arguments, headers and variables, which are
// whole texts and are checked afterwards.
func Raw(_ int, value string) string { return value }

// URL escapes a value so that it stays in its part of a URL, whatever it
// holds. One that begins the text is taken as it is, since a whole address is
// no part of one.
func URL(before int, value string) string {
	if before == 0 {
		return value
	}
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// JSON escapes a value as the inside of a JSON string.
func JSON(_ int, value string) string {
	quoted, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}

// Body is the escape for a text that is sent: JSON where the text is JSON, so
// that a value cannot change its structure, Raw elsewhere.
func Body(text string) Escape {
	if json.Valid([]byte(text)) {
		return JSON
	}
	return Raw
}
