package template

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	htmltemplate "html/template"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// The bounds of one rendering.
const (
	// maxOutput bounds a text, and maxValue each value on the way to it, in bytes.
	maxOutput = 256 << 10
	maxValue  = 64 << 10
	// maxSteps bounds loops, calls of functions and writes.
	maxSteps = 50_000
	maxTime  = time.Second
	// quickTime is maxTime for a preview: many people may ask for one.
	quickTime = 100 * time.Millisecond
)

// Errors of a rendering that meets its bounds.
var (
	errTooLong  = fmt.Errorf("makes a text of more than %d bytes", maxOutput)
	errTooMuch  = fmt.Errorf("does more than %d steps", maxSteps)
	errTooSlow  = errors.New("takes too long: use fewer loops and shorter texts")
	errNumber   = errors.New("a loop goes over a number: let range go over .Alerts or labels")
	errTemplate = errors.New("cannot be filled")
)

// form is one of the forms of a text.
type form int

const (
	formTitle form = iota
	formText
	formHTML
	formMarkdown
)

// safe is a text that is escaped already.
type safe string

// run is one rendering of one form. It belongs to one goroutine.
type run struct {
	ctx   context.Context
	clock clock.Clock
	until time.Duration
	steps int
	// strict refuses loops over numbers. Templates that are stored may have some.
	strict  bool
	form    form
	dialect markup.Dialect
	words   words
	zone    *time.Location
	out     bytes.Buffer
}

// step counts what a template does. It is false, so that a condition on it writes nothing.
func (r *run) step() (bool, error) {
	r.steps++
	switch {
	case r.steps > maxSteps:
		return false, errTooMuch
	case r.ctx.Err() != nil:
		return false, r.ctx.Err()
	case r.clock.Monotonic() > r.until:
		return false, errTooSlow
	default:
		return false, nil
	}
}

// Write implements io.Writer within the bounds.
func (r *run) Write(p []byte) (int, error) {
	if _, err := r.step(); err != nil {
		return 0, err
	}
	if r.out.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return r.out.Write(p)
}

// fill fills a template with data.
func (r *run) fill(source string, data Data) (text string, err error) {
	defer func() {
		// A template is data: it never brings the process down.
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errTemplate, p)
		}
	}()
	if len(source) > bounds.TemplateSource {
		return "", fmt.Errorf("is longer than %d bytes", bounds.TemplateSource)
	}
	if r.form == formHTML {
		t, err := htmltemplate.New("").Funcs(r.functions()).Option("missingkey=zero").Parse(source)
		if err != nil {
			return "", err
		}
		if err := r.check(t.Tree, len(t.Templates())); err != nil {
			return "", err
		}
		return r.finish(t.Execute(r, data))
	}
	t, err := template.New("").Funcs(r.functions()).Option("missingkey=zero").Parse(source)
	if err != nil {
		return "", err
	}
	if err := r.check(t.Tree, len(t.Templates())); err != nil {
		return "", err
	}
	return r.finish(t.Execute(r, data))
}

func (r *run) finish(err error) (string, error) {
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(r.out.String()), nil
}

// check refuses a tree that is not allowed, and completes one that is.
func (r *run) check(tree *parse.Tree, templates int) error {
	if templates > 1 {
		return errors.New("a template may not define others")
	}
	if tree == nil || tree.Root == nil { // an empty template
		return nil
	}
	snippet, err := template.New("").Funcs(r.functions()).Parse(
		"{{if " + stepName + "}}{{end}}{{print | " + escapeName + " | " + listName + "}}")
	if err != nil {
		return fmt.Errorf("%w: %w", errTemplate, err)
	}
	action, ok := snippet.Root.Nodes[1].(*parse.ActionNode)
	if !ok {
		return errTemplate
	}
	c := &checker{
		step: snippet.Root.Nodes[0], escape: action.Pipe.Cmds[1], items: action.Pipe.Cmds[2],
		escaping: r.form != formHTML, strict: r.strict,
	}
	c.list(tree.Root, false)
	if c.wrong != nil {
		where, _ := tree.ErrorContext(c.wrong.node)
		return fmt.Errorf("template: %s: %s", where, c.wrong.text)
	}
	return nil
}

// list gives what a loop goes over, unless that is a number.
func (r *run) list(value any) (any, error) {
	if _, err := r.step(); err != nil {
		return nil, err
	}
	if value != nil && reflect.ValueOf(value).CanInt() {
		return nil, errNumber
	}
	return value, nil
}

// escape makes a value harmless for the form.
func (r *run) escape(value any) safe {
	if s, ok := value.(safe); ok {
		return s
	}
	text := bounded(value)
	switch r.form {
	case formTitle:
		return safe(markup.Line(text))
	case formMarkdown:
		return safe(r.dialect.Escape(text))
	default:
		// A second line cannot pass for one of the template.
		return safe(strings.ReplaceAll(markup.Clean(text), "\n", "\n    "))
	}
}

// bounded is the text of a value, cut.
func bounded(value any) string {
	text, ok := value.(string)
	if !ok {
		text = fmt.Sprint(value)
	}
	if len(text) <= maxValue {
		return text
	}
	return markup.Cut(text, maxValue, markup.Bytes)
}

// mark marks an escaped text, as HTML or in the dialect.
func (r *run) mark(value any, inHTML func(escaped string) string, inMarkdown func(escaped string) string) any {
	switch r.form {
	case formHTML:
		if h, ok := value.(htmltemplate.HTML); ok {
			return htmltemplate.HTML(inHTML(string(h))) // escaped where it was made
		}
		return htmltemplate.HTML(inHTML(html.EscapeString(markup.Clean(bounded(value))))) // escaped here
	case formMarkdown:
		return safe(inMarkdown(string(r.escape(value))))
	default:
		return r.escape(value)
	}
}
