package controller

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// MonitorService knows the state of this node.
type MonitorService interface {
	// Ready returns nil, or an error whose text says for people what is
	// degraded; probes need no sign-in, so that it must not hold secrets.
	Ready(ctx context.Context) error
}

// JobMonitorController serves probes, metrics and the version.
type JobMonitorController struct {
	monitor MonitorService
	metrics http.Handler
	version vo.Version
}

// NewJobMonitorController serves the state of a node; metrics may be nil.
func NewJobMonitorController(monitor MonitorService, metrics http.Handler, version vo.Version) *JobMonitorController {
	return &JobMonitorController{monitor: monitor, metrics: metrics, version: version}
}

// Healthz answers GET /healthz: the process is alive.
//
//	@Summary Tell that the process is alive
//	@Tags server
//	@Success 200 {object} vo.Health
//	@Router /healthz [get]
//	@Router /healthz [head]
func (m *JobMonitorController) Healthz(c *gin.Context) error {
	return reply(c, http.StatusOK, vo.Health{Status: "ok"})
}

// Readyz answers GET /readyz: the node can do its work.
//
//	@Summary Tell whether the node can do its work
//	@Tags server
//	@Success 200 {object} vo.Health
//	@Failure 503 {object} problem.Problem "not ready; the detail says why"
//	@Router /readyz [get]
//	@Router /readyz [head]
func (m *JobMonitorController) Readyz(c *gin.Context) error {
	err := m.monitor.Ready(c.Request.Context())
	if err == nil {
		return reply(c, http.StatusOK, vo.Health{Status: "ready"})
	}
	detail := err.Error()
	var known *fault.Error
	if errors.As(err, &known) {
		// Its cause, such as a driver's error, stays inside.
		detail = known.Message
	}
	f := fault.New(fault.KindUnavailable, "not_ready", detail)
	f.RetryAfterSec = 1
	return f
}

// Metrics answers GET /metrics for Prometheus.
//
//	@Summary Show the figures of the node to Prometheus
//	@Tags server
//	@Produce plain
//	@Success 200 {string} string
//	@Failure 404 {object} problem.Problem "this node serves no metrics"
//	@Router /metrics [get]
func (m *JobMonitorController) Metrics(c *gin.Context) error {
	if m.metrics == nil {
		return fault.New(fault.KindNotFound, "no_such_route", "this node serves no metrics")
	}
	m.metrics.ServeHTTP(c.Writer, c.Request)
	return nil
}

// Version answers GET /version.
//
//	@Summary Show the version of the binary
//	@Tags server
//	@Success 200 {object} vo.Version
//	@Router /version [get]
func (m *JobMonitorController) Version(c *gin.Context) error {
	return reply(c, http.StatusOK, m.version)
}
