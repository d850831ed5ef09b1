// Package worker translates between HTTP and workers: the protocol that they speak (docs/workers/protocol.md), and
// what people see and change of them. Controllers hold no state of their own and are safe for concurrent use.
package worker

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/gateway"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	"github.com/platform-scheduler/platform-scheduler/application/service/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	entityworker "github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Gateway connects workers with the store.
type Gateway interface {
	Poll(ctx context.Context, c gateway.Call) (gateway.Answer, error)
	Report(ctx context.Context, workerID string, epoch int64, items []gateway.Item) ([]gateway.Receipt, error)
	// Left ends what is parked of a life that has left.
	Left(workerID string, epoch int64)
	// Timing is what workers are told now.
	Timing() delivery.Timing
}

// Tokens finds out of which worker group a token is.
type Tokens interface {
	// Authenticate returns apperror.KindUnauthenticated for an unknown token.
	Authenticate(ctx context.Context, token string) (entityworker.Token, error)
}

const (
	// answerBytes bounds the runs of an answer, so that the whole has at most 1 MiB.
	answerBytes = 1<<20 - 64<<10
	// pollGrace is how long a parked call is kept beyond its wait.
	pollGrace = 10 * time.Second
)

// ProtocolController serves the calls of workers. The token of their worker group is what lets them in, and it speaks
// for the workers of that group alone.
type ProtocolController struct {
	Workers *worker.WorkerService
	Tokens  Tokens
	// Gateway is nil on a node that serves no workers.
	Gateway Gateway
	Clock   clock.Clock
	// Reader reads the jobs that workers declare, and Definitions creates them.
	Reader      request.JobReader
	Definitions *definition.DefinitionService
	// Connected is told of each call whose token is good, and false where there is no room for its connection; may be nil.
	Connected func(ctx context.Context) bool
	// OverTLS reports whether a request came over TLS. AllowPlain takes those of other machines that did not.
	OverTLS    func(c *gin.Context) bool
	AllowPlain bool
}

// enter finds out who calls, before a byte of the body is read. A worker that the path names must be of the group.
func (p *ProtocolController) enter(c *gin.Context) (entityworker.Token, error) {
	if from, err := netip.ParseAddr(c.ClientIP()); !p.AllowPlain && !p.OverTLS(c) && (err != nil || !from.IsLoopback()) {
		return entityworker.Token{}, apperror.New(apperror.KindForbidden, "plain_http", "workers of other machines call "+
			"over HTTPS: call the https address of the server, or set worker.allowPlain (PS_WORKER_ALLOW_PLAIN) there")
	}
	text, err := middleware.Bearer(c.Request.Header)
	if err != nil {
		return entityworker.Token{}, apperror.New(apperror.KindUnauthenticated, "no_token",
			"send the token of the worker group as Authorization: Bearer psw_…")
	}
	token, err := p.Tokens.Authenticate(c.Request.Context(), text)
	if err != nil {
		return token, err
	}
	if p.Connected != nil && !p.Connected(c.Request.Context()) {
		c.Header("Connection", "close")
		return token, apperror.New(apperror.KindUnavailable, "too_many_connections",
			"this node has as many connections of workers as worker.maxConnections allows; call another one")
	}
	middleware.SetWorkerGroup(c, token.Group, token.ID)
	if id := c.Param("id"); id != "" {
		if err := worker.Speaks(token.Group, id); err != nil {
			return token, err
		}
	}
	if p.Gateway == nil {
		return token, apperror.New(apperror.KindUnavailable, "no_gateway", "this node serves no workers; call another one")
	}
	return token, nil
}

// Register answers POST /workers.
//
//	@Summary Register a worker
//	@Description For programs that run jobs: the token of their worker group lets them in. Fields that are not known are passed over. The same bootId again gets the same epoch, so the call may be repeated.
//	@Param Authorization header string true "Bearer and the token of the worker group"
//	@Param body body request.WorkerRegistration true "body"
//	@x-example {"protocol":1,"group":"shop","instance":"shop-7c9","bootId":"b-81f2","slots":8,"handlers":["settle"]}
//	@Success 201 {object} vo.WorkerRegistered
//	@Failure 401 {object} problem.Problem "not a token of a worker group"
//	@Failure 403 {object} problem.Problem "the token is of another worker group"
//	@Failure 409 {object} problem.Problem "the instance name is in use (instance_in_use), or the version of the protocol is not spoken here (protocol_unknown)"
//	@Failure 429 {object} problem.Problem "too many workers of the group, or registrations at once: wait for Retry-After"
//	@Router /api/v1/workers [post]
func (p *ProtocolController) Register(c *gin.Context) error {
	token, err := p.enter(c)
	if err != nil {
		return err
	}
	n, err := request.ReadWorkerRegistration(c.Request)
	if err != nil {
		return err
	}
	w, err := p.Workers.Register(c.Request.Context(), token.Group, n)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusCreated, vo.FromRegistered(w, worker.Protocol))
}

// Poll answers POST /workers/{id}/poll.
//
//	@Summary Ask for runs, as a worker
//	@Description A beat, the free slots and all that runs. The call is parked until there is something, for waitMs at most. A newer one ends it.
//	@Param Authorization header string true "Bearer and the token of the worker group"
//	@Param body body request.WorkerPoll true "body"
//	@x-example {"epoch":1,"seq":2,"ack":1,"free":8,"running":[]}
//	@Success 200 {object} vo.WorkerAnswer
//	@Failure 401 {object} problem.Problem "not a token of a worker group"
//	@Failure 403 {object} problem.Problem "the worker is of another worker group"
//	@Failure 409 {object} problem.Problem "this life of the worker is over (epoch_lost): stop everything and register anew"
//	@Failure 429 {object} problem.Problem "too many unknown tokens at once: wait for Retry-After"
//	@Router /api/v1/workers/{id}/poll [post]
func (p *ProtocolController) Poll(c *gin.Context) error {
	if _, err := p.enter(c); err != nil {
		return err
	}
	timing := p.Gateway.Timing()
	call, err := request.ReadWorkerPoll(c.Request, c.Param("id"), min(timing.Beat, request.MaxWait*time.Millisecond))
	if err != nil {
		return err
	}
	// The time that the server gives a request to arrive must not end a call that waits. A writer without deadlines is
	// a test's.
	_ = http.NewResponseController(c.Writer).SetReadDeadline(p.Clock.Now().Add(call.Wait + pollGrace))
	call.Size, call.Most = vo.DeliveryBytes, answerBytes
	answer, err := p.Gateway.Poll(c.Request.Context(), call)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromPollAnswer(answer, cmp.Or(answer.Beat, timing.Beat)))
}

// Report answers POST /workers/{id}/report.
//
//	@Summary Report lines, progress and ends of runs, as a worker
//	@Description At most 500 items. The answer has a receipt for each end, within two seconds: RETRY is to be sent again.
//	@Param Authorization header string true "Bearer and the token of the worker group"
//	@Param body body request.WorkerReport true "body"
//	@x-example {"epoch":1,"items":[{"executionId":"0193b2c4","token":7,"attempt":1,"end":{"status":"SUCCESS","durationMs":20}}]}
//	@Success 200 {object} vo.WorkerReceipts
//	@Failure 401 {object} problem.Problem "not a token of a worker group"
//	@Failure 403 {object} problem.Problem "the worker is of another worker group"
//	@Failure 409 {object} problem.Problem "this life of the worker is over (epoch_lost)"
//	@Failure 429 {object} problem.Problem "too many unknown tokens at once: wait for Retry-After"
//	@Router /api/v1/workers/{id}/report [post]
func (p *ProtocolController) Report(c *gin.Context) error {
	if _, err := p.enter(c); err != nil {
		return err
	}
	epoch, items, err := request.ReadWorkerReport(c.Request)
	if err != nil {
		return err
	}
	receipts, err := p.Gateway.Report(c.Request.Context(), c.Param("id"), epoch, items)
	if err != nil {
		return err
	}
	return reply.JSON(c, http.StatusOK, vo.FromReceipts(receipts))
}

// Leave answers POST /workers/{id}/leave.
//
//	@Summary Leave, as a worker that runs nothing any more
//	@Param Authorization header string true "Bearer and the token of the worker group"
//	@Param body body request.WorkerLeave true "body"
//	@x-example {"epoch":1}
//	@Failure 401 {object} problem.Problem "not a token of a worker group"
//	@Failure 403 {object} problem.Problem "the worker is of another worker group"
//	@Failure 409 {object} problem.Problem "another life of the worker has begun (epoch_lost)"
//	@Failure 429 {object} problem.Problem "too many unknown tokens at once: wait for Retry-After"
//	@Router /api/v1/workers/{id}/leave [post]
func (p *ProtocolController) Leave(c *gin.Context) error {
	if _, err := p.enter(c); err != nil {
		return err
	}
	epoch, err := request.ReadWorkerLeave(c.Request)
	if err != nil {
		return err
	}
	if err = p.Workers.Leave(c.Request.Context(), c.Param("id"), epoch); err == nil {
		p.Gateway.Left(c.Param("id"), epoch)
	}
	return reply.Done(c, err)
}
