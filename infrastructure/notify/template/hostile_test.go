package template_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// hostile is a message in which every text is what somebody else chose.
func hostile(text string) alert.Message {
	m := notifytest.Message()
	a := &m.Alerts[0]
	a.JobName, a.RuleName, a.Group, a.NodeID, a.ExecutionID, a.Summary = text, text, text, text, text, text
	a.Owner = text
	a.Type, a.Level, a.Status, a.URL, a.RunbookURL = text, text, text, text, text
	a.Labels, m.GroupLabels, m.URL, m.Level = map[string]string{text: text}, map[string]string{text: text}, text, text
	return m
}

// marks are more of what some dialects would obey, in texts that hold no mark of a template.
func marks() map[alert.ChannelType][]string {
	return map[alert.ChannelType][]string{
		"DINGTALK": {"<", "@", "`", "#"}, "WECOM": {"<", "@"}, "TELEGRAM": {"<script", "<img", "<a href=\"tg", "@", "</a><b>"},
	}
}

// Values are escaped wherever they stand, in the texts of the product and in those of users.
func TestHostileValuesAreEscaped(t *testing.T) {
	own := alert.Content{
		Title: `{{.Subject}}`, Text: `{{.Subject}}`,
		HTML: `<p title="{{.Subject}}">{{.Subject}}</p><a href="{{.URL}}">{{bold .Subject}} {{link .Subject .URL}}</a>`,
		Markdown: `{{.Subject}} {{bold .Subject}} {{link .Subject .URL}} {{upper .Subject}} {{trunc 9 .Subject}} ` +
			`{{$x := print .Subject "x"}}{{$x}} {{bold (bold .Subject)}} {{print (bold .Subject)}}`,
	}
	for _, template := range []alert.Content{{}, own} {
		for _, text := range append(notifytest.Hostile(), "javascript:alert(1)", strings.Repeat("长<", 9000)) {
			for _, e := range notifytest.HTTPExamples(t) {
				if e.Program {
					continue
				}
				out, err := renderer(t).Render(t.Context(), e.Type, "en", template, hostile(text))
				require.NoError(t, err)
				require.NotContains(t, out.Title, "\n")
				for _, mark := range append(marks()[e.Type], e.Calls...) {
					require.NotContains(t, out.Markdown, mark, "%s: %q", e.Type, text)
				}
				for _, mark := range []string{"<script", "<img", "href=\"javascript", "<at", "href=\"tg:"} {
					require.NotContains(t, out.HTML, mark, "%q", text)
				}
				require.NotContains(t, out.Text, "\nBcc:", "a second line is indented")
				for _, c := range "\x00\x1b\u202e\u2066" {
					require.NotContains(t, out.Title+out.Text+out.Markdown, string(c))
				}
			}
		}
	}
}

// FuzzTemplate: whatever a template says, it is refused, or it makes a text within its bounds.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"{{.Level}}", "{{range .Alerts}}{{.JobName}}{{end}}", "{{range 1000000}}{{end}}", "{{print 1 2 3}}",
		"{{with $x := 3}}{{$x}}{{else}}{{break}}{{end}}", "{{(index .Alerts 0).Labels.a}}", "{{nil}}", "{{.}}",
		"{{eq .Alerts .Alerts}}", "{{index .Alerts -1}}", "{{len nil}}", "{{- \"x\" -}}",
		"{{range $i, $c := \"ab\"}}{{$i}}{{end}}",
	} {
		f.Add(seed)
	}
	r := renderer(f)
	f.Fuzz(func(t *testing.T, source string) {
		own := alert.Content{Title: source, Text: source, HTML: source, Markdown: source}
		out, _ := r.Render(t.Context(), "SLACK", "en", own, notifytest.Message())
		for _, text := range []string{out.Title, out.Text, out.HTML, out.Markdown} {
			require.LessOrEqual(t, len(text), 1<<20)
		}
		r.Check(t.Context(), own)
	})
}
