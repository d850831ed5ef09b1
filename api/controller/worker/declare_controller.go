package worker

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Declare answers POST /workers/{id}/jobs.
//
//	@Summary Declare jobs, as a worker
//	@Description Creates the jobs that are not there, as CREATED: a person lets them fire. A job that is there stays as it is, and the answer names the fields that differ. The call may be repeated. The worker group needs declare.
//	@Param Authorization header string true "Bearer and the token of the worker group"
//	@Param body body request.WorkerJobs true "body"
//	@x-example {"epoch":1,"jobs":[{"name":"settle orders","jobClass":"settle","schedule":{"cronExpression":"0 0 2 * * ?"}}]}
//	@Success 200 {object} vo.WorkerDeclared
//	@Failure 401 {object} problem.Problem "not a token of a worker group"
//	@Failure 403 {object} problem.Problem "the worker is of another worker group, or its group may not declare jobs (declare_not_allowed)"
//	@Failure 409 {object} problem.Problem "this life of the worker is over (epoch_lost)"
//	@Failure 429 {object} problem.Problem "too many declarations at once: wait for Retry-After"
//	@Router /api/v1/workers/{id}/jobs [post]
func (p *ProtocolController) Declare(c *gin.Context) error {
	token, err := p.enter(c)
	if err != nil {
		return err
	}
	group, err := p.Workers.MayDeclare(c.Request.Context(), token.Group)
	if err != nil {
		return err
	}
	epoch, jobs, err := p.Reader.Declared(c.Request, group)
	if err != nil {
		return err
	}
	wrong, err := p.Workers.Undeclarable(c.Request.Context(), group, c.Param("id"), epoch,
		convert.All(jobs, func(d definition.Definition) *entity.Job { return d.Job }))
	if err != nil {
		return err
	}
	for i := range jobs {
		jobs[i].Wrong = append(jobs[i].Wrong, wrong[i]...)
	}
	done, err := p.Definitions.Declare(c.Request.Context(), jobs)
	for _, one := range done {
		if one.Outcome == definition.OutcomeCreated {
			job := one.Change.Job()
			middleware.AddPart(c, job.ID, job.Name, map[string][2]any{"action": {nil, definition.ActionCreate}})
		}
	}
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromDeclared(done))
}
