package execution

import (
	"encoding/json"
	"fmt"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// TrialController serves /jobs/trial.
type TrialController struct {
	Trials *trial.Trials
	Reader request.JobReader
}

// auditParams is how many bytes of params the audit log keeps whole.
const auditParams = 64 << 10

// auditOfTrial is what the audit log keeps of a trial: the whole draft, because nothing else keeps it. Secrets are
// hidden as in the entry of a stored job.
func auditOfTrial(draft *entity.Job, params string) map[string][2]any {
	did := map[string][2]any{
		"group": {nil, draft.Group}, "jobType": {nil, draft.Type}, "jobClass": {nil, draft.Class},
	}
	var data, given map[string]any
	if json.Unmarshal([]byte(draft.Data), &data) == nil && len(data) > 0 {
		did[validation.DataField] = [2]any{nil, sensitive.HideIn(data)}
	}
	switch {
	case len(params) > auditParams:
		did["params"] = [2]any{nil, fmt.Sprintf("too long to be kept here: %d bytes", len(params))}
	case json.Unmarshal([]byte(params), &given) == nil && len(given) > 0:
		did["params"] = [2]any{nil, sensitive.HideAll(given)}
	}
	return did
}

// Run answers POST /jobs/trial.
//
//	@Summary Run a draft of a job once
//	@Description A real run on the node that is asked, for at most 30 seconds, with the secrets and the guards of a stored job. Nothing of it is stored but the entry of the audit log: it is in no ledger, no statistics and no alert, and is not retried. It ends when the caller goes away.
//	@Description The caller needs the permissions to write and to run jobs of the group, and job:command for a command.
//	@Param body body request.TrialBody true "body"
//	@x-example {"name":"settle orders","jobType":"CUSTOM","jobClass":"noop","params":{"day":"2026-03-01"}}
//	@Success 200 {object} vo.JobTrial
//	@Failure 429 {object} problem.Problem "you have two trials under way, or the node runs as many as it may (too_many_trials), or the caller is too fast"
//	@Failure 503 {object} problem.Problem "the node runs no jobs (no_executor), or stops (stopping)"
//	@Router /api/v1/jobs/trial [post]
func (t *TrialController) Run(c *gin.Context) error {
	draft, params, err := t.Reader.Trial(c.Request)
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
	middleware.SetChanges(c, auditOfTrial(draft, params))
	who, _ := middleware.CallerOf(c)
	result, err := t.Trials.Run(c.Request.Context(), who.User.ID, draft, params)
	return reply.Shown(c, result, err, vo.FromJobTrial)
}
