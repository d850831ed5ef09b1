// Package weekly writes the weekly report as a mail, in English and Chinese.
package weekly

import (
	"bytes"
	"embed"
	"fmt"
	html "html/template"
	"strings"
	text "text/template"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

//go:embed report.*.tmpl
var files embed.FS

// maxName bounds the name of a job or a group, in bytes.
const maxName = 120

// Render writes the report in a language, en or zh; another one is English.
func Render(w alert.WeeklyReport, language string) (c alert.Content, err error) {
	if language != "zh" {
		language = "en"
	}
	name := "report." + language + ".txt.tmpl"
	plain, err := text.New(name).Funcs(text.FuncMap(functions())).ParseFS(files, name)
	if err != nil {
		return c, fmt.Errorf("read the template of the report: %w", err)
	}
	var out bytes.Buffer
	if err := plain.ExecuteTemplate(&out, name, w); err != nil {
		return c, fmt.Errorf("write the report: %w", err)
	}
	title, body, _ := strings.Cut(out.String(), "\n\n")
	c.Title, c.Text = strings.TrimSpace(title), body
	name = "report." + language + ".html.tmpl"
	page, err := html.New(name).Funcs(html.FuncMap(functions())).ParseFS(files, name)
	if err != nil {
		return c, fmt.Errorf("read the template of the report: %w", err)
	}
	out.Reset()
	if err := page.ExecuteTemplate(&out, name, w); err != nil {
		return c, fmt.Errorf("write the report: %w", err)
	}
	c.HTML = out.String()
	return c, nil
}

func functions() map[string]any {
	return map[string]any{"rate": rate, "change": change, "day": day, "took": took, "name": line}
}

// rate is a share of successes in percent.
func rate(s alert.ReportSums) string {
	r, ok := s.Rate()
	if !ok {
		return "–"
	}
	// All but one of a million is not all.
	percent := fmt.Sprintf("%.1f %%", 100*r)
	if r < 1 && percent == "100.0 %" {
		return "> 99.9 %"
	}
	return percent
}

// change is by how many points a share of successes has changed.
func change(now, before alert.ReportSums) string {
	a, ok := now.Rate()
	b, was := before.Rate()
	if !ok || !was {
		return "–"
	}
	return fmt.Sprintf("%+.1f", 100*(a-b))
}

func day(t time.Time) string { return t.Format(time.DateOnly) }

// took is a duration with at most three figures or so.
func took(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// line is a name that people gave, in one line.
func line(s string) string { return markup.Cut(markup.Line(s), maxName, markup.Bytes) }
