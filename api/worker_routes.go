package api

import (
	"context"
	"net/http"
	"path"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/api/controller/worker"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	workerservice "github.com/platform-scheduler/platform-scheduler/application/service/worker"
)

// WorkerDeps are the parts of the routes of workers.
type WorkerDeps struct {
	Workers *workerservice.WorkerService
	Groups  *workerservice.GroupService
	Tokens  worker.Tokens
	// Gateway is nil on a node that serves no workers.
	Gateway worker.Gateway
	// Connected is told of each call whose token is good. It is false where the node holds as many connections of workers
	// as it may; nil is always true.
	Connected func(ctx context.Context) bool
	// Called is told of the end of each call of a worker: "poll", its status and its worker group; may be nil.
	Called func(call string, status int, group string)
	// AllowPlain lets workers of other machines call without TLS.
	AllowPlain bool
}

// The calls of workers, which every node takes.
const (
	registerPath     = "/api/v1/workers"
	pollPath         = "/api/v1/workers/:id/poll"
	workerReportPath = "/api/v1/workers/:id/report"
	leavePath        = "/api/v1/workers/:id/leave"
	declarePath      = "/api/v1/workers/:id/jobs"
)

// ofWorker reports whether workers make the call.
func ofWorker(r Route) bool {
	return r.Method == http.MethodPost &&
		slices.Contains([]string{registerPath, pollPath, workerReportPath, leavePath, declarePath}, r.Path)
}

// callOf is what a call of workers is named.
func callOf(r Route) string {
	switch r.Path {
	case registerPath:
		return "register"
	case declarePath:
		return "declare"
	}
	return path.Base(r.Path)
}

// isBeat reports whether a worker makes the call every few seconds: it leaves no line in the log, and no entry in the
// audit log.
func isBeat(r Route) bool { return r.Path == pollPath || r.Path == workerReportPath }

// workerRoutes are the routes of workers, and of what people see and change of them.
func workerRoutes(d Deps, cookies middleware.Cookies) []Route {
	protocol := &worker.ProtocolController{
		Workers: d.Worker.Workers, Tokens: d.Worker.Tokens, Gateway: d.Worker.Gateway, Clock: d.Clock,
		Connected: d.Worker.Connected, Reader: d.reader(), Definitions: d.Definitions,
		OverTLS: cookies.OverTLS, AllowPlain: d.Worker.AllowPlain,
	}
	workers := &worker.WorkerController{Workers: d.Worker.Workers}
	groups := &worker.GroupController{Groups: d.Worker.Groups}
	const v1, none, unbound = "/api/v1", middleware.Undeclared, middleware.Unbound
	return []Route{
		// Their callers have no account: the token of a worker group lets them in.
		{"POST", registerPath, permission.Public, none, false, protocol.Register},
		{"POST", pollPath, permission.Public, unbound, false, protocol.Poll},
		{"POST", workerReportPath, permission.Public, unbound, false, protocol.Report},
		{"POST", leavePath, permission.Public, unbound, false, protocol.Leave},
		{"POST", declarePath, permission.Public, unbound, false, protocol.Declare},
		// Each worker is judged by its controller: it may serve several groups.
		{"GET", v1 + "/workers", permission.JobRead, none, false, workers.List},
		{"GET", v1 + "/workers/:id", permission.JobRead, unbound, false, workers.Get},
		{"POST", v1 + "/workers/:id/drain", permission.WorkerWrite, unbound, false, workers.Drain},
		{"POST", v1 + "/workers/:id/resume", permission.WorkerWrite, unbound, false, workers.Resume},
		{"GET", v1 + "/worker-groups", permission.WorkerAdmin, none, false, groups.List},
		{"GET", v1 + "/worker-groups/:name", permission.WorkerAdmin, unbound, false, groups.Get},
		{"PUT", v1 + "/worker-groups/:name", permission.WorkerAdmin, unbound, false, groups.Put},
		{"DELETE", v1 + "/worker-groups/:name", permission.WorkerAdmin, unbound, false, groups.Delete},
		{"GET", v1 + "/worker-groups/:name/tokens", permission.WorkerAdmin, unbound, false, groups.Tokens},
		// No answer to repeat is kept of what holds a secret.
		{"POST", v1 + "/worker-groups/:name/tokens", permission.WorkerAdmin, unbound, false, groups.CreateToken},
		{"DELETE", v1 + "/worker-groups/:name/tokens/:id", permission.WorkerAdmin, unbound, false, groups.RevokeToken},
	}
}
