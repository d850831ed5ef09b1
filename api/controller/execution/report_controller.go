package execution

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// RunReports takes what the targets of asynchronous calls say.
type RunReports interface {
	// Authorize returns apperror.KindUnauthenticated when the token is not that of
	// an attempt of the execution.
	Authorize(ctx context.Context, executionID, token string) error
	// Report returns when the store has the report: apperror.KindUnauthenticated for
	// a wrong token, apperror.KindConflict when the attempt is over.
	Report(ctx context.Context, executionID, token string, report entity.RunReport) error
}

// ReportController serves /executions/{id}/report. Its callers have no account:
// the token of the attempt is what lets them in.
type ReportController struct {
	runs  RunReports
	peers Peers
}

// NewReportController takes reports about the executions of every node. Only nodes of
// the former release keep executions that no other node knows: it passes reports about
// those on to them. Without other nodes peers is nil.
func NewReportController(runs RunReports, peers Peers) *ReportController {
	return &ReportController{runs: runs, peers: peers}
}

// Report answers POST /executions/{id}/report.
//
//	@Summary Report the progress or the end of an asynchronous call
//	@Description For the targets of asynchronous calls, at any node: the token of the attempt lets them in. status ends the attempt; without it the run goes on. What was answered with 204 is stored.
//	@Description 409 run_over: the attempt is over, which a repeated report of its end meets, too. 409 run_cancelled: the run was cancelled. On both the target stops.
//	@Tags executions
//	@Param id path string true "id of the execution"
//	@Param X-Scheduler-Run-Token header string true "the token that the call was made with"
//	@Param body body request.ReportBody true "body"
//	@x-example {"status":"SUCCESS","result":"12 orders settled"}
//	@Success 204 "done, no body"
//	@Failure 401 {object} problem.Problem "not the token of an attempt of the execution"
//	@Failure 409 {object} problem.Problem "the attempt is over (run_over), or the run was cancelled (run_cancelled)"
//	@Router /api/v1/executions/{id}/report [post]
func (r *ReportController) Report(c *gin.Context) error {
	id, token := c.Param("id"), c.GetHeader(request.RunToken)
	if err := r.runs.Authorize(c.Request.Context(), id, token); err != nil { // before a byte of the body is read
		if !apperror.Is(err, apperror.KindUnauthenticated) {
			return err
		}
		if passed, failed := r.passOn(c, id, token); passed || failed != nil {
			return failed
		}
		return err
	}
	report, err := request.ReadReport(c.Request)
	if err != nil {
		return err
	}
	if err := r.runs.Report(c.Request.Context(), id, token, report); err != nil {
		return err
	}
	return reply.NoContent(c)
}
