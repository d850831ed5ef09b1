package weekly_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/weekly"
)

func week() alert.WeeklyReport {
	monday := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	return alert.WeeklyReport{
		From: monday.AddDate(0, 0, -7), To: monday,
		Total:   alert.ReportSums{Runs: 1_000_000, Success: 999_999, Failures: 1, Skipped: 3},
		Before:  alert.ReportSums{Runs: 200, Success: 90, Failures: 10, Cancelled: 100},
		Groups:  []alert.ReportGroup{{Name: "pay", Total: alert.ReportSums{Runs: 5, Success: 5}}},
		Failing: []alert.ReportJob{{Name: "<b>settle</b>\r\nBcc: x", Group: "pay", Runs: 7, Failures: 2}},
		Slow:    []alert.ReportSlow{{Name: "close", Runs: 3, Mean: 90 * time.Second, Usual: 1500 * time.Millisecond}},
		Alerts:  []alert.AlertCount{{Type: alert.JobFailed, Level: alert.Warning, Count: 12}},
		URL:     "https://jobs.example.org/",
	}
}

func TestTheReportIsWrittenInBothLanguages(t *testing.T) {
	for language, want := range map[string]struct {
		title string
		text  []string
	}{
		"en": {"Scheduler: week of 2026-11-09 to 2026-11-16", []string{
			"Runs: 1000000 (200 in the week before)", "> 99.9 % (90.0 % in the week before, +10.0 points)",
			"pay: 5 runs (0), 100.0 % successful (–)", "<b>settle</b> Bcc: x (pay): 2 of 7 runs",
			"close: 1m30s on average, usually 1.5s", "JOB_FAILED, WARNING: 12",
		}},
		"zh": {"调度周报：2026-11-09 至 2026-11-16", []string{
			"运行次数：1000000（上周 200）", "7 次运行中失败 2 次", "平均 1m30s，平时 1.5s", "JOB_FAILED，WARNING：12",
		}},
	} {
		c, err := weekly.Render(week(), language)
		require.NoError(t, err)
		require.Equal(t, want.title, c.Title)
		for _, line := range want.text {
			require.Contains(t, c.Text, line, language)
		}
		require.Contains(t, c.HTML, "&lt;b&gt;settle&lt;/b&gt;", "names are no markup")
		require.NotContains(t, c.Text, "\r")
		require.Contains(t, c.HTML, `href="https://jobs.example.org/"`)
		require.Equal(t, strings.Count(c.HTML, "<table"), strings.Count(c.HTML, "</table>"))
	}
	c, err := weekly.Render(alert.WeeklyReport{}, "fr")
	require.NoError(t, err)
	require.Contains(t, c.Text, "No alerts.")
	require.Contains(t, c.Text, "Success rate: – (– in the week before, – points)")
	require.NotContains(t, c.HTML, "<h3>Groups")
}
