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
