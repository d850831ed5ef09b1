package execution

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"

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
	Runs RunReports
	// Peers get reports about executions that only nodes of the former release keep; nil without other nodes.
	Peers Peers
}

// Report answers POST /executions/{id}/report.
//
//	@Summary Report the progress or the end of an asynchronous call
//	@Description For the targets of asynchronous calls, at any node: the token of the attempt lets them in. status ends the attempt; without it the run goes on. A report answered with 204 is stored.
//	@Description 409 run_over: the attempt is over, which a repeated report of its end meets, too. 409 run_cancelled: the run was cancelled. On both the target stops.
//	@Param X-Scheduler-Run-Token header string true "the token that the call was made with"
//	@Param body body request.ReportBody true "body"
//	@x-example {"status":"SUCCESS","result":"12 orders settled"}
//	@Failure 401 {object} problem.Problem "not the token of an attempt of the execution"
//	@Failure 409 {object} problem.Problem "the attempt is over (run_over), or the run was cancelled (run_cancelled)"
//	@Router /api/v1/executions/{id}/report [post]
func (r *ReportController) Report(c *gin.Context) error {
	id, token := c.Param("id"), c.GetHeader(request.RunToken)
	if err := r.Runs.Authorize(c.Request.Context(), id, token); err != nil { // before a byte of the body is read
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
	return reply.Done(c, r.Runs.Report(c.Request.Context(), id, token, report))
}

// Peers knows the other nodes.
type Peers interface {
	// HolderOf returns the address of the node that runs an execution, such as
	// http://10.0.0.7:8080. ok is true for other nodes of the former release that can
	// be reached: they take reports about their own executions alone.
	HolderOf(ctx context.Context, executionID string) (address string, ok bool)
	// Transport carries calls to other nodes.
	Transport() http.RoundTripper
}

// relayed marks a report that another node passed on, so that none goes round
// in circles.
const relayed = "X-Scheduler-Relayed"

// maxRunToken bounds what is taken for a run token, in bytes.
const maxRunToken = 100

// passOn hands a report to the node of the former release that holds the attempt;
// passed is false if none does. The token is judged there.
func (r *ReportController) passOn(c *gin.Context, id, token string) (passed bool, err error) {
	if r.Peers == nil || c.GetHeader(relayed) != "" || token == "" || len(token) > maxRunToken {
		return false, nil
	}
	address, ok := r.Peers.HolderOf(c.Request.Context(), id)
	if !ok {
		return false, nil
	}
	target, err := url.Parse(address)
	if err != nil {
		return false, err
	}
	proxy := &httputil.ReverseProxy{
		Transport: r.Peers.Transport(),
		ErrorLog:  log.New(io.Discard, "", 0), // the error is answered
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Header.Set(relayed, "1")
			p.Out.Header.Del("Authorization")
			p.Out.Header.Del("Cookie")
		},
		ModifyResponse: func(res *http.Response) error {
			for name := range c.Writer.Header() {
				res.Header.Del(name) // this node has set its own
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, failed error) { err = failed },
	}
	proxy.ServeHTTP(c.Writer, c.Request)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return false, apperror.New(apperror.KindTooLarge, "body_too_large", "the body is over the limit of 1 MiB")
	case err != nil:
		return false, &apperror.Error{
			Kind: apperror.KindUnavailable, Code: "node_unavailable", RetryAfterSec: 2,
			Message: "the node that runs this attempt does not answer, try again",
		}
	}
	return true, nil
}
