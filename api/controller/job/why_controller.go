package job

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
)

// ExplainService answers why a job did, or did not, run.
type ExplainService interface {
	Explain(ctx context.Context, q explain.Query) (*explain.Answer, error)
}

// WhyController serves explanations.
type WhyController struct{ explainer ExplainService }

// NewWhyController serves what a service explains.
func NewWhyController(s ExplainService) *WhyController { return &WhyController{s} }

// Why answers GET /jobs/{id}/why.
//
//	@Summary Explain why a job did, or did not, fire at a moment
//	@Description One answer from the fire ledger, the definition of that time, pauses, limits, nodes and alerts. It is about the fire of that very moment, the range of skipped fires that holds it, or the first fire of its minute; without a moment about the latest fire. Facts about runs need execution:read, those about alerts alert:read.
//	@Tags schedules
//	@Param id path string true "id of the job, also of a deleted one"
//	@Param at query string false "moment, RFC 3339; the latest fire by default" format(date-time)
//	@Param timeZone query string false "IANA zone of the times in texts; that of the job by default"
//	@Success 200 {object} vo.Explanation
//	@Failure 404 {object} problem.Problem "there was never such a job"
//	@Failure 422 {object} problem.Problem
//	@Router /api/v1/jobs/{id}/why [get]
func (w *WhyController) Why(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	ask := explain.Query{JobID: c.Param("id"), At: q.Time("at"), Zone: q.Zone("timeZone")}
	if err := q.Done(); err != nil {
		return err
	}
	if who, ok := middleware.CallerOf(c); ok {
		ask.SeesRuns = permission.Allows(who, permission.ExecutionRead)
		ask.SeesAlerts = permission.Allows(who, permission.AlertRead)
	}
	answer, err := w.explainer.Explain(c.Request.Context(), ask)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromAnswer(answer))
}
