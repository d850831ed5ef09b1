package template

import (
	"fmt"
	"html"
	"strings"
	"text/template"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// functions are those of one rendering. Each counts as a step, and gives bounded values.
func (r *run) functions() template.FuncMap {
	return template.FuncMap{
		stepName:   r.step,
		escapeName: func(value any) (safe, error) { return counted(r, func() safe { return r.escape(value) }) },
		listName:   r.list,
		"print":    r.print,
		"upper":    r.text(strings.ToUpper),
		"lower":    r.text(strings.ToLower),
		"trim":     r.text(strings.TrimSpace),
		"word":     r.text(r.words.word),
		"trunc": func(most int, value any) (string, error) {
			return counted(r, func() string { return markup.Cut(bounded(value), most, markup.Runes) })
		},
		"default": func(otherwise, value any) (any, error) {
			return counted(r, func() any {
				if bounded(value) == "" {
					return otherwise
				}
				return value
			})
		},
		"date":     r.date,
		"duration": r.duration,
		"bold": func(value any) (any, error) {
			return counted(r, func() any {
				return r.mark(value, func(s string) string { return "<b>" + s + "</b>" }, r.dialect.Bold)
			})
		},
		"link": r.link,
	}
}

// counted counts a step before the work.
func counted[T any](r *run, work func() T) (T, error) {
	var none T
	if _, err := r.step(); err != nil {
		return none, err
	}
	return work(), nil
}

func (r *run) text(change func(string) string) func(value any) (string, error) {
	return func(value any) (string, error) {
		return counted(r, func() string { return bounded(change(bounded(value))) })
	}
}

func (r *run) print(values ...any) (string, error) {
	return counted(r, func() string {
		var b strings.Builder
		for _, v := range values {
			if b.Len() > maxValue {
				break
			}
			b.WriteString(bounded(v))
		}
		return bounded(b.String())
	})
}

// maxLayout bounds the layout of a date.
const maxLayout = 100

// date writes a time of the data in another layout, which is Go's.
func (r *run) date(layout, value string) (string, error) {
	if _, err := r.step(); err != nil {
		return "", err
	}
	if value == "" {
		return "", nil
	}
	at, err := time.ParseInLocation(timeLayout, value, r.zone)
	if err != nil || len(layout) > maxLayout {
		return "", fmt.Errorf("date takes a layout such as \"15:04\" and a time of an alert")
	}
	return at.In(r.zone).Format(layout), nil
}

// duration writes seconds as people read them.
func (r *run) duration(seconds int) (string, error) {
	return counted(r, func() string { return (time.Duration(seconds) * time.Second).String() })
}

// link makes a text lead to an address of http or https.
func (r *run) link(value any, address string) (any, error) {
	return counted(r, func() any {
		return r.mark(value, func(s string) string {
			lower := strings.ToLower(address)
			if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") {
				return s
			}
			return `<a href="` + html.EscapeString(markup.Line(bounded(address))) + `">` + s + "</a>"
		}, func(s string) string { return r.dialect.Link(s, bounded(address)) })
	})
}
