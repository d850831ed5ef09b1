package cluster

import (
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

// The formats of statistics.
const (
	formatJSON = "json"
	formatCSV  = "csv"
)

// linesCSV are the lines of statistics as a table; where there are none, their total.
func linesCSV(s vo.Statistics) [][]string {
	rows := [][]string{{
		"start", "timeZone", "runs", "success", "failed", "timeout", "cancelled", "dead", "successRate", "skipped",
		"retries", "durationCount", "durationMeanMs", "durationP50Ms", "durationP95Ms", "durationP99Ms",
		"latenessCount", "latenessMeanMs", "latenessP50Ms", "latenessP95Ms", "latenessP99Ms", "lateRuns",
	}}
	lines := s.Items
	if len(lines) == 0 {
		lines = []vo.StatisticsLine{{Start: s.From, Figures: s.Total}}
	}
	for _, l := range lines {
		row := []string{
			l.Start.String(), s.TimeZone, whole(l.Runs), whole(l.Success), whole(l.Failed), whole(l.Timeout),
			whole(l.Cancelled), whole(l.Dead), share(l.SuccessRate), whole(l.Skipped), whole(l.Retries),
		}
		row = append(row, quantilesCSV(l.Duration)...)
		row = append(row, quantilesCSV(l.Lateness)...)
		rows = append(rows, append(row, whole(l.LateRuns)))
	}
	return rows
}

// topCSV are the jobs that stand out, as a table.
func topCSV(s vo.Statistics) [][]string {
	rows := [][]string{{
		"jobId", "name", "group", "runs", "success", "failures", "skipped", "retries", "durationMs", "lateRuns",
	}}
	for _, t := range s.Top {
		rows = append(rows, []string{
			t.JobID, text(t.Name), text(t.Group), whole(t.Runs), whole(t.Success), whole(t.Failures), whole(t.Skipped),
			whole(t.Retries), whole(t.DurationMs), whole(t.LateRuns),
		})
	}
	return rows
}

func quantilesCSV(q vo.Quantiles) []string {
	return []string{whole(q.Count), share(q.Mean), optional(q.P50), optional(q.P95), optional(q.P99)}
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func optional(n *int64) string {
	if n == nil {
		return ""
	}
	return whole(*n)
}

func share(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return reply.Cell(*s)
}
