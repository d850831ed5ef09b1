package execution

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// DraftTrials runs drafts of jobs.
type DraftTrials interface {
	// Run returns apperror.KindInvalid for a draft or params that are wrong,
	// apperror.KindTooMany when the node runs as many as it may, and
	// apperror.KindUnavailable on a node that runs none.
	Run(ctx context.Context, draft *entity.Job, params string) (*trial.Result, error)
}

// TrialController serves /jobs/trial.
type TrialController struct {
	trials DraftTrials
	reader request.JobReader
}

// NewTrialController runs drafts that the reader reads.
func NewTrialController(trials DraftTrials, reader request.JobReader) *TrialController {
	return &TrialController{trials: trials, reader: reader}
}

// Run answers POST /jobs/trial.
//
//	@Summary Run a draft of a job once
//	@Description A real run on the node that is asked, for at most 30 seconds, with the secrets and the guards of a stored job. Nothing of it is stored but the entry of the audit log: it is in no ledger, no statistics and no alert, and is not retried. It ends when the caller goes away.
//	@Description The caller needs the permissions to write and to run jobs of the group, and job:command for a command.
//	@Tags jobs
//	@Param body body request.TrialBody true "body"
//	@x-example {"name":"settle orders","jobType":"CUSTOM","jobClass":"noop","params":{"day":"2026-03-01"}}
//	@Success 200 {object} vo.JobTrial
//	@Failure 429 {object} problem.Problem "the node runs as many trials as it may (too_many_trials), or the caller is too fast"
//	@Failure 503 {object} problem.Problem "the node runs no jobs (no_executor), or stops (stopping)"
//	@Router /api/v1/jobs/trial [post]
func (t *TrialController) Run(c *gin.Context) error {
	draft, params, err := t.reader.Trial(c.Request)
	if err != nil {
		return err
	}
	if err := middleware.PermitDefinition(c, draft); err != nil {
		return err
	}
	if err := middleware.Permit(c, permission.JobRun, draft.Group); err != nil {
		return err
	}
	middleware.SetTargetName(c, draft.Name)
	middleware.SetChanges(c, map[string][2]any{"group": {nil, draft.Group}, "jobType": {nil, draft.Type}})
	result, err := t.trials.Run(c.Request.Context(), draft, params)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromJobTrial(result))
}
