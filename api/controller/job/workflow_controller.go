package job

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
)

// WorkflowController answers calls on definitions of workflows. It is safe for concurrent use.
type WorkflowController struct {
	Jobs   JobService
	Reader request.WorkflowReader
}

// Validate answers POST /workflows/validate.
//
//	@Summary Check workflows, and store nothing
//	@Description The body is a document, or one workflow with name and steps, as YAML or JSON. All faults are told at once, each with its field and a remedy. Jobs, secrets, channels and worker groups are looked up: a job that the document would make is not there yet, and a fault.
//	@Accept json
//	@Accept application/yaml
//	@Param body body object true "body"
//	@x-example {"name":"nightly","steps":[{"name":"load","custom":{"jobClass":"noop"}}]}
//	@Success 200 {object} vo.WorkflowChecks
//	@Router /api/v1/workflows/validate [post]
func (w *WorkflowController) Validate(c *gin.Context) error {
	all, err := w.Reader.Validate(c.Request)
	if err != nil {
		return err
	}
	out := vo.WorkflowChecks{Items: make([]vo.WorkflowCheck, len(all))}
	for i := range all {
		one := &all[i]
		if err := middleware.PermitDefinition(c, one.Job); err != nil {
			return err
		}
		faults := one.Faults
		if len(faults) == 0 {
			wrong, err := w.Jobs.CheckNames(c.Request.Context(), one.Job)
			if err != nil {
				return err
			}
			faults = one.Places(wrong)
		}
		out.Items[i] = vo.NewWorkflowCheck(one.Job, len(one.Definition.Steps), faults, one.Warnings)
	}
	c.JSON(http.StatusOK, out)
	return nil
}
