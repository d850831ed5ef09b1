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
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

func renderer(t testing.TB) *template.Renderer {
	t.Helper()
	r, err := template.New(clocktest.NewManual(time.Now()), time.FixedZone("", 8*60*60), notify.DialectOf)
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
			out := render(t, "FEISHU", language, alert.Content{}, m)
			require.NotContains(t, out.Title, string(kind), "the type %s has no name in %s", kind, language)
			require.False(t, seen[out.Title], "two types are called %q", out.Title)
			seen[out.Title] = true
			for _, text := range []string{out.Text, html.UnescapeString(out.HTML), out.Markdown} {
				if kind != alert.Watchdog || language == template.English { // it says the same each time
					require.Contains(t, text, "exit code 3")
				}
				require.Contains(t, text, "2026-11-22 14:29:15 +08:00", "times are those of the server's zone")
				require.NotContains(t, text, "<no value>")
			}
		}
	}
}

func TestTheTextsOfTheProduct(t *testing.T) {
	m := notifytest.Message()
	en := render(t, "SLACK", "en", alert.Content{}, m)
	require.Equal(t, "[CRITICAL] nightly_close: job failed", en.Title)
	require.Equal(t, `* nightly_close: job failed [CRITICAL]
  the job failed: exit code 3
  Group: billing
  Owner: ann_lee
  Node: node-a
  Execution: exec-1
  Rule: failures
  Times: 2
  Since: 2026-11-22 14:29:15 +08:00
  Open: https://scheduler.example/alerts/alert-1`, en.Text)
	require.Contains(t, en.Markdown, "*nightly_close*: job failed")
	require.Contains(t, en.Markdown, "<https://scheduler.example/alerts/alert-1|Open>")
	require.Contains(t, en.HTML, `<a href="https://scheduler.example/alerts/alert-1">Open</a>`)

	m.Firing, m.Alerts[0].EndTime = false, m.Time
	zh := render(t, "TELEGRAM", "zh", alert.Content{}, m)
	require.Equal(t, "[已恢复] nightly_close: 任务失败", zh.Title)
	require.Contains(t, zh.Markdown, "<b>nightly_close</b>: 任务失败 [已恢复]")
	for _, form := range []string{zh.Text, zh.Markdown} {
		require.Contains(t, form, "负责人: ann_lee")
	}
	require.Contains(t, zh.HTML, "<td>负责人</td><td>ann_lee</td>")
	require.Contains(t, en.Markdown, "Owner: ann_lee")
	require.Contains(t, en.HTML, "<td>Owner</td><td>ann_lee</td>")
	require.Contains(t, zh.Text, "结束时间: 2026-11-22 14:30:15 +08:00")
	require.Equal(t, render(t, "SLACK", "en", alert.Content{}, m), render(t, "SLACK", "xx",
		alert.Content{}, m), "another language is English")
}

func TestManyAlertsMakeOneTitle(t *testing.T) {
	m := notifytest.Message()
	other := m.Alerts[0]
	other.JobName, other.Type = "other", "TIMEOUT"
	m.Alerts, m.Total = append(m.Alerts, other), 10_000
	out := render(t, alert.ChannelEmail, "en", alert.Content{}, m)
	require.Equal(t, "[CRITICAL] 10000 alerts", out.Title)
	require.Contains(t, out.Text, "More alerts that are not listed: 9998")
	require.Contains(t, out.Text, m.URL, "it leads to all of them")
	require.Equal(t, "[严重] 10000 条告警", render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Title)
	m.Counts = []alert.MessageCount{
		{Type: "CONSECUTIVE_FAILURES", Count: 256, Groups: 40, Group: "g1", Cause: "对账失败：数据库连接失败", CauseCount: 200},
		{Type: "NODE_DOWN", Count: 1},
	}
	out = render(t, alert.ChannelEmail, "zh", alert.Content{}, m)
	require.True(t, strings.HasPrefix(out.Text, "256 × 任务连续失败，40 个分组；最多的原因：对账失败：数据库连接失败 (200)\n1 × 节点宕机\n"+
		"以上未统计的更早告警数： 9743\n\n* "), out.Text)
	m.Alerts = m.Alerts[:1]
	require.Equal(t, "[严重] nightly_close: 10000 条告警", render(t, alert.ChannelEmail, "zh", alert.Content{}, m).Title)
	for _, form := range []string{out.HTML, out.Markdown} {
		require.Contains(t, form, "256 × 任务连续失败，40 个分组；最多的原因：对账失败：数据库连接失败")
	}
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
		require.Equal(t, want, render(t, "SLACK", "en", alert.Content{Text: source}, notifytest.Message()).Text,
			source)
		require.Empty(t, renderer(t).Check(t.Context(), alert.Content{
			Title: source, Text: source, HTML: source, Markdown: source,
		}), source)
	}
}

// A text of one's own also makes the forms that the template leaves out.
func TestATextStandsForTheOtherForms(t *testing.T) {
	out := render(t, "SLACK", "en", alert.Content{Text: "<b> {{.Level}} & <!here>"}, notifytest.Message())
	require.Equal(t, "<b> CRITICAL & <!here>", out.Text)
	require.Contains(t, out.HTML, "&lt;b&gt; CRITICAL &amp;")
	require.Equal(t, "&lt;b&gt; CRITICAL &amp; &lt;!here&gt;", out.Markdown)
}

// loops is a text in loops over alerts and labels, inside of each other.
func loops(n int, text string) string {
	return strings.Repeat(`{{range $.Alerts}}{{range $.Alerts}}{{range .Labels}}`, n) + text + strings.Repeat("{{end}}", 3*n)
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
		`{{template "x"}}`:                          "may not call another one",
		`{{block "x" .}}{{end}}`:                    "may not",
		`{{range 3}}{{end}}`:                        "a loop goes over a number",
		`{{range $i := len .Alerts}}{{end}}`:        "a loop goes over a number",
		`{{$n := 9}}{{range $n}}{{$x := 1}}{{end}}`: "a loop goes over a number",
		loops(3, ""):                                "at most 8 loops may stand in each other",
		`{{$x := "xx"}}` + strings.Repeat("{{$x = print $x $x}}", 15) + strings.Repeat("{{$x}}", 5): "more than 262144 bytes",
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
	out, err := renderer(t).Render(t.Context(), "SLACK", "en", own, notifytest.Message())
	require.ErrorContains(t, err, "the text of the template: line 1, column 2")
	require.ErrorContains(t, err, "the markdown of the template")
	standard := render(t, "SLACK", "en", alert.Content{}, notifytest.Message())
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
	r, err := template.New(&slow{Clock: clocktest.NewManual(time.Now())}, time.UTC, notify.DialectOf)
	require.NoError(t, err)
	wrong := r.Check(t.Context(), alert.Content{Text: loops(1, "{{.}}")})
	require.Len(t, wrong, 1)
	require.Contains(t, wrong[0].Message, "takes too long")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = renderer(t).Render(ctx, "SLACK", "en", alert.Content{Text: "{{range 10}}{{end}}"},
		notifytest.Message())
	require.ErrorContains(t, err, context.Canceled.Error())
}

// ticking is a clock on which each look at it takes a millisecond.
type ticking struct {
	clock.Clock
	asked int
}

func (c *ticking) Monotonic() time.Duration {
	c.asked++
	return time.Duration(c.asked) * time.Millisecond
}

// A preview has a tenth of the time, for each form with all samples.
func TestAPreviewHasLessTime(t *testing.T) {
	slow := "{{range .Alerts}}{{range $.Alerts}}{{range $.Alerts}}{{$y := upper .Level}}{{end}}{{end}}{{end}}"
	c := &ticking{Clock: clock.NewSystem()}
	r, err := template.New(c, time.UTC, notify.DialectOf)
	require.NoError(t, err)
	for _, of := range []struct {
		r    *template.Renderer
		most int
	}{{r, 1100}, {r.Quick(), 110}} {
		c.asked = 0
		wrong := of.r.Check(t.Context(), alert.Content{Text: slow})
		require.Len(t, wrong, 1)
		require.Contains(t, wrong[0].Message, "takes too long")
		require.Less(t, c.asked, of.most)
		require.Greater(t, c.asked, of.most/2)
	}
}

// A template that was stored before loops over numbers were refused is filled as it was.
func TestAStoredTemplateMayLoopOverANumber(t *testing.T) {
	out := render(t, "SLACK", "en", alert.Content{Text: "{{range 3}}x{{end}}"}, notifytest.Message())
	require.Equal(t, "xxx", out.Text)
}
