package job

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// Spreader tells what a jitter does to the jobs of a minute.
type Spreader interface {
	Spread(ctx context.Context, q monitor.SpreadQuery) (monitor.Spread, error)
}

// SpreadController serves the spread of a minute in which many jobs fire.
type SpreadController struct {
	Plans Spreader
	Bulk  *BulkController
}

// Spread answers POST /schedules/spread.
//
//	@Summary Spread the jobs that fire in a minute by a jitter
//	@Description Each enabled job that fires in the minute gets the jitter, but those with as much, and those whose interval is not longer. A call treats 500 jobs; more says that there are others. One failure does not stop the others. With dryRun nothing is changed.
//	@Param body body request.SpreadBody true "body"
//	@x-example {"minute":"2026-11-23T00:00:00Z","jitterMs":300000,"dryRun":true}
//	@Success 200 {object} vo.Spread
//	@Router /api/v1/schedules/spread [post]
func (s *SpreadController) Spread(c *gin.Context) error {
	body, err := request.ReadSpread(c.Request)
	if err != nil {
		return err
	}
	ctx, jitter := c.Request.Context(), time.Duration(body.JitterMs)*time.Millisecond
	plan, err := s.Plans.Spread(ctx, monitor.SpreadQuery{
		Minute: body.Minute, Jitter: jitter, Group: body.Group, Groups: changeable(c), Most: request.MaxBulk,
	})
	if err != nil {
		return err
	}
	ids := convert.All(plan.Jobs, func(j monitor.SpreadJob) string { return j.ID })
	names, err := s.Bulk.Runs.Names(ctx, ids)
	if err != nil {
		return err
	}
	groups, err := s.Bulk.Scope.Jobs.GroupsOf(ctx, ids)
	if err != nil {
		return err
	}
	answer := vo.FromSpread(plan, jitter, names, groups)
	if answer.DryRun = body.DryRun; !body.DryRun {
		result, err := s.Bulk.treat(c, middleware.Job, permission.JobWrite, treatment{ids: ids, more: plan.More},
			func(ctx context.Context, id string) ([]string, error) {
				return nil, s.Bulk.setJitter(ctx, id, body.JitterMs)
			})
		if err != nil {
			return err
		}
		answer.Result = &result
	}
	return reply.JSON(c, http.StatusOK, answer)
}

// changeable are the groups whose jobs the caller may change; nil is all.
func changeable(c *gin.Context) []string {
	groups := middleware.VisibleGroups(c)
	return slices.DeleteFunc(groups, func(g string) bool { return middleware.Permit(c, permission.JobWrite, g) != nil })
}

// setJitter edits one field of a job, unless somebody edits the job meanwhile.
func (b *BulkController) setJitter(ctx context.Context, id string, ms int64) error {
	job, err := b.Jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	next := *job
	next.Schedule.JitterMs = ms
	_, err = b.Jobs.Replace(ctx, id, &next, job.Version, 0)
	return err
}
