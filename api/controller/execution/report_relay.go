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

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

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
	if r.peers == nil || c.GetHeader(relayed) != "" || token == "" || len(token) > maxRunToken {
		return false, nil
	}
	address, ok := r.peers.HolderOf(c.Request.Context(), id)
	if !ok {
		return false, nil
	}
	target, err := url.Parse(address)
	if err != nil {
		return false, err
	}
	proxy := &httputil.ReverseProxy{
		Transport: r.peers.Transport(),
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
