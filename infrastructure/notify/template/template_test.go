package template_test

import (
	"context"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

func renderer(t testing.TB) *template.Renderer {
	t.Helper()
	r, err := template.New(clocktest.NewManual(time.Now()), time.FixedZone("", 8*60*60))
	require.NoError(t, err)
	return r
}

func render(t *testing.T, kind alert.ChannelType, language string, own alert.Content, m alert.Message) alert.Content {
	t.Helper()
	out, err := renderer(t).Render(t.Context(), kind, language, own, m)
	require.NoError(t, err)
	return out
}

func TestTheProductHasATextForEachTypeOfAlertInEachLanguage(t *testing.T) {
	for _, language := range template.Languages() {
		seen := map[string]bool{}
		for _, kind := range alert.RuleTypes() {
			m := notifytest.Message()
			m.Alerts[0].Type = string(kind)
			out := render(t, alert.ChannelFeishu, language, alert.Content{}, m)
			require.NotContains(t, out.Title, string(kind), "the type %s has no name in %s", kind, language)
			require.False(t, seen[out.Title], "two types are called %q", out.Title)
			seen[out.Title] = true
			for _, text := range []string{out.Text, html.UnescapeString(out.HTML), out.Markdown} {
				require.Contains(t, text, "exit code 3")
				require.Contains(t, text, "2026-11-22 14:29:15 +08:00", "times are those of the server's zone")
				require.NotContains(t, text, "<no value>")
			}
		}
	}
}

func TestTheTextsOfTheProduct(t *testing.T) {
	m := notifytest.Message()
	en := render(t, alert.ChannelSlack, "en", alert.Content{}, m)
	require.Equal(t, "[CRITICAL] nightly_close: job failed", en.Title)
	require.Equal(t, `* nightly_close: job failed [CRITICAL]
  the job failed: exit code 3
  Group: billing
  Node: node-a
  Execution: exec-1
  Rule: failures
  Times: 2
  Since: 2026-11-22 14:29:15 +08:00
  Open: https://scheduler.example/alerts/alert-1

https://scheduler.example/alerts`, en.Text)
	require.Contains(t, en.Markdown, "*nightly_close*: job failed")
	require.Contains(t, en.Markdown, "<https://scheduler.example/alerts/alert-1|Open>")
	require.Contains(t, en.HTML, `<a href="https://scheduler.example/alerts/alert-1">Open</a>`)

	m.Firing, m.Alerts[0].EndTime = false, m.Time
	zh := render(t, alert.ChannelTelegram, "zh", alert.Content{}, m)
	require.Equal(t, "[已恢复] nightly_close: 任务失败", zh.Title)
	require.Contains(t, zh.Markdown, "<b>nightly_close</b>: 任务失败 [已恢复]")
	require.Contains(t, zh.Text, "结束时间: 2026-11-22 14:30:15 +08:00")
	require.Equal(t, render(t, alert.ChannelSlack, "en", alert.Content{}, m), render(t, alert.ChannelSlack, "xx",
		alert.Content{}, m), "another language is English")
}

func TestManyAlertsMakeOneTitle(t *testing.T) {
	m := notifytest.Message()
	other := m.Alerts[0]
	other.JobName, other.Type = "other", "TIMEOUT"
	m.Alerts, m.Total = append(m.Alerts, other), 10_000
	out := render(t, alert.ChannelEmail, "en", alert.Content{}, m)
	require.Equal(t, "[CRITICAL] alerts (10000)", out.Title)
	require.Contains(t, out.Text, "More alerts that are not listed: 9998")
}

func TestTemplatesOfUsers(t *testing.T) {
	for source, want := range map[string]string{
		`{{range .Alerts}}{{.JobName}}{{end}}`:                             "nightly_close",
		`{{(index .Alerts 0).Labels.team}}/{{.GroupLabels.none}}`:          "ledger/",
		`{{with index .Alerts 0}}{{date "15:04" .StartTime}}{{end}}`:       "14:29",
		`{{duration (index .Alerts 0).DurationSec}}`:                       "1m0s",
		`{{.Level | lower}} {{upper "a"}} {{trim "  x "}}`:                 "critical A x",
		`{{trunc 3 "长长长长"}}{{default "none" .GroupLabels.none}}`:           "长长…none",
		`{{if and .Firing (gt .Total 0)}}yes{{else}}no{{end}}`:             "yes",
		`{{$x := "a"}}{{range .Alerts}}{{$x = print $x "b"}}{{end}}{{$x}}`: "ab",
		`{{word "job"}} {{/* a comment */}}{{len .Alerts}}`:                "Job 1",
		`{{range .Alerts}}{{continue}}x{{end}}done`:                        "done",
	} {
		require.Equal(t, want, render(t, alert.ChannelSlack, "en", alert.Content{Text: source}, notifytest.Message()).Text,
			source)
		require.Empty(t, renderer(t).Check(t.Context(), alert.Content{
			Title: source, Text: source, HTML: source, Markdown: source,
		}), source)
	}
}

// A text of one's own also makes the forms that the template leaves out.
func TestATextStandsForTheOtherForms(t *testing.T) {
	out := render(t, alert.ChannelSlack, "en", alert.Content{Text: "<b> {{.Level}} & <!here>"}, notifytest.Message())
	require.Equal(t, "<b> CRITICAL & <!here>", out.Text)
	require.Contains(t, out.HTML, "&lt;b&gt; CRITICAL &amp;")
	require.Equal(t, "&lt;b&gt; CRITICAL &amp; &lt;!here&gt;", out.Markdown)
}

func TestWhatTemplatesMayNotDo(t *testing.T) {
	for source, want := range map[string]string{
		`{{`:                          "line 1",
		"a\n{{nothing}}":              `line 2: function "nothing" not defined`,
		`{{.Nothing}}`:                "line 1, column 2",
		`{{.Alerts.Nothing}}`:         "line 1, column",
		`{{printf "%1000000000d" 1}}`: `the function "printf" is not known`,
		`{{call .Level}}`:             `the function "call"`,
		`{{html .Level}}`:             `the function "html"`,
		`{{slice .Level 0 1}}`:        `the function "slice"`,
		`{{_step}}`:                   `the function "_step"`,
		`{{.Level | _escape}}`:        `the function "_escape"`,
		`{{define "x"}}{{template "x"}}{{end}}{{template "x"}}`: "may not",
		`{{template "x"}}`:                       "may not call another one",
		`{{block "x" .}}{{end}}`:                 "may not",
		`{{range 1000000000}}{{end}}`:            "more than 50000 steps",
		`{{range 1000000000}}{{$x := 1}}{{end}}`: "more than 50000 steps",
		`{{range 10000}}{{range 10000}}{{range 10000}}{{end}}{{end}}{{end}}`:            "more than 50000 steps",
		`{{range 10000}}{{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}{{end}}`:          "more than 262144 bytes",
		`{{$x := "xx"}}{{range 30}}{{$x = print $x $x}}{{end}}{{range 5}}{{$x}}{{end}}`: "more than",
		`{{index .Alerts 1000}}`:           "line 1",
		`{{date "15:04" "soon"}}`:          "date takes a layout",
		`{{len 3}}`:                        "line 1",
		strings.Repeat("{{.Level}}", 1100): "at most 1000 parts",
		strings.Repeat("x", 17<<10):        "longer than 16384 bytes",
	} {
		wrong := renderer(t).Check(t.Context(), alert.Content{Title: source, Text: source, HTML: source, Markdown: source})
		require.Len(t, wrong, 4, "all forms at once: %s", source)
		for i, name := range []string{"title", "text", "html", "markdown"} {
			require.Equal(t, name, wrong[i].Field)
			require.Contains(t, wrong[i].Message, want, name)
		}
	}
	wrong := renderer(t).Check(t.Context(), alert.Content{HTML: `<a href="{{if .Firing}}"{{end}}>`})
	require.Len(t, wrong, 1, "a value in a place that cannot be made safe")
}

// A template that fails stops no alert: the text of the product goes out, and the error says why.
func TestATemplateThatFailsGivesTheTextOfTheProduct(t *testing.T) {
	own := alert.Content{Title: "own title", Text: "{{.Nothing}}", Markdown: "{{range 1000000000}}{{end}}"}
	out, err := renderer(t).Render(t.Context(), alert.ChannelSlack, "en", own, notifytest.Message())
	require.ErrorContains(t, err, "the text of the template: line 1, column 2")
	require.ErrorContains(t, err, "the markdown of the template")
	standard := render(t, alert.ChannelSlack, "en", alert.Content{}, notifytest.Message())
	standard.Title = "own title"
	require.Equal(t, standard, out)
}

// slow is a clock on which each look takes long.
type slow struct {
	clock.Clock
	now time.Duration
}

func (s *slow) Monotonic() time.Duration {
	s.now += 100 * time.Millisecond
	return s.now
}

func TestATemplateEndsInTime(t *testing.T) {
	r, err := template.New(&slow{Clock: clocktest.NewManual(time.Now())}, time.UTC)
	require.NoError(t, err)
	wrong := r.Check(t.Context(), alert.Content{Text: "{{range 1000}}{{end}}"})
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0].Message, "longer than 1s")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = renderer(t).Render(ctx, alert.ChannelSlack, "en", alert.Content{Text: "{{range 10}}{{end}}"},
		notifytest.Message())
	require.ErrorContains(t, err, context.Canceled.Error())
}
