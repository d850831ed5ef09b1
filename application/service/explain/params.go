package explain

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Params are the values of a sentence by their names: times, durations (the name ends in Ms), reasons, what a run waits
// for, texts and numbers.
type Params map[string]any

// Names are what a field of a cron expression has or names: numbers, months and weekdays in capitals, as 9-17 or
// MONDAY-WEDNESDAY, SATURDAY.
type Names string

func (n Names) english() string {
	words := strings.FieldsFunc(
		strings.ReplaceAll(strings.ReplaceAll(string(n), "-", " to "), ", ", " , "),
		func(r rune) bool {
			return r == ' '
		},
	)
	for i, word := range words {
		if word != "to" {
			words[i] = word[:1] + strings.ToLower(word[1:])
		}
	}
	return strings.ReplaceAll(strings.Join(words, " "), " , ", ", ")
}

// shown leaves out the values that say nothing. A number and a duration always say something.
func (p Params) shown() Params {
	for name, value := range p {
		v := reflect.ValueOf(value)
		if k := v.Kind(); k != reflect.Int && k != reflect.Int64 && v.IsZero() {
			delete(p, name)
		}
	}
	return p
}

// with adds the values of a pause.
func (p Params) with(pause entity.Pause, since time.Time) Params {
	p["user"], p["pauseReason"], p["since"], p["until"] = pause.User, pause.Reason, since, pause.Until
	return p
}

// sentence puts values into a template; see Sentence.Text.
func (c *inquiry) sentence(template string, p Params) string {
	var out strings.Builder
	for template != "" {
		plain, rest, _ := strings.Cut(template, "[")
		text, _ := c.filled(plain, p)
		out.WriteString(text)
		var optional string
		optional, template, _ = strings.Cut(rest, "]")
		if text, whole := c.filled(optional, p); whole {
			out.WriteString(text)
		}
	}
	return out.String()
}

// filled puts values into a text; whole is false where one is missing.
func (c *inquiry) filled(text string, p Params) (filled string, whole bool) {
	whole = true
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String(), whole
		}
		name, after, _ := strings.Cut(rest, "}")
		value, known := p[name]
		whole = whole && known
		said := c.english(value)
		out.WriteString(said)
		text = after
		if inner, behind, closed := strings.Cut(
			strings.TrimPrefix(after, " ("),
			")",
		); closed &&
			strings.HasPrefix(after, " (") {
			if one, many, counted := strings.Cut(inner, "|"); counted {
				text = " " + many + behind
				if said == "1" {
					text = " " + one + behind
				}
			}
		}
	}
}

// english is a value as people read it.
func (c *inquiry) english(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case time.Time:
		return c.when(v)
	case time.Duration:
		return span(v)
	case entity.Reason:
		return meaning(v)
	case entity.Wait:
		return waitsFor(v)
	case Names:
		return v.english()
	}
	return fmt.Sprint(value)
}
