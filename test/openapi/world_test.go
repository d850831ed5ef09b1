// Package openapi_test sends calls that are drawn from the OpenAPI document to
// a whole server, as callers of every kind.
package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

const adminPassword = "an admin of the world"

// caller is somebody who calls. who is nil for those whom the server does not know.
type caller struct {
	name, token string
	who         *entity.Principal
}

// world is a running server, callers of every kind and what they may call
// about.
type world struct {
	t       *testing.T
	url     string
	doc     *openapitest.Document
	admin   caller
	callers []caller
	// objects are ids and names by kind; protected are those that the callers
	// themselves stand on.
	objects   map[string][]string
	protected map[string]bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "1",
		"auth.initialAdminPassword": adminPassword,
	}})
	require.NoError(t, err)
	machine := clock.NewSystem()
	executor, err := executors.New(cfg, executors.Options{Clock: machine, Served: true})
	require.NoError(t, err)
	srv, err := server.New(t.Context(), cfg, app.Options{
		Clock: machine, Executor: executor, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	t.Cleanup(func() { require.NoError(t, srv.Stop(context.Background())) })
	w := &world{t: t, url: srv.URL(), objects: map[string][]string{}, protected: map[string]bool{}}
	w.doc, err = openapitest.Load()
	require.NoError(t, err)
	w.furnish()
	return w
}

// furnish makes callers, groups, jobs, runs, dead letters, secrets, and what alerting needs, with alerts.
func (w *world) furnish() {
	daily := map[string]any{"kind": "FIXED_RATE", "intervalMs": 86_400_000} // long after the test
	w.t.Helper()
	w.admin = w.signIn("admin", adminPassword)
	for _, group := range []string{"alpha", "beta"} {
		w.make(201, "group", "/groups", map[string]any{"name": group})
	}
	viewer := w.user("viewer", nil)
	operator := w.user("operator", nil)
	bound := w.user("operator", map[string]any{"alpha": "operator"})
	mixed := w.user("operator", map[string]any{"alpha": "viewer", "beta": "operator"})
	gone := w.user("operator", nil)
	w.make(200, "", "/users/"+gone.who.User.ID, map[string]any{"role": "disabled"})
	gone.who = nil
	w.callers = []caller{
		w.admin, operator, bound, mixed, viewer, gone,
		{name: "nobody"},
		{name: "a made-up token", token: "pst_0"},
		w.narrow(w.admin, "job:read"), w.narrow(w.admin, "execution:read", "execution:write"),
		w.narrow(bound, "job:read", "job:write"), w.narrow(operator),
	}
	for _, group := range []any{nil, "alpha", "beta", "default"} {
		w.define(group)
	}
	for _, group := range []string{"alpha", "beta", "default"} {
		job := w.make(201, "job", "/jobs", map[string]any{
			"name": "talks", "group": group, "jobType": "CUSTOM",
			"jobClass": "log", "schedule": daily, "jobData": map[string]any{"lines": []string{"a"}},
		})
		fails := w.make(201, "job", "/jobs", map[string]any{
			"name": "fails", "group": group, "jobType": "CUSTOM", "jobClass": "fail", "schedule": daily,
			"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 10},
		})
		for _, id := range []any{job["id"], fails["id"]} {
			runs := w.make(202, "", fmt.Sprint("/jobs/", id, "/trigger"), nil)
			w.remember("run", runs["executionIds"].([]any)[0])
		}
	}
	w.make(201, "secret", "/secrets", map[string]any{"name": "db", "value": "hunter2-hunter2"})
	w.objects["node"] = []string{fmt.Sprint(w.read("/nodes")["items"].([]any)[0].(map[string]any)["id"])}
	require.Eventually(w.t, func() bool {
		return len(w.read("/dead-letters")["items"].([]any)) == 3
	}, 20*time.Second, 50*time.Millisecond)
	w.alert()
}

// define makes one setting of each kind in a group, or for all.
func (w *world) define(group any) {
	w.t.Helper()
	name := fmt.Sprint("of ", group)
	define := func(kind string, body map[string]any) any {
		body["name"], body["group"] = name, group
		return w.make(201, kind, "/"+kind, body)["id"]
	}
	user := w.objects["user"][0]
	channel := define("alert-channels", map[string]any{
		"type": "WEBHOOK", "config": map[string]any{"url": "https://hooks.invalid/"},
	})
	define("alert-rules", map[string]any{"type": "JOB_FAILED", "level": "INFO"})
	name = fmt.Sprint("streak of ", group)
	define("alert-rules", map[string]any{"type": "CONSECUTIVE_FAILURES", "level": "INFO", "threshold": 3})
	define("alert-routes", map[string]any{"channelIds": []any{channel}})
	define("alert-silences", map[string]any{"match": map[string]any{"job": "nothing"}, "to": inAnHour()})
	define("alert-templates", map[string]any{"title": map[string]any{"en": "{{.Subject}}"}})
	define("contacts", map[string]any{"userId": user, "email": "a@example.com"})
	team := define("teams", map[string]any{"members": []any{user}})
	define("on-call", map[string]any{
		"timeZone": "UTC", "shifts": []any{map[string]any{"teamId": team, "from": "09:00", "to": "18:00"}},
	})
}

// alert waits for alerts of each group: a job of each fails.
func (w *world) alert() {
	w.t.Helper()
	groups := map[string]bool{}
	require.Eventually(w.t, func() bool {
		for _, item := range w.read("/alerts")["items"].([]any) {
			a := item.(map[string]any)
			if !slices.Contains(w.objects["alerts"], fmt.Sprint(a["id"])) {
				w.remember("alerts", a["id"])
			}
			groups[fmt.Sprint(a["group"])] = true
		}
		return groups["alpha"] && groups["beta"] && groups["default"]
	}, 30*time.Second, 100*time.Millisecond)
}

func inAnHour() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

// remember keeps what the world began with and the newest of the rest: much of
// what is older was deleted since.
func (w *world) remember(kind string, id any) {
	const first, most = 12, 30
	if kind == "" || id == nil {
		return
	}
	known := append(w.objects[kind], fmt.Sprint(id))
	if len(known) > most {
		known = slices.Delete(known, first, first+1)
	}
	w.objects[kind] = known
}

func (w *world) user(role string, groups map[string]any) caller {
	w.t.Helper()
	name := fmt.Sprint(role, "-", len(w.objects["user"]))
	body := map[string]any{"username": name, "password": "a password of " + name, "role": role}
	if groups != nil {
		body["groups"] = groups
	}
	w.make(201, "user", "/users", body)
	return w.signIn(name, "a password of "+name)
}

func (w *world) signIn(name, password string) caller {
	w.t.Helper()
	login := w.make(200, "", "/auth/login", map[string]any{"username": name, "password": password})
	user := login["user"].(map[string]any)
	u := entity.User{ID: fmt.Sprint(user["id"]), Name: name, Role: entity.Role(fmt.Sprint(user["role"]))}
	if groups, bound := user["groups"].(map[string]any); bound {
		u.Groups = map[string]entity.Role{}
		for group, role := range groups {
			u.Groups[group] = entity.Role(fmt.Sprint(role))
		}
	}
	w.remember("user", u.ID)
	w.protected[u.ID] = true
	return caller{name, fmt.Sprint(login["token"]), &entity.Principal{User: u}}
}

// narrow makes an API token of a caller; no scopes are all of them.
func (w *world) narrow(owner caller, scopes ...string) caller {
	w.t.Helper()
	body := map[string]any{"name": "narrow", "expiresAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	if len(scopes) > 0 {
		body["scopes"] = scopes
	}
	token := w.as(owner, 201, "POST", "/tokens", body)
	w.remember("token", token["id"])
	w.protected[fmt.Sprint(token["id"])] = true
	who := *owner.who
	who.TokenID, who.Scopes = fmt.Sprint(token["id"]), scopes
	return caller{owner.name + fmt.Sprint(scopes), fmt.Sprint(token["token"]), &who}
}

// make calls as the admin and remembers what was made.
func (w *world) make(want int, kind, path string, body any) map[string]any {
	w.t.Helper()
	method := http.MethodPost
	if want == 200 && path != "/auth/login" {
		method = http.MethodPut
	}
	made := w.as(w.admin, want, method, path, body)
	if kind == "group" || kind == "secret" {
		w.remember(kind, made["name"])
	} else {
		w.remember(kind, made["id"])
	}
	return made
}

func (w *world) read(path string) map[string]any {
	w.t.Helper()
	return w.as(w.admin, 200, http.MethodGet, path, nil)
}

func (w *world) as(c caller, want int, method, path string, body any) map[string]any {
	w.t.Helper()
	raw := []byte(nil)
	if body != nil {
		var err error
		raw, err = json.Marshal(body)
		require.NoError(w.t, err)
	}
	got := w.send(c, call{
		method: method, path: "/api/v1" + path, body: raw,
		header: http.Header{"Content-Type": {openapitest.JSON}},
	})
	require.Equal(w.t, want, got.Status, "%s %s as %s: %s", method, path, c.name, got.Answer)
	var v map[string]any
	if len(got.Answer) > 0 {
		require.NoError(w.t, json.Unmarshal(got.Answer, &v))
	}
	return v
}
