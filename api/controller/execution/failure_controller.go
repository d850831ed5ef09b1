package execution

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// FailureService tells what failed.
type FailureService interface {
	Failures(ctx context.Context, f repository.FailureFilter) (execution.Failures, error)
	Names(ctx context.Context, jobIDs []string) (map[string]string, error)
}

// FailureController serves what failed of late.
type FailureController struct{ failures FailureService }

// NewFailureController serves the failures of a service.
func NewFailureController(failures FailureService) *FailureController {
	return &FailureController{failures}
}

// List answers GET /monitor/failures.
//
//	@Summary Count the newest failures by cause
//	@Description FAILED, TIMEOUT and DEAD executions by their reason, most first. from and to bound scheduledTime. The look back is bounded: complete says whether it reached from.
//	@Tags monitor
//	@Param from query string false "first moment, RFC 3339; a day before to by default" format(date-time)
//	@Param to query string false "end, exclusive, RFC 3339; now by default" format(date-time)
//	@Success 200 {object} vo.Failures
//	@Success 304 "If-None-Match names this answer"
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/monitor/failures [get]
func (f *FailureController) List(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := repository.FailureFilter{Groups: middleware.VisibleGroups(c)}
	ask.From, ask.To = q.Span()
	if err := q.Done(); err != nil {
		return err
	}
	found, err := f.failures.Failures(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	var jobs []execution.FailureJob
	for _, cause := range found.Causes {
		jobs = append(jobs, cause.Jobs...)
	}
	names, err := f.failures.Names(c.Request.Context(), distinct(jobs, func(j execution.FailureJob) string {
		return j.ID
	}))
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromFailures(found, names))
}
