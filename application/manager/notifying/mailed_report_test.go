package notifying_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/report"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/weekly"
)

// ran stores that runs of a job have ended two days before a moment.
func (o *office) ran(job *entity.Job, at time.Time, success, failed int64) {
	o.T.Helper()
	id, ok := identity.Bytes(job.ID)
	require.True(o.T, ok)
	row := &statistics.StoredRow{Row: statistics.Row{
		Runs: success + failed, Success: success, Failed: failed, DurationMs: 1000 * (success + failed),
	}}
	start := at.AddDate(0, 0, -2).UnixMilli()
	keys := []repository.SumKey{
		{Period: statistics.Day, Start: start, Kind: statistics.KindCluster},
		{Period: statistics.Day, Start: start, Kind: statistics.KindGroup, Name: job.Group},
		{Period: statistics.Day, Start: start, Job: id},
	}
	rows := map[repository.SumKey]*statistics.StoredRow{keys[0]: row, keys[1]: row, keys[2]: row}
	o.Write(o.T, func(ctx context.Context, tx repository.Tx) error { return tx.Statistics.PutSums(ctx, keys, rows) })
}

// report has the weekly report of a Monday at midnight made and sent.
func (o *office) report(at time.Time, language string) []letter {
	o.T.Helper()
	o.Clock.Advance(at.Sub(o.Clock.Now()))
	require.NoError(o.T, report.New(report.Deps{
		Plan:  report.Plan{Channel: "ops", Weekday: time.Monday, Zone: time.UTC, Language: language},
		Store: o.Store, Channels: o.Store, Sums: o.Store.Statistics, Usual: o.Store.Statistics, Jobs: o.Store.Jobs,
		Groups: o.Store, Alerts: o.Store, Letters: o.Store, Clock: o.Clock, Zone: time.UTC, Wake: func() {},
		Logger: slog.New(slog.DiscardHandler), Render: weekly.Render,
	}).RunOnce(o.T.Context()))
	return o.turn(0)
}

// monday is the first one after the clock begins.
var monday = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func TestTheWeeklyReportIsMailedInBothLanguages(t *testing.T) {
	for language, want := range map[string][]string{
		"en": {
			"Scheduler: week of 2026-11-16 to 2026-11-23", "Runs: 10 (0 in the week before)", "80.0 %",
			"settle (default): 2 of 10 runs",
		},
		"zh": {"调度周报：2026-11-16 至 2026-11-23", "运行次数：10（上周 0）", "80.0 %", "10 次运行中失败 2 次"},
	} {
		t.Run(language, func(t *testing.T) {
			o := newOffice(t)
			o.mailbox("ops")
			o.ran(o.Add(t, enginetest.Job("settle", nil)), monday, 8, 2)
			got := o.report(monday, language)
			require.Len(t, got, 1)
			require.Equal(t, []string{"ops@example.com"}, got[0].to)
			require.Equal(t, want[0], got[0].subject)
			for _, text := range want[1:] {
				require.Contains(t, got[0].text, text)
			}
			require.Contains(t, got[0].html, "settle")
		})
	}
}

// Names of jobs, groups, rules and people reach the mails of alerts, of the product and by a template, and the
// weekly report, without a header, an element, or a line that they have made.
func TestHostileNamesReachNoMailAsMoreThanText(t *testing.T) {
	names := []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "a\r\nBcc: victim@evil.example\r\n\r\nowned",
		"</td></table><a href=https://evil.example>x</a>", "{{.URL}}{{range .Alerts}}", "\u202eevil\u202c",
	}
	for _, name := range names {
		o := newOffice(t)
		o.mailbox("ops")
		o.mailbox("own")
		own := alert.Template{
			Head:  alertingtest.Head("template"),
			Title: map[string]string{"en": "{{.Subject}}"}, Text: map[string]string{"en": "{{.Subject}}"},
			HTML: map[string]string{"en": `<p title="{{.Subject}}">{{range .Alerts}}{{.JobName}} {{.RuleName}}{{end}}</p>`},
		}
		own.Name = name
		alertingtest.Set(o.Desk, alert.KindTemplate, &own)
		o.Rule(alert.JobFailed, func(r *alert.Rule) { r.Name = name })
		o.route(func(r *alert.Route) { r.Name, r.Continue = name, true })
		o.route(func(r *alert.Route) {
			r.ID, r.Name, r.Position, r.ChannelIDs, r.TemplateID = "second", "second", 2, []string{"own"}, "template"
		})
		job := o.Add(t, enginetest.Job(name, nil))
		o.End(job, entity.StatusFailed, func(e *entity.Execution) { e.ErrorMessage = name })
		o.ran(job, monday, 1, 1)
		got := o.turn(0)
		require.Len(t, got, 2, "%q", name)
		over := o.report(monday, "en")
		require.NotEmpty(t, over)
		for _, l := range append(got, over...) {
			for _, key := range []string{"Bcc", "Cc", "Reply-To"} {
				require.Empty(t, l.header.Get(key), "%q", name)
			}
			require.NotContains(t, l.subject, "\n")
			for _, mark := range []string{"<script", "<img", "<a href=https://evil", `href="https://evil`} {
				require.NotContains(t, l.html, mark, "%q", name)
			}
			for line := range strings.Lines(l.text) {
				require.NotRegexp(t, `^(Bcc:|owned)`, line, "%q forges a line", name)
			}
			for _, c := range "\u202e\u202c\x00" {
				require.NotContains(t, l.subject+l.text+l.html, string(c), "%q", name)
			}
		}
	}
}
