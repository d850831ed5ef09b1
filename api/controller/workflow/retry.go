package workflow

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

// RetryPlan answers GET /workflow-runs/{id}/retry-plan.
//
//	@Summary Show which steps a retry of a workflow run would repeat, and which results it would reuse
//	@Description Nothing starts. Each step that failed, or did not run because of a failure, is repeated; also those that from names, all that follow a repeated one, and steps with finally.
//	@Param from query string false "steps to repeat whatever they came to, with commas between them" maxlength(9216)
//	@Success 200 {object} vo.WorkflowRetryPlan
//	@Failure 409 {object} problem.Problem "it is not closed, or succeeded and from is empty, or its version or a result is not stored any more"
//	@Failure 422 {object} problem.Problem "from names no step of the run"
//	@Router /api/v1/workflow-runs/{id}/retry-plan [get]
func (r *RunController) RetryPlan(c *gin.Context) error {
	q := request.NewQuery(c.Request.URL.RawQuery)
	from := q.Steps("from")
	if err := q.Done(); err != nil {
		return err
	}
	plan, err := r.Runs.PlanRetry(c.Request.Context(), c.Param("id"), from)
	return reply.Shown(c, plan, err, vo.FromWorkflowRetryPlan)
}

// Retry answers POST /workflow-runs/{id}/retry with a new run.
//
//	@Summary Repeat a workflow run from what failed, or from named steps, as a new run
//	@Description It keeps to the version, the parameters and the planned time of the run. GET …/retry-plan shows first what is repeated and what is reused. The id of the new run is that of its root execution; the run is there as soon as that has started.
//	@Param body body request.WorkflowRetryBody false "body"
//	@x-example {"from":["publish"],"reason":"the shop is up again"}
//	@Success 202 {object} vo.NewExecution
//	@Failure 409 {object} problem.Problem "it is not closed, or succeeded and from is empty, or its version or a result is not stored any more, or a call with the same key is in progress"
//	@Router /api/v1/workflow-runs/{id}/retry [post]
func (r *RunController) Retry(c *gin.Context) error {
	body, err := request.ReadWorkflowRetry(c.Request)
	if err != nil {
		return err
	}
	id, err := r.Runs.Retry(c.Request.Context(), c.Param("id"), body.From, middleware.ActorOf(c))
	if err != nil {
		return err
	}
	did := map[string][2]any{"executionIds": {nil, []string{id}}}
	if len(body.From) > 0 {
		did["from"] = [2]any{nil, body.From}
	}
	if body.Reason != "" {
		did["reason"] = [2]any{nil, body.Reason}
	}
	middleware.SetChanges(c, did)
	return reply.JSON(c, http.StatusAccepted, vo.FromID(id))
}
