// Package template makes the texts of messages: those of the product in each language, and those of
// templates that users write. Templates are bounded in size, work, time and output.
package template

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// maxTitle bounds a title, in characters.
const maxTitle = 200

// Renderer makes texts of messages. Safe for concurrent use.
type Renderer struct {
	clock    clock.Clock
	zone     *time.Location
	dialect  func(alert.ChannelType) markup.Dialect
	words    map[string]words
	defaults alert.Content
	// most is how long one form may take.
	most time.Duration
}

// Quick is the Renderer for previews: a form has a tenth of the time.
func (r *Renderer) Quick() *Renderer {
	quick := *r
	quick.most = quickTime
	return &quick
}

// New returns a Renderer that writes times in a zone, and marks texts up in the dialect of a type. An
// error means that the texts of the product are broken.
func New(c clock.Clock, zone *time.Location, dialect func(alert.ChannelType) markup.Dialect) (*Renderer, error) {
	r := &Renderer{clock: c, zone: zone, dialect: dialect, words: map[string]words{}, most: maxTime}
	for _, language := range Languages() {
		w, err := readWords(language)
		if err != nil {
			return nil, err
		}
		r.words[language] = w
	}
	for name, into := range map[string]*string{
		"title": &r.defaults.Title, "text": &r.defaults.Text, "html": &r.defaults.HTML, "markdown": &r.defaults.Markdown,
	} {
		text, err := texts.ReadFile("texts/" + name + ".tmpl")
		if err != nil {
			return nil, fmt.Errorf("read the text %s: %w", name, err)
		}
		*into = string(text)
	}
	return r, nil
}

// Defaults returns the templates of the product, for people to begin with.
func (r *Renderer) Defaults() alert.Content { return r.defaults }

// job is one message to render.
type job struct {
	renderer *Renderer
	ctx      context.Context
	dialect  markup.Dialect
	words    words
	data     Data
	strict   bool
}

func (r *Renderer) job(ctx context.Context, d markup.Dialect, language string, m alert.Message) job {
	w, ok := r.words[language]
	if !ok {
		w = r.words[English]
	}
	return job{renderer: r, ctx: ctx, dialect: d, words: w, data: newData(m, w, r.zone)}
}

// fill fills the template of a form. Where the text gets too long, or takes too much, it tells of
// fewer alerts.
func (j job) fill(f form, source string) (string, error) {
	return j.fillUntil(f, source, j.renderer.until())
}

// until is when a form that begins now has to be filled.
func (r *Renderer) until() time.Duration { return r.clock.Monotonic() + r.most }

func (j job) fillUntil(f form, source string, until time.Duration) (string, error) {
	c := j.renderer.clock
	for n := len(j.data.Alerts); ; n /= 2 {
		r := &run{
			ctx: j.ctx, clock: c, until: until, form: f, dialect: j.dialect, words: j.words, zone: j.renderer.zone,
			strict: j.strict,
		}
		text, err := r.fill(source, j.data.first(n))
		if n <= 1 || !errors.Is(err, errTooLong) && !errors.Is(err, errTooMuch) {
			return text, err
		}
	}
}

// Render fills the templates in a language, zh or en, for a type of channel. An empty form stands
// for that of the product; but where the template has a text and no HTML or Markdown, these are made
// of its text. A form that fails is that of the product, and the error says why.
func (r *Renderer) Render(ctx context.Context, t alert.ChannelType, language string, template alert.Content,
	m alert.Message,
) (alert.Content, error) {
	j := r.job(ctx, r.dialect(t), language, m)
	var out alert.Content
	var failures []error
	// fill reports whether the text comes from the template of the user.
	fill := func(name string, f form, own, standard string) (text string, isOwn bool) {
		if own != "" {
			text, err := j.fill(f, own)
			if err == nil {
				return text, true
			}
			failures = append(failures, fmt.Errorf("the %s of the template: %s", name, remedy(err)))
		}
		text, err := j.fill(f, standard)
		if err != nil {
			failures = append(failures, fmt.Errorf("the %s of the product: %s", name, remedy(err)))
		}
		return text, false
	}
	title, _ := fill("title", formTitle, template.Title, r.defaults.Title)
	out.Title = markup.Cut(markup.Line(title), maxTitle, markup.Runes)
	text, ownText := fill("text", formText, template.Text, r.defaults.Text)
	if out.Text = text; text == "" {
		out.Text = out.Title
	}
	if ownText && template.HTML == "" {
		out.HTML = `<pre style="white-space:pre-wrap;font-family:inherit">` + html.EscapeString(out.Text) + "</pre>"
	} else {
		out.HTML, _ = fill("html", formHTML, template.HTML, r.defaults.HTML)
	}
	if ownText && template.Markdown == "" {
		out.Markdown = j.dialect.EscapeLines(out.Text)
	} else {
		out.Markdown, _ = fill("markdown", formMarkdown, template.Markdown, r.defaults.Markdown)
	}
	return out, errors.Join(failures...)
}

// Check lists what is wrong with a template: it is filled with sample messages, each form with all of
// them in its time. Fields are named title, text, html and markdown.
func (r *Renderer) Check(ctx context.Context, template alert.Content) []apperror.Field {
	var wrong []apperror.Field
	for _, part := range []struct {
		name   string
		form   form
		source string
	}{
		{"title", formTitle, template.Title},
		{"text", formText, template.Text},
		{"html", formHTML, template.HTML},
		{"markdown", formMarkdown, template.Markdown},
	} {
		if part.source == "" {
			continue
		}
		until := r.until()
		for _, m := range samples() {
			j := r.job(ctx, markup.Slack, English, m)
			j.strict = true
			if _, err := j.fillUntil(part.form, part.source, until); err != nil {
				wrong = append(wrong, apperror.Field{Field: part.name, Code: validation.CodeInvalid, Message: remedy(err)})
				break
			}
		}
	}
	return wrong
}

// place is how text/template begins its errors: with the line, and with the column where it knows it.
var place = regexp.MustCompile(`^(?:html/)?template: ?:(\d+)(?::(\d+))?: ?(?:executing "" at )?`)

const maxRemedy = 300

// remedy says what is wrong with a template, and where.
func remedy(err error) string {
	for _, bound := range []error{errTooLong, errTooMuch, errTooSlow, errNumber} {
		if errors.Is(err, bound) {
			return bound.Error() // it belongs to no single place
		}
	}
	text := err.Error()
	if m := place.FindStringSubmatch(text); m != nil {
		where := "line " + m[1]
		if m[2] != "" {
			where += ", column " + m[2]
		}
		text = where + ": " + strings.TrimPrefix(text, m[0])
	}
	return markup.Cut(markup.Line(text), maxRemedy, markup.Bytes)
}
