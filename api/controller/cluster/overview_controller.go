package cluster

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
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
	overview OverviewService
	loads    LoadService
}

// NewOverviewController serves the views of services.
func NewOverviewController(overview OverviewService, loads LoadService) *OverviewController {
	return &OverviewController{overview, loads}
}

// Overview answers GET /monitor/overview.
//
//	@Summary Show the state of everything at a glance
//	@Tags monitor
//	@Success 200 {object} vo.Overview
//	@Success 304 "If-None-Match names this answer"
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/overview [get]
func (o *OverviewController) Overview(c *gin.Context) error {
	if err := request.NewQuery(c.Request.URL.RawQuery).Done(); err != nil {
		return err
	}
	found, err := o.overview.Overview(c.Request.Context(), middleware.VisibleGroups(c))
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromOverview(found))
}

// Load answers GET /schedules/load.
//
//	@Summary Show the planned fires of the enabled jobs, minute by minute
//	@Tags schedules
//	@Param from query string false "moment, cut to its minute; now by default" format(date-time)
//	@Param minutes query int false "how many" minimum(1) maximum(10080) default(1440)
//	@Param group query string false "one group; all that the caller sees by default"
//	@Success 200 {object} vo.Load
//	@Success 304 "If-None-Match names this answer"
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
	load, err := o.loads.Load(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromLoad(load))
}
