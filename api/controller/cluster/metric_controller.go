package cluster

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
)

// MetricService reads time series.
type MetricService interface {
	Metrics(ctx context.Context, q metric.Query) (metric.Answer, error)
}

// The bounds of a step, in seconds: a minute and a week.
const (
	minStep = 60
	maxStep = 7 * 24 * 3600
)

// MetricController serves time series.
type MetricController struct{ metrics MetricService }

// NewMetricController serves the series of a service.
func NewMetricController(metrics MetricService) *MetricController { return &MetricController{metrics} }

// Metrics answers GET /monitor/metrics.
//
//	@Summary Show a time series of the nodes, the groups or the cluster
//	@Description docs/metrics.md lists the names. Values of a minute are kept for two days, those of an hour for retention.metricsDays, those of a day for 400 days at least. Callers who are bound to groups see the series of these groups alone.
//	@Tags monitor
//	@Param name query string true "name of the series, such as executions.ended"
//	@Param from query string false "begin, cut to the step; an hour before the end by default" format(date-time)
//	@Param to query string false "end; now by default" format(date-time)
//	@Param step query int false "width of a point in seconds, a multiple of 60; chosen by the span by default" minimum(60) maximum(604800)
//	@Param nodeId query string false "one node; all by default"
//	@Param group query string false "one group, for series of groups; all that the caller sees by default"
//	@Success 200 {object} vo.MetricSeries
//	@Failure 403 {object} problem.Problem "the series is not of groups, and the caller is bound to groups"
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/metrics [get]
func (m *MetricController) Metrics(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := metric.Query{
		Name: q.Text("name"), Step: time.Duration(q.Int("step", 0, minStep, maxStep)) * time.Second, NodeID: q.Text("nodeId"),
		Group: q.Text("group"), Groups: middleware.VisibleGroups(c),
	}
	ask.From, ask.To = q.Span()
	if err := q.Done(); err != nil {
		return err
	}
	found, err := m.metrics.Metrics(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromMetrics(found))
}
