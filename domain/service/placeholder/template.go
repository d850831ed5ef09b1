// Package placeholder fills the strings of a definition when a run starts. It replaces
// ${scheduledTime}, ${params.NAME}, ${secret.NAME} and the other
// names of the list. $${ stands for ${ itself.
package placeholder

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mark begins a placeholder.
const mark = "${"

// maxPlaceholders bounds one text.
const maxPlaceholders = 1000

// Error is a placeholder that is wrong or has no value. It names the
// placeholder and the remedy, and never a value.
type Error struct {
	text string
	// secret: it is a secret that has no value.
	secret bool
}

// SecretMissing reports whether an error says that a secret is not there for the
// run.
func SecretMissing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.secret
}

// Error implements error.
func (e *Error) Error() string { return e.text }

func wrong(format string, args ...any) error { return &Error{text: fmt.Sprintf(format, args...)} }

// part is a piece of plain text or a placeholder.
type part struct {
	text  string
	value *reference
}

// parse cuts a text into parts.
func parse(text string) ([]part, error) {
	var parts []part
	var before strings.Builder
	for {
		at := strings.Index(text, mark)
		if at < 0 {
			before.WriteString(text)
			break
		}
		if at > 0 && text[at-1] == '$' {
			before.WriteString(text[:at-1] + mark)
			text = text[at+len(mark):]
			continue
		}
		before.WriteString(text[:at])
		end := closing(text[at:])
		if end < 0 {
			return nil, wrong("%.40q is not closed with }; write $${ for the characters ${", text[at:])
		}
		ref, err := parseReference(text[at+len(mark) : at+end])
		if err != nil {
			return nil, err
		}
		ref.text = text[at : at+end+1]
		if len(parts) >= 2*maxPlaceholders {
			return nil, wrong("a string may hold at most %d placeholders", maxPlaceholders)
		}
		parts = append(parts, part{text: before.String()}, part{value: ref})
		before.Reset()
		text = text[at+end+1:]
	}
	return append(parts, part{text: before.String()}), nil
}

// closing finds the end of a placeholder. A quoted } belongs to it.
func closing(text string) int {
	quoted := false
	for i := len(mark); i < len(text); i++ {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case text[i] == '}' && !quoted:
			return i
		}
	}
	return strings.IndexByte(text, '}')
}

// Holds reports whether a text holds placeholders, or what looks like one.
func Holds(text string) bool { return strings.Contains(text, mark) }

// Expand replaces the placeholders of a text; escape makes each value fit for
// its place. The error is *Error.
func Expand(text string, values *Values, escape Escape) (string, error) {
	if !Holds(text) || values.Filled() {
		return text, nil
	}
	parts, err := parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	place := escape()
	for _, p := range parts {
		text := p.text
		if p.value == nil {
			err = place.plain(text)
		} else {
			var v value
			if v, err = values.of(p.value); err == nil && v.missing != nil && !takesNull(place) {
				err = v.missing
			}
			if err == nil {
				text, err = place.value(v)
			}
		}
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	if err := place.end(b.String()); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Open returns the first placeholder of a string whose value the server does not make
// alone. Somebody else than the author of the string may choose it. It is empty where
// there is none, and where the text is wrong.
func Open(text string) string {
	parts, err := parse(text)
	if err != nil {
		return ""
	}
	for _, p := range parts {
		if p.value != nil && !slices.Contains(made, p.value.name) {
			return p.value.text
		}
	}
	return ""
}

// made are the placeholders whose values the server makes, of letters, digits
// and what the author of the text wrote.
var made = []string{
	"scheduledTime", "deadline", "executionId", "jobId", "attempt", "shardIndex", "shardTotal",
	"idempotencyKey", index, runID,
}

// SecretNames are the secrets that the texts of a definition name, each once
// and in order. A text that is no proper placeholder names none.
func SecretNames(text string) []string {
	const prefix = mark + secretPrefix
	var names []string
	for {
		before, rest, found := strings.Cut(text, prefix)
		if !found {
			slices.Sort(names)
			return slices.Compact(names)
		}
		escaped := strings.HasSuffix(before, "$") // $${ is a text, not a placeholder
		if name, _, closed := strings.Cut(rest, "}"); closed && !escaped && goodName(name) {
			names = append(names, name)
		}
		text = rest
	}
}

// OfSecret is the placeholder of a secret.
func OfSecret(name string) string { return mark + secretPrefix + name + "}" }
