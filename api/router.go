package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/platform-scheduler/platform-scheduler/api/console"
	"github.com/platform-scheduler/platform-scheduler/api/controller/access"
	"github.com/platform-scheduler/platform-scheduler/api/controller/cluster"
	"github.com/platform-scheduler/platform-scheduler/api/controller/execution"
	"github.com/platform-scheduler/platform-scheduler/api/controller/job"
	"github.com/platform-scheduler/platform-scheduler/api/controller/workflow"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	accessservice "github.com/platform-scheduler/platform-scheduler/application/service/access"
	alertingservice "github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	"github.com/platform-scheduler/platform-scheduler/application/service/definition"
	executionservice "github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/application/service/metric"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/application/service/trial"
	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// JobService is what the routes under /jobs and /schedules need.
type JobService interface {
	job.JobService
	middleware.GroupFinder
}

// ExecutionService is what the routes of runs, their fires and dead letters need.
type ExecutionService interface {
	execution.ExecutionService
	job.Executions
	middleware.GroupFinder
}

// LoadService tells how much is planned, and what a jitter does about it.
type LoadService interface {
	cluster.LoadService
	job.Spreader
}

// Deps are the parts of a Router. All but Checker and Metrics are required.
type Deps struct {
	Jobs       JobService
	Executions ExecutionService
	Auth       access.AuthService
	Monitor    cluster.MonitorService
	Nodes      *node.NodeService
	Secrets    *secret.SecretService
	Users      *accessservice.UserService
	Tokens     *accessservice.TokenService
	Groups     *group.GroupService
	Explain    *explain.ExplainService
	Backfills  *executionservice.BackfillService
	Approvals  workflow.ApprovalService
	// WorkflowRuns shows and steers workflow runs.
	WorkflowRuns *workflowrun.Service
	Overview     cluster.OverviewService
	Loads        LoadService
	Statistics   cluster.StatisticsService
	// Live tells which objects change.
	Live cluster.Watcher
	// Series are the time series that the store keeps.
	Series *metric.MetricService
	// Alerts shows and steers alerts. Alerting manages what people define for alerting.
	Alerts   *alertingservice.AlertService
	Alerting alertingservice.Services
	DryRuns  *alertingservice.DryRunService
	// Drafts runs drafts of jobs.
	Drafts *trial.Trials
	// Trials tries channels, and Previews shows what templates make.
	Trials   *channel.Trials
	Previews *alertingservice.Previews
	// Definitions exchanges jobs as documents.
	Definitions *definition.DefinitionService
	Audit       *audit.AuditService
	Calls       repository.IdempotentCalls
	// Reports takes what the targets of asynchronous calls say.
	Reports execution.RunReports
	// Peers are the other nodes; nil where there are none.
	Peers execution.Peers
	// Checker finds what an executor would refuse in a definition.
	Checker request.JobChecker
	// Clock is the machine's, StoreClock the one that keys and definitions are judged
	// by; the machine's when nil.
	Clock, StoreClock clock.Clock
	Logger            *slog.Logger
	// Metrics serves /metrics.
	Metrics http.Handler
	// MetricsToken is what /metrics asks for; empty lets everybody read them.
	MetricsToken string
	Version      vo.Version
	// Worker has the parts of the routes of workers.
	Worker WorkerDeps
	// Asides show what the store refused.
	Asides repository.Asides
	// Settings are those of this node, without secrets.
	Settings vo.Settings
	// TimeZone is the zone of schedules that name none; empty is UTC.
	TimeZone string
	// ProbesOnly leaves out the console, and everything under /api but the reports about
	// runs and the calls of workers, on nodes without that role.
	ProbesOnly bool
	// RequestTimeout is how long an ordinary call may work, and any call waits for one
	// answer of the store. 0 means middleware.RequestTimeout, which is also the most.
	RequestTimeout time.Duration
	// TrustedProxies are networks whose X-Forwarded-For and -Proto are believed.
	TrustedProxies []string
	// PublicURL is where browsers find the console; empty is what they ask for.
	PublicURL string
	// Console serves the console; nil where it is switched off.
	Console *console.Site
	// SignedIn is told of each request whose caller is signed in; may be nil.
	SignedIn func(ctx context.Context)
}

func (d Deps) statementTimeout() time.Duration {
	if d.RequestTimeout <= 0 {
		return middleware.RequestTimeout
	}
	return min(d.RequestTimeout, middleware.RequestTimeout)
}

// scope judges objects by the groups of their jobs.
func (d Deps) scope() middleware.Scope {
	return middleware.Scope{Jobs: d.Jobs, Executions: d.Executions}
}

// reader reads definitions from requests.
func (d Deps) reader() request.JobReader {
	return request.JobReader{TimeZone: d.TimeZone, Checker: d.Checker, Now: d.StoreClock.Now}
}

// Router serves the API. It is safe for concurrent use.
type Router struct {
	engine *gin.Engine
	routes []Route
}

// NewRouter puts the API together. It fails when a route names no permission.
func NewRouter(d Deps) (*Router, error) {
	if d.StoreClock == nil {
		d.StoreClock = d.Clock
	}
	cookies, err := middleware.NewCookies(d.TrustedProxies, d.PublicURL)
	if err != nil {
		return nil, err
	}
	sessions := middleware.NewSessions(d.Clock)
	guard := middleware.NewGuard(d.Auth, cookies, sessions, d.SignedIn)
	table, more := append(routes(d, cookies), workerRoutes(d, cookies)...), limitedRoutes(d, sessions)
	if d.ProbesOnly {
		table = slices.DeleteFunc(table, func(r Route) bool {
			return strings.HasPrefix(r.Path, "/api/") && r.Path != reportPath && !ofWorker(r) || ofConsole(r.Path)
		})
		more, d.Console = nil, nil
	}
	return newRouter(d, guard, table, more...)
}

func newRouter(d Deps, guard middleware.Guard, table []Route, more ...RouteLimits) (*Router, error) {
	all := make([]RouteLimits, len(table), len(table)+len(more))
	for i, r := range table {
		all[i] = RouteLimits{r, bodyOf(r), d.timeoutOf(r)}
	}
	all = append(all, more...)
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	// A proxy writes this header itself; others may be its client's.
	e.RemoteIPHeaders = []string{"X-Forwarded-For"}
	if err := e.SetTrustedProxies(d.TrustedProxies); err != nil {
		return nil, fmt.Errorf("trust the proxies %v: %w", d.TrustedProxies, err)
	}
	e.Use(middleware.RequestID(), middleware.AccessLog(d.Logger, d.Clock), middleware.Recover(d.Logger),
		middleware.Headers())
	e.NoRoute(middleware.Limits(middleware.MaxBody), d.notARoute)
	e.NoMethod(middleware.Limits(middleware.MaxBody), middleware.MethodNotAllowed(methodsOf(all)))
	answers := middleware.NewAnswers(d.Clock, func(topics []string) int64 { return d.Live.LastChange(topics...) })
	served := make([]Route, 0, len(all))
	for _, r := range all {
		if !slices.Contains(permission.All(), r.Permission) {
			return nil, fmt.Errorf("the route %s %s names no known permission: %q", r.Method, r.Path, r.Permission)
		}
		if strings.Contains(r.Path, ":") && r.Object == middleware.Undeclared {
			return nil, fmt.Errorf("the route %s %s does not say what its parameter names", r.Method, r.Path)
		}
		watch := middleware.Audit(keptOf(r.Route), r.Permission, d.Audit, d.Logger)
		if isBeat(r.Route) {
			watch = middleware.Quiet()
		}
		chain := []gin.HandlerFunc{
			middleware.Limits(r.Body), middleware.Deadline(r.Timeout, d.statementTimeout()), watch,
			guard.Require(r.Permission), d.scope().Check(r.Object, r.Permission),
		}
		if ofWorker(r.Route) {
			chain = append(chain, middleware.Count(callOf(r.Route), d.Worker.Called))
		}
		if needsOwnPassword(r.Route) {
			chain = append(chain, guard.RequireOwnPassword())
		}
		if f, kept := Freshness(r.Route); kept {
			chain = append(chain, answers.Keep(f))
		} else if r.Method != http.MethodGet && r.Method != http.MethodHead {
			chain = append(chain, answers.Change())
		}
		if changesCallers(r.Route) {
			chain = append(chain, guard.ForgetAfter())
		}
		if r.Idempotent {
			chain = append(chain, middleware.Idempotency(d.Calls, d.StoreClock, d.Logger))
		}
		e.Handle(r.Method, r.Path, append(chain, middleware.Handle(r.action))...)
		served = append(served, r.Route)
	}
	return &Router{engine: e, routes: served}, nil
}

// needsOwnPassword reports whether a route is for users alone who chose their password. All
// are that change something, but the one to change it, and the sign-out.
func needsOwnPassword(r Route) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return !reads && permission.Changes(r.Permission) && r.Permission != permission.Self && r.Path != passwordPath
}

// changesCallers reports whether a call may change who is let in.
func changesCallers(r Route) bool {
	return r.Method != http.MethodGet && slices.ContainsFunc([]string{"auth", "users", "tokens"}, func(room string) bool {
		return strings.HasPrefix(r.Path, "/api/v1/"+room)
	})
}

// ofConsole reports whether a route serves files of the console.
func ofConsole(path string) bool { return path == "/" || strings.HasPrefix(path, "/assets/") }

// notARoute answers for addresses that are no route: some are addresses of the console.
func (d Deps) notARoute(c *gin.Context) {
	if err := d.Console.Other(c); err != nil {
		middleware.Fail(c, err)
	}
}

// methodsOf returns the methods of addresses without parameters. Such an address may also
// match one with a parameter, whose methods are not its own.
func methodsOf(all []RouteLimits) map[string]string {
	methods := map[string]string{}
	for _, r := range all {
		switch known := methods[r.Path]; {
		case strings.Contains(r.Path, ":"):
		case known == "":
			methods[r.Path] = r.Method
		default:
			methods[r.Path] = known + ", " + r.Method
		}
	}
	return methods
}

// ServeHTTP implements http.Handler.
func (r *Router) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.engine.ServeHTTP(w, req) }

// Routes lists what is served.
func (r *Router) Routes() []Route { return slices.Clone(r.routes) }
