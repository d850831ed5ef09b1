package controller

import (
	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// RunReports takes what the targets of asynchronous calls say.
type RunReports interface {
	// Authorize returns fault.KindUnauthenticated when the token is not that of
	// an attempt that waits here.
	Authorize(executionID, token string) error
	// Report returns fault.KindUnauthenticated when the token is not that of an
	// attempt that waits here, and fault.KindConflict when its end was reported.
	Report(executionID, token string, report entity.RunReport) error
}

// ReportController serves /executions/{id}/report. Its callers have no account:
// the token of the attempt is what lets them in.
type ReportController struct {
	runs  RunReports
	peers Peers
}

// NewReportController serves the attempts of a registry. Reports about those
// of other nodes are passed on to them; peers is nil where there are none.
func NewReportController(runs RunReports, peers Peers) *ReportController {
	return &ReportController{runs: runs, peers: peers}
}

// Report answers POST /executions/{id}/report.
//
//	@Summary Report the progress or the end of an asynchronous call
//	@Description For the targets of asynchronous calls: the token of the attempt lets them in. status ends the attempt; without it the run goes on.
//	@Tags executions
//	@Param id path string true "id of the execution"
//	@Param X-Scheduler-Run-Token header string true "the token that the call was made with"
//	@Param body body request.ReportBody true "body"
//	@x-example {"status":"SUCCESS","result":"12 orders settled"}
//	@Success 204 "done, no body"
//	@Failure 401 {object} problem.Problem "not the token of an attempt that waits here"
//	@Failure 409 {object} problem.Problem "the end of the attempt was reported before"
//	@Router /api/v1/executions/{id}/report [post]
func (r *ReportController) Report(c *gin.Context) error {
	id, token := c.Param("id"), c.GetHeader(request.RunToken)
	if err := r.runs.Authorize(id, token); err != nil { // before a byte of the body is read
		if passed, failed := r.passOn(c, id, token); passed || failed != nil {
			return failed
		}
		return err
	}
	report, err := request.ReadReport(c.Request)
	if err != nil {
		return err
	}
	if err := r.runs.Report(id, token, report); err != nil {
		return err
	}
	return noContent(c)
}
