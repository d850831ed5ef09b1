package api_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/api/resttest"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func address(r api.Route) string {
	return strings.NewReplacer(":id", "some-id", ":backfillId", "some-id", ":key", "some-step", ":name", "some-name",
		":version", "1").
		Replace(r.Path)
}

func TestEveryRouteIsClosedUnlessItSaysOtherwise(t *testing.T) {
	e := newEdge(t)
	// A role of another release holds nothing here.
	require.NoError(t, e.Store.AddUser(t.Context(), entity.User{
		ID: "id-of-stranger", Name: "stranger", Role: "stranger",
		CreateTime: now, UpdateTime: now,
	}))
	nobodyToken := e.signIn("stranger")
	var public []string
	require.NotEmpty(t, e.router.Routes())
	for _, r := range e.router.Routes() {
		require.Contains(t, permission.All(), r.Permission, r.Path)
		if r.Permission == permission.Public {
			public = append(public, r.Path)
			continue
		}
		e.call(r.Method, address(r), "", "Authorization", "").want(401).problem()
		e.call(r.Method, address(r), "", "Authorization", "Bearer wrong").want(401).problem()
		e.call(r.Method, address(r), "", "Authorization", "Bearer "+nobodyToken).want(403).problem()
	}
	require.ElementsMatch(t, []string{
		"/healthz", "/healthz", "/readyz", "/readyz", "/metrics", "/version", "/openapi.json", "/swagger/index.html",
		"/swagger/doc.json", "/swagger/initializer.js", "/swagger/swagger-ui.css", "/swagger/swagger-ui-bundle.js",
		"/", "/", "/assets/:file", "/assets/:file", "/api/v1/auth/login", "/api/v1/executions/:id/report",
		"/api/v1/workers", "/api/v1/workers/:id/poll", "/api/v1/workers/:id/report", "/api/v1/workers/:id/leave",
		"/api/v1/workers/:id/jobs",
	}, public,
		"a new public route must be a decision")
}

func TestRolesReachWhatTheyHold(t *testing.T) {
	e := newEdge(t)
	for _, r := range e.router.Routes() {
		if r.Permission == permission.Public {
			continue
		}
		for _, role := range []entity.Role{entity.RoleAdmin, entity.RoleOperator, entity.RoleViewer} {
			e.Clock.Advance(time.Millisecond) // of a user the latest sessions go on
			status := e.call(r.Method, address(r), "", as(e.signIn(string(role)))...).status
			if permission.Allows(entity.Principal{User: entity.User{Role: role}}, r.Permission) {
				require.NotContains(t, []int{401, 403}, status, "%s %s as %s", r.Method, r.Path, role)
			} else {
				require.Equal(t, 403, status, "%s %s as %s", r.Method, r.Path, role)
			}
		}
	}
}

func TestNobodyPassesWhenNobodyCanBeAsked(t *testing.T) {
	e := newEdge(t)
	e.rebuild(func(d *api.Deps) { d.Auth = failingAuth{d.Auth, apperror.Unavailable(errors.New("down"))} })
	for _, r := range e.router.Routes() {
		if r.Permission != permission.Public {
			a := e.call(r.Method, address(r), "")
			a.wantCode(503, "store_unavailable")
			require.Equal(t, "5", a.header.Get("Retry-After"))
		}
	}
}

func TestUnknownAddressesAndMethodsAreProblems(t *testing.T) {
	e := newEdge(t)
	e.call("GET", "/api/v1/nothing", "").wantCode(404, "no_such_route")
	e.call("GET", "/api/v1/jobs/", "").wantCode(404, "no_such_route")
	for path, helps := range map[string]bool{"/": true, "/jobs": true, "/api/v1/nothing": false} {
		a := e.call("GET", path, "", "Authorization", "")
		a.wantCode(404, "no_such_route")
		require.Equal(t, helps,
			strings.Contains(a.body, "the API stands under /api/v1, and its documentation at /swagger/index.html"), path)
	}
	a := e.call("PATCH", "/api/v1/jobs", "")
	a.wantCode(405, "method_not_allowed")
	require.Equal(t, "GET, POST", a.header.Get("Allow"))
	for path, methods := range map[string]string{
		"jobs/pause": "POST", "jobs/some-id": "GET, PUT, DELETE",
		"import": "POST", "jobs/some-id/pause": "POST",
	} {
		require.Equal(t, methods, e.call("PATCH", "/api/v1/"+path, "").header.Get("Allow"), path)
	}
	for _, m := range []string{"TRACE", "CONNECT", "get", "OPTIONS", strings.Repeat("X", 1000)} {
		e.call(m, "/api/v1/jobs", "").wantCode(405, "method_not_allowed")
	}
}

func TestProbes(t *testing.T) {
	e := newEdge(t)
	require.JSONEq(t, `{"status":"ok"}`, e.call("GET", "/healthz", "").want(200).body)
	require.JSONEq(t, `{"status":"ready"}`, e.call("GET", "/readyz", "").want(200).body)
	e.call("HEAD", "/readyz", "").want(200)
	require.Equal(t, "up 1\n", e.call("GET", "/metrics", "").want(200).body)
	require.Equal(t, "1.2.3", e.call("GET", "/version", "").want(200).json()["version"])

	troubles := map[string]bool{"Redis is away": false}
	part := func(name, reason string) monitor.Part {
		return monitor.Part{Name: name, Check: func() (string, bool) {
			if blocks, is := troubles[reason]; is {
				return reason, blocks
			}
			return "", false
		}}
	}
	e.rebuild(func(d *api.Deps) {
		d.Monitor = monitor.NewMonitorService(e.Store, resttest.NoTasks{}, e.Clock, part("redis", "Redis is away"),
			part("folder", "the data folder is full"))
	})
	require.JSONEq(t, `{"status":"ready","degraded":[{"part":"redis","reason":"Redis is away","since":"2026-11-20T12:00:00.000Z"}]}`,
		e.call("GET", "/readyz", "").want(200).body)
	troubles["the data folder is full"] = true
	a := e.call("GET", "/readyz", "")
	a.wantCode(503, "not_ready")
	require.Equal(t, []any{"not ready: the data folder is full", "1"},
		[]any{a.json()["detail"], a.header.Get("Retry-After")})
	require.Len(t, a.json()["degraded"], 2)
	e.call("GET", "/healthz", "").want(200)
}

func TestMetricsAskForTheirToken(t *testing.T) {
	e := newEdge(t)
	e.rebuild(func(d *api.Deps) {
		d.MetricsToken = "figures-of-this-node"
	})
	for _, header := range []string{
		"", "Bearer figures-of-this-nod", "Bearer figures-of-this-node2",
		"figures-of-this-node", "Basic figures-of-this-node", "Bearer " + adminToken,
	} {
		a := e.call("GET", "/metrics", "", "Authorization", header)
		a.wantCode(401, "metrics_token")
		require.Contains(t, a.header.Get("WWW-Authenticate"), "Bearer")
		require.NotContains(t, a.body, "up 1")
	}
	require.Equal(t, "up 1\n",
		e.call("GET", "/metrics", "", "Authorization", "Bearer figures-of-this-node").want(200).body)
	e.call("GET", "/api/v1/jobs", "", "Authorization", "Bearer figures-of-this-node").want(401)
	e.call("GET", "/readyz", "", "Authorization", "").want(200)
}

func TestANodeWithoutTheRoleServesProbesOnly(t *testing.T) {
	e := newEdge(t)
	e.probesOnly = true
	e.rebuild(func(d *api.Deps) { d.ProbesOnly = true })
	e.call("GET", "/readyz", "").want(200)
	e.call("GET", "/metrics", "").want(200)
	e.call("POST", "/api/v1/executions/x/report", "{}").wantCode(401, "run_token")
	e.call("GET", "/api/v1/jobs", "").wantCode(404, "no_such_route")
	e.call("POST", "/api/v1/auth/login", "{}").wantCode(404, "no_such_route")
}
