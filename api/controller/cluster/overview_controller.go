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
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// OverviewService tells the state of everything; nil groups are all.
type OverviewService interface {
	Overview(ctx context.Context, groups []string) (monitor.Overview, error)
}

// LoadService tells how much is planned.
type LoadService interface {
	Load(ctx context.Context, q monitor.LoadQuery) (monitor.Load, error)
}

// The minutes of a load: a day unless asked otherwise, and at most a week.
const (
	loadMinutes    = 1_440
	maxLoadMinutes = 10_080
)

// OverviewController serves what looks over all jobs.
type OverviewController struct {
	Service OverviewService
	Loads   LoadService
}

// Overview answers GET /monitor/overview.
//
//	@Summary Show the state of everything at a glance
//	@Success 200 {object} vo.Overview
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/overview [get]
func (o *OverviewController) Overview(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	found, err := o.Service.Overview(c.Request.Context(), middleware.VisibleGroups(c))
	return reply.Shown(c, found, err, vo.FromOverview)
}

// Load answers GET /schedules/load.
//
//	@Summary Show the planned fires of the enabled jobs, minute by minute
//	@Param from query string false "moment, cut to its minute; now by default" format(date-time)
//	@Param minutes query int false "how many" minimum(1) maximum(10080) default(1440)
//	@Param group query string false "one group; all that the caller sees by default"
//	@Success 200 {object} vo.Load
//	@Router /api/v1/schedules/load [get]
func (o *OverviewController) Load(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := monitor.LoadQuery{
		From: q.Time("from"), Minutes: q.Int("minutes", loadMinutes, 1, maxLoadMinutes), Group: q.Text("group"),
		Groups: middleware.VisibleGroups(c),
	}
	if err := q.Done(); err != nil {
		return err
	}
	load, err := o.Loads.Load(c.Request.Context(), ask)
	return reply.Shown(c, load, err, vo.FromLoad)
}

// The bounds of a step, in seconds: a minute and a week.
const (
	minStep = 60
	maxStep = 7 * 24 * 3600
)

// MetricController serves time series.
type MetricController struct{ Service *metric.MetricService }

// Metrics answers GET /monitor/metrics.
//
//	@Summary Show a time series of the nodes, the groups or the cluster
//	@Description docs/metrics.md lists the names. Values of a minute are kept for two days, those of an hour for retention.metricsDays, those of a day for 400 days at least. Callers who are bound to groups see the series of these groups alone.
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
	found, err := m.Service.Metrics(c.Request.Context(), ask)
	return reply.Shown(c, found, err, vo.FromMetrics)
}

// AsideController serves the rows that were set aside because the store refuses them.
type AsideController struct{ Asides repository.Asides }

// List answers GET /monitor/set-aside.
//
//	@Summary List what the store refuses, newest first
//	@Description Alerts, plans of messages and digests of statistics that the store refuses hold up nothing else. They are kept for a week; counts are all of them.
//	@Param limit query int false "most items" minimum(1) maximum(200) default(50)
//	@Success 200 {object} vo.SetAsides
//	@Router /api/v1/monitor/set-aside [get]
func (a *AsideController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	limit := q.Int("limit", 50, 1, 200)
	if err := q.Done(); err != nil {
		return err
	}
	rows, err := a.Asides.ListAsides(c.Request.Context(), "", limit)
	if err != nil {
		return err
	}
	counts, err := a.Asides.CountAsides(c.Request.Context())
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromAsides(rows, counts))
}
