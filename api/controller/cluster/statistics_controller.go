package cluster

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	sums "github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// StatisticsService tells what ends add up to.
type StatisticsService interface {
	Statistics(ctx context.Context, q statistics.Query) (statistics.Statistics, error)
	// Today heeds Group, Groups and Zone of the query alone.
	Today(ctx context.Context, q statistics.Query) (statistics.Today, error)
}

// maxTop is the longest list of jobs that stand out.
const maxTop = 100

// StatisticsController serves statistics.
type StatisticsController struct{ Service StatisticsService }

// Statistics answers GET /monitor/statistics.
//
//	@Summary Show what ends of executions add up to
//	@Description At most one of job, group, node and workers; without any, all groups that the caller sees. Only callers who see all groups may ask for a node, or for workers. As CSV it is the lines, or the total where by is left out; with top, it is the jobs.
//	@Produce json,text/csv
//	@Param job query string false "id of a job"
//	@Param group query string false "one group"
//	@Param node query string false "id of a node: what ended there, each shard by itself"
//	@Param workers query string false "a worker group: what ended on its workers, each shard by itself"
//	@Param from query string false "moment, rounded down to an hour; a day before to by default" format(date-time)
//	@Param to query string false "moment, rounded up to an hour; now by default" format(date-time)
//	@Param by query string false "a line for each hour (of the last three days) or day; only the total by default" Enums(HOUR, DAY)
//	@Param timeZone query string false "IANA zone of days; that of the server by default"
//	@Param top query int false "how many of the jobs with the most of topBy" minimum(0) maximum(100) default(0)
//	@Param topBy query string false "what jobs are compared by" Enums(failures, runs, duration, late, skipped, retries) default(failures)
//	@Param format query string false "of the answer" Enums(json, csv) default(json)
//	@Success 200 {object} vo.Statistics
//	@Failure 403 {object} problem.Problem "the caller does not see all groups, and asks for a node or for workers"
//	@Failure 404 {object} problem.Problem "there is no such job"
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/statistics [get]
func (s *StatisticsController) Statistics(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := statistics.Query{
		Job: q.Text("job"), Group: q.Text("group"), Node: q.Text("node"), Workers: q.Text("workers"),
		By:   request.OneOf(q, "by", sums.Hour, sums.Day),
		Zone: q.Zone("timeZone"), Top: q.Int("top", 0, 0, maxTop),
		TopBy: request.OneOf(q, "topBy", repository.TopFailures, repository.TopRuns, repository.TopDuration,
			repository.TopLate, repository.TopSkipped, repository.TopRetries),
		Groups: middleware.VisibleGroups(c),
	}
	format := request.OneOf(q, "format", formatJSON, formatCSV)
	ask.From, ask.To = q.Span()
	q.AtMostOne("job", "group", "node", "workers")
	if err := q.Done(); err != nil {
		return err
	}
	if ask.Node+ask.Workers != "" && ask.Groups != nil {
		return apperror.New(apperror.KindForbidden, "forbidden",
			"the statistics of a node, or of workers, are of all groups; you see only some. Ask for a group or a job")
	}
	found, err := s.Service.Statistics(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	switch answer := vo.FromStatistics(found); {
	case format == formatCSV && ask.Top > 0:
		return reply.CSV(c, "statistics-jobs.csv", topCSV(answer))
	case format == formatCSV:
		return reply.CSV(c, "statistics.csv", linesCSV(answer))
	default:
		return reply.JSON(c, http.StatusOK, answer)
	}
}

// Today answers GET /monitor/today.
//
//	@Summary Compare today with the same hours of the days before
//	@Description Runs, failures and p95 of today up to now, and their medians over at most seven days whose hours are kept (three of them as a rule); days says how many.
//	@Param group query string false "one group; all that the caller sees by default"
//	@Param timeZone query string false "IANA zone of days; that of the server by default"
//	@Success 200 {object} vo.Today
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/today [get]
func (s *StatisticsController) Today(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := statistics.Query{Group: q.Text("group"), Zone: q.Zone("timeZone"), Groups: middleware.VisibleGroups(c)}
	if err := q.Done(); err != nil {
		return err
	}
	found, err := s.Service.Today(c.Request.Context(), ask)
	return reply.Shown(c, found, err, vo.FromToday)
}

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
