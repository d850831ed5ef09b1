package cluster

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller/reply"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/openapi"
	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
)

// MonitorService knows the state of this node.
type MonitorService interface {
	// Degraded is what does not work as it should. Probes need no sign-in, so
	// that no reason may hold secrets.
	Degraded(ctx context.Context) []monitor.Trouble
}

// JobMonitorController serves probes, metrics and the version.
type JobMonitorController struct {
	monitor MonitorService
	metrics http.Handler
	// token is the hash of what /metrics asks for; nil asks for nothing.
	token   []byte
	version vo.Version
}

// NewJobMonitorController serves the state of a node; metrics may be nil.
// They ask for token, unless it is empty.
func NewJobMonitorController(monitor MonitorService, metrics http.Handler, token string,
	version vo.Version,
) *JobMonitorController {
	m := &JobMonitorController{monitor: monitor, metrics: metrics, version: version}
	if token != "" {
		m.token = hashOf(token)
	}
	return m
}

// hashOf is of one length, so that the time of a comparison tells nothing.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Healthz answers GET /healthz: the process is alive.
//
//	@Summary Tell that the process is alive
//	@Success 200 {object} vo.Health
//	@Router /healthz [get]
//	@Router /healthz [head]
func (m *JobMonitorController) Healthz(c *gin.Context) error {
	return reply.JSON(c, http.StatusOK, vo.Health{Status: "ok"})
}

// Readyz answers GET /readyz: the node can do its work.
//
//	@Summary Tell whether the node can do its work
//	@Success 200 {object} vo.Health
//	@Failure 503 {object} vo.NotReady "not ready; the detail says why"
//	@Router /readyz [get]
//	@Router /readyz [head]
func (m *JobMonitorController) Readyz(c *gin.Context) error {
	found := m.monitor.Degraded(c.Request.Context())
	err := monitor.NotReady(found)
	if err == nil {
		return reply.JSON(c, http.StatusOK, vo.Health{Status: "ready", Degraded: vo.FromTroubles(found)})
	}
	p := vo.NotReady{
		Problem:  problem.New(http.StatusServiceUnavailable, "not_ready", err.Error()),
		Degraded: vo.FromTroubles(found),
	}
	p.RequestID = middleware.RequestIDOf(c)
	c.Header("Retry-After", "1")
	return reply.As(c, problem.ContentType, p.Status, p)
}

// Metrics answers GET /metrics for Prometheus.
//
//	@Summary Show the figures of the node to Prometheus
//	@Description Everybody may read them, unless the node has a server.metricsToken, which is then sent as Authorization: Bearer TOKEN.
//	@Produce plain
//	@Success 200 {string} string
//	@Failure 401 {object} problem.Problem "this node has a server.metricsToken, and the call has another or none"
//	@Failure 404 {object} problem.Problem "this node serves no metrics"
//	@Router /metrics [get]
func (m *JobMonitorController) Metrics(c *gin.Context) error {
	if m.metrics == nil {
		return apperror.New(apperror.KindNotFound, "no_such_route", "this node serves no metrics")
	}
	if m.token != nil {
		token, err := middleware.Bearer(c.Request.Header)
		if err != nil || subtle.ConstantTimeCompare(hashOf(token), m.token) == 0 {
			return apperror.New(apperror.KindUnauthenticated, "metrics_token",
				"send the server.metricsToken of this node as Authorization: Bearer TOKEN")
		}
	}
	m.metrics.ServeHTTP(c.Writer, c.Request)
	return nil
}

// Version answers GET /version.
//
//	@Summary Show the version of the binary
//	@Success 200 {object} vo.Version
//	@Router /version [get]
func (m *JobMonitorController) Version(c *gin.Context) error {
	return reply.JSON(c, http.StatusOK, m.version)
}

// SettingController serves the settings of this node.
type SettingController struct{ settings vo.Settings }

// NewSettingController serves settings, which hold no secret.
func NewSettingController(settings vo.Settings) *SettingController {
	if settings.Items == nil {
		settings.Items = []vo.Setting{}
	}
	return &SettingController{settings}
}

// List answers GET /settings.
//
//	@Summary List the settings of the node that answers
//	@Description Read only, without secrets. A change needs a restart of the node.
//	@Success 200 {object} vo.Settings
//	@Router /api/v1/settings [get]
func (s *SettingController) List(c *gin.Context) error {
	return reply.JSON(c, http.StatusOK, s.settings)
}

// DocsController serves the document of the API and the page that shows it.
type DocsController struct{}

// Serve answers with a file. Its policy replaces that of the API, under which
// a page could load nothing.
func (DocsController) Serve(c *gin.Context) error {
	content, mediaType, err := openapi.Read(openapi.Paths()[c.FullPath()])
	if err != nil {
		return err
	}
	c.Header("Content-Security-Policy", openapi.Policy)
	c.Header("Content-Type", mediaType)
	if c.FullPath() == openapi.Former {
		c.Header("Deprecation", openapi.Deprecated)
		c.Header("Link", `</openapi.json>; rel="successor-version"`)
	}
	c.Header("Content-Length", strconv.Itoa(len(content)))
	c.Status(http.StatusOK)
	// A caller who is gone is no failure of ours.
	_, _ = c.Writer.Write(content)
	return nil
}
