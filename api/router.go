// Package api is the REST edge: routes, who may call them, and the server
// that carries them.
package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/controller"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// JobService is what the routes under /jobs and /schedules need.
type JobService interface {
	controller.JobService
	controller.ScheduleService
}

// ExecutionService is what the routes of runs, their fires and dead letters need.
type ExecutionService interface {
	controller.ExecutionService
	controller.LedgerService
	controller.DeadLetterService
}

// Deps are the parts of a Router. All but Checker and Metrics are required.
type Deps struct {
	Jobs       JobService
	Executions ExecutionService
	Auth       controller.AuthService
	Monitor    controller.MonitorService
	Nodes      controller.NodeReader
	Secrets    controller.SecretService
	Users      controller.UserService
	Tokens     controller.TokenService
	Audit      controller.AuditService
	Calls      repository.IdempotentCalls
	// Reports takes what the targets of asynchronous calls say.
	Reports controller.RunReports
	// Checker finds what an executor would refuse in a definition.
	Checker request.JobChecker
	Clock   clock.Clock
	Logger  *slog.Logger
	// Metrics serves /metrics.
	Metrics http.Handler
	Version vo.Version
	// TimeZone is the zone of schedules that name none; empty is UTC.
	TimeZone string
	// TrustedProxies are networks whose X-Forwarded-For is believed.
	TrustedProxies []string
}

// Route is one line of the table.
type Route struct {
	Method, Path string
	// Permission is what the caller must hold; the empty one is refused.
	Permission permission.Permission
	// Idempotent routes heed the header Idempotency-Key.
	Idempotent bool
	action     middleware.Action
}

// loginPath is where people sign in, which is audited although it is public.
const loginPath = "/api/v1/auth/login"

// streamPath is the one route that may work for longer than others.
const streamPath = "/api/v1/executions/:id/logs/stream"

// routes is the whole API on one page.
func routes(d Deps) []Route {
	reader := request.JobReader{TimeZone: d.TimeZone, Checker: d.Checker, Now: d.Clock.Now}
	auth := controller.NewAuthController(d.Auth)
	job := controller.NewJobController(d.Jobs, reader)
	plan := controller.NewScheduleController(d.Jobs, d.Executions, reader)
	run := controller.NewJobExecutionController(d.Executions)
	report := controller.NewReportController(d.Reports)
	stream := controller.NewStreamController(d.Executions, d.Clock)
	dead := controller.NewDeadLetterController(d.Executions)
	secret := controller.NewSecretController(d.Secrets)
	user := controller.NewUserController(d.Users)
	token := controller.NewTokenController(d.Tokens)
	audit := controller.NewAuditController(d.Audit)
	node := controller.NewNodeController(d.Nodes)
	monitor := controller.NewJobMonitorController(d.Monitor, d.Metrics, d.Version)
	const v1, once = "/api/v1", true
	return []Route{
		{"GET", "/healthz", permission.Public, false, monitor.Healthz},
		{"HEAD", "/healthz", permission.Public, false, monitor.Healthz},
		{"GET", "/readyz", permission.Public, false, monitor.Readyz},
		{"HEAD", "/readyz", permission.Public, false, monitor.Readyz},
		{"GET", "/metrics", permission.Public, false, monitor.Metrics},
		{"GET", "/version", permission.Public, false, monitor.Version},

		{"POST", loginPath, permission.Public, false, auth.Login},
		{"POST", v1 + "/auth/logout", permission.Self, false, auth.Logout},
		{"GET", v1 + "/auth/me", permission.Self, false, auth.Me},
		{"POST", v1 + "/auth/password", permission.Account, false, auth.ChangePassword},

		{"GET", v1 + "/users", permission.UserAdmin, false, user.List},
		{"POST", v1 + "/users", permission.UserAdmin, false, user.Create},
		{"GET", v1 + "/users/:id", permission.UserAdmin, false, user.Get},
		{"PUT", v1 + "/users/:id", permission.UserAdmin, false, user.Change},
		{"DELETE", v1 + "/users/:id", permission.UserAdmin, false, user.Delete},
		{"GET", v1 + "/tokens", permission.Account, false, token.List},
		{"POST", v1 + "/tokens", permission.Account, false, token.Create},
		{"DELETE", v1 + "/tokens/:id", permission.Account, false, token.Revoke},
		{"GET", v1 + "/audit-logs", permission.AuditRead, false, audit.List},

		{"GET", v1 + "/jobs", permission.JobRead, false, job.List},
		{"POST", v1 + "/jobs", permission.JobWrite, once, job.Create},
		{"GET", v1 + "/jobs/:id", permission.JobRead, false, job.Get},
		{"PUT", v1 + "/jobs/:id", permission.JobWrite, false, job.Replace},
		{"DELETE", v1 + "/jobs/:id", permission.JobWrite, false, job.Delete},
		{"POST", v1 + "/jobs/:id/pause", permission.JobWrite, false, job.Pause},
		{"POST", v1 + "/jobs/:id/resume", permission.JobWrite, false, job.Resume},
		{"POST", v1 + "/jobs/:id/trigger", permission.JobRun, once, job.Trigger},
		{"POST", v1 + "/jobs/:id/copy", permission.JobWrite, once, job.Copy},
		{"GET", v1 + "/jobs/:id/versions", permission.JobRead, false, job.Versions},
		{"POST", v1 + "/jobs/:id/versions/:version/restore", permission.JobWrite, false, job.Restore},
		{"GET", v1 + "/jobs/:id/next-fire-times", permission.JobRead, false, plan.NextFireTimes},
		{"GET", v1 + "/jobs/:id/fires", permission.JobRead, false, plan.Fires},
		{"POST", v1 + "/schedules/preview", permission.JobRead, false, plan.Preview},

		{"GET", v1 + "/executions", permission.ExecutionRead, false, run.List},
		{"GET", v1 + "/executions/:id", permission.ExecutionRead, false, run.Get},
		{"GET", v1 + "/executions/:id/logs", permission.ExecutionRead, false, run.Logs},
		{"GET", streamPath, permission.ExecutionRead, false, stream.Follow},
		{"GET", v1 + "/executions/:id/attempts", permission.ExecutionRead, false, run.Attempts},
		{"POST", v1 + "/executions/:id/cancel", permission.ExecutionWrite, false, run.Cancel},
		{"POST", v1 + "/executions/:id/retry", permission.ExecutionWrite, once, run.Retry},
		// Its callers have no account: the token of the attempt lets them in.
		{"POST", v1 + "/executions/:id/report", permission.Public, false, report.Report},
		{"GET", v1 + "/dead-letters", permission.ExecutionRead, false, dead.List},
		{"POST", v1 + "/dead-letters/:id/replay", permission.ExecutionWrite, once, dead.Replay},
		{"POST", v1 + "/dead-letters/:id/discard", permission.ExecutionWrite, false, dead.Discard},

		{"GET", v1 + "/nodes", permission.JobRead, false, node.List},
		{"GET", v1 + "/nodes/:id", permission.JobRead, false, node.Get},
		{"GET", v1 + "/secrets", permission.SecretRead, false, secret.List},
		// No answer to repeat is kept of what holds a secret.
		{"POST", v1 + "/secrets", permission.SecretWrite, false, secret.Create},
		{"PUT", v1 + "/secrets/:name", permission.SecretWrite, false, secret.Replace},
		{"DELETE", v1 + "/secrets/:name", permission.SecretWrite, false, secret.Delete},
	}
}

// Router serves the API. It is safe for concurrent use.
type Router struct {
	engine *gin.Engine
	routes []Route
}

// NewRouter puts the API together. It fails when a route names no permission.
func NewRouter(d Deps) (*Router, error) { return newRouter(d, routes(d)) }

func newRouter(d Deps, table []Route) (*Router, error) {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	if err := e.SetTrustedProxies(d.TrustedProxies); err != nil {
		return nil, fmt.Errorf("trust the proxies %v: %w", d.TrustedProxies, err)
	}
	e.Use(middleware.RequestID(), middleware.AccessLog(d.Logger, d.Clock), middleware.Recover(d.Logger), middleware.Headers(), middleware.Limits())
	e.NoRoute(middleware.NotFound)
	e.NoMethod(middleware.MethodNotAllowed)
	for _, r := range table {
		if !slices.Contains(permission.All(), r.Permission) {
			return nil, fmt.Errorf("the route %s %s names no known permission: %q", r.Method, r.Path, r.Permission)
		}
		chain := []gin.HandlerFunc{
			middleware.Audit(r.Permission, r.Path == loginPath, d.Audit, d.Logger), middleware.Require(r.Permission, d.Auth),
		}
		if r.Path != streamPath {
			chain = append([]gin.HandlerFunc{middleware.Deadline()}, chain...)
		}
		if r.Idempotent {
			chain = append(chain, middleware.Idempotency(d.Calls, d.Clock, d.Logger))
		}
		e.Handle(r.Method, r.Path, append(chain, middleware.Handle(r.action))...)
	}
	return &Router{engine: e, routes: table}, nil
}

// ServeHTTP implements http.Handler.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.engine.ServeHTTP(w, req) }

// Routes lists what is served.
func (r *Router) Routes() []Route { return slices.Clone(r.routes) }
