package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func (e *edge) rebuild(d api.Deps) {
	e.t.Helper()
	var err error
	e.router, err = api.NewRouter(d)
	require.NoError(e.t, err)
}

func TestPanicsStayInside(t *testing.T) {
	e := newEdge(t)
	e.jobs.panics = "canary"
	a := e.call("POST", "/api/v1/jobs", encode(t, minimal()))
	a.wantCode(500, "internal")
	require.NotContains(t, a.body, "canary")
	require.NotContains(t, a.body, "goroutine")
	require.Contains(t, e.log.String(), "canary")
	require.Contains(t, e.log.String(), "fakes_test.go", "the stack is in the log")

	e.jobs.panics = http.ErrAbortHandler
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { e.call("POST", "/api/v1/jobs", encode(t, minimal())) })
}

func TestRequestIDs(t *testing.T) {
	e := newEdge(t)
	a := e.call("GET", "/api/v1/jobs/x", "", "X-Request-Id", "my-id.1_2")
	require.Equal(t, "my-id.1_2", a.header.Get("X-Request-Id"))
	require.Equal(t, "my-id.1_2", a.json()["requestId"])
	for _, bad := range []string{"a b", "x\ny", "<script>", strings.Repeat("x", 65), "日本"} {
		a := e.call("GET", "/api/v1/jobs/x", "", "X-Request-Id", bad)
		require.Len(t, a.header.Get("X-Request-Id"), 36)
		require.NotContains(t, a.body, bad)
	}
}

func TestTheAccessLogHoldsNoSecrets(t *testing.T) {
	e := newEdge(t)
	e.call("GET", "/api/v1/jobs?name=canary-query", "")
	e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"canary-password"}`, "Authorization", "")
	e.call("GET", "/api/v1/jobs/canary-path", "", "Cookie", "canary-cookie")
	e.call("GET", "/canary-path", "")
	logged := e.log.String()
	require.NotContains(t, logged, "canary")
	require.NotContains(t, logged, adminToken)
	require.Contains(t, logged, `"route":"/api/v1/jobs/:id","status":404`)
	require.Contains(t, logged, `"user":"admin"`)
	require.Contains(t, logged, `"route":"none","status":404`)

	e.log.Reset()
	e.call("GET", "/healthz", "")
	require.Contains(t, e.log.String(), `"level":"DEBUG"`)
}

func TestEveryAnswerTellsBrowsersToBeCareful(t *testing.T) {
	e := newEdge(t)
	for _, a := range []answer{e.call("GET", "/api/v1/jobs", ""), e.call("GET", "/nothing", ""), e.call("GET", "/api/v1/jobs", "", "Authorization", "", "Origin", "https://evil")} {
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
		require.Equal(t, "DENY", a.header.Get("X-Frame-Options"))
		require.Contains(t, a.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
		require.Equal(t, "no-store", a.header.Get("Cache-Control"))
		require.Empty(t, a.header.Get("Access-Control-Allow-Origin"))
	}
}

func TestSignIn(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"right"}`, "Authorization", "").want(200)
	m := a.json()
	require.Equal(t, adminToken, m["token"])
	require.Equal(t, "2026-11-20T13:00:00.000Z", m["expiresAt"])
	user := m["user"].(map[string]any)
	require.Equal(t, []any{"u1", "ann@192.0.2.1", "admin"}, []any{user["id"], user["username"], user["role"]})
	require.NotContains(t, a.body, "assword")

	e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"wrong"}`, "Authorization", "").wantCode(401, "wrong_credentials")
	e.call("POST", "/api/v1/auth/login", `{"username":1}`, "Authorization", "").wantField(422, "password", "required")
	e.call("POST", "/api/v1/auth/login", `{"username":"a","password":"b","role":"admin"}`, "Authorization", "").wantField(422, "role", "unknown_field")

	require.Equal(t, "admin", e.call("GET", "/api/v1/auth/me", "").want(200).json()["username"])
	e.call("POST", "/api/v1/auth/password", `{"oldPassword":"x","newPassword":"y"}`).wantField(422, "oldPassword", "wrong_password")
	e.call("POST", "/api/v1/auth/password", `{}`).wantField(422, "newPassword", "required")
	require.Empty(t, e.call("POST", "/api/v1/auth/password", `{"oldPassword":"right","newPassword":"a better one"}`).want(204).body)
	e.call("POST", "/api/v1/auth/logout", "").want(204)
}

func TestForwardedAddressesAreBelievedFromProxiesOnly(t *testing.T) {
	e := newEdge(t)
	login := func(headers ...string) any {
		m := e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"right"}`, headers...).want(200).json()
		return m["user"].(map[string]any)["username"]
	}
	require.Equal(t, "ann@192.0.2.1", login("X-Forwarded-For", "203.0.113.7"))
	d := e.deps()
	d.TrustedProxies = []string{"192.0.2.0/24"}
	e.rebuild(d)
	require.Equal(t, "ann@203.0.113.7", login("X-Forwarded-For", "203.0.113.7"))
	require.Equal(t, "ann@203.0.113.7", login("X-Forwarded-For", "198.51.100.1, 203.0.113.7"), "the last address that is no proxy's")
	for _, header := range []string{"X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP", "X-Appengine-Remote-Addr"} {
		require.Equal(t, "ann@192.0.2.1", login(header, "203.0.113.7"), "a proxy lets %s of its client through", header)
		require.Equal(t, "ann@192.0.2.1", login("X-Forwarded-For", "unknown", header, "203.0.113.7"), "nor where the other is no address")
	}
}

func TestOddTokens(t *testing.T) { // 114, 115
	e := newEdge(t)
	for _, header := range []string{
		"Bearer", "Bearer ", "Basic YWRtaW46YWRtaW4=", adminToken, "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", "Bearer " + strings.Repeat("x", 1<<20),
		"Bearer  " + adminToken, "Token " + adminToken,
	} {
		a := e.call("GET", "/api/v1/jobs", "", "Authorization", header)
		a.want(401)
		require.NotEmpty(t, a.header.Get("WWW-Authenticate"))
	}
	e.call("GET", "/api/v1/jobs", "", "Authorization", "bearer "+adminToken).want(200)
}

const triggerPath = "/api/v1/jobs/x/trigger"

func TestTheSameKeyGetsTheSameAnswer(t *testing.T) {
	e := newEdge(t)
	first := e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	again := e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "application/json", again.header.Get("Content-Type"))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, 1, e.jobs.triggers)

	e.call("POST", triggerPath, `{"delaySec":2}`, "Idempotency-Key", "k1").wantField(422, "Idempotency-Key", "key_reused") // 121
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k2").want(202)
	e.call("POST", "/api/v1/jobs/y/trigger", `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1", "Authorization", "Bearer "+operatorToken).want(202)
	require.Equal(t, 4, e.jobs.triggers, "another key, route or user is another call")

	e.clock.Advance(24 * time.Hour)
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	require.Equal(t, 5, e.jobs.triggers, "a key lives 24 hours")
}

func TestARepeatedCreationKeepsItsHeaders(t *testing.T) {
	e := newEdge(t)
	body := encode(t, minimal())
	first := e.call("POST", "/api/v1/jobs", body, "Idempotency-Key", "k").want(201)
	again := e.call("POST", "/api/v1/jobs", body, "Idempotency-Key", "k").want(201)
	require.Equal(t, first.body, again.body)
	require.NotEmpty(t, first.header.Get("Location"))
	for _, name := range []string{"Location", "ETag"} {
		require.Equal(t, first.header.Get(name), again.header.Get(name))
	}
	require.Len(t, e.jobs.jobs, 1)
}

func TestEveryCreatingRouteHeedsTheKey(t *testing.T) {
	e := newEdge(t)
	var paths []string
	for _, r := range e.router.Routes() {
		if r.Idempotent {
			paths = append(paths, r.Method+" "+r.Path)
		}
	}
	require.Equal(t, []string{
		"POST /api/v1/jobs", "POST /api/v1/jobs/:id/trigger", "POST /api/v1/jobs/:id/copy", "POST /api/v1/jobs/:id/backfill", "POST /api/v1/groups",
		"POST /api/v1/bulk/jobs/trigger", "POST /api/v1/bulk/executions/retry", "POST /api/v1/bulk/dead-letters/replay",
		"POST /api/v1/executions/:id/retry", "POST /api/v1/dead-letters/:id/replay",
	}, paths)
	for range 2 {
		e.call("POST", "/api/v1/executions/e/retry", "", "Idempotency-Key", "k").want(202)
		e.call("POST", "/api/v1/dead-letters/e/replay", "", "Idempotency-Key", "k").want(202)
	}
	require.Equal(t, 2, e.executions.retries)
}

func TestRefusedCallsMayBeRepeatedUnderTheirKey(t *testing.T) {
	e := newEdge(t)
	e.call("POST", triggerPath, `{"delaySec":-1}`, "Idempotency-Key", "k").want(422)
	e.jobs.err = apperror.Unavailable(errors.New("down"))
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k").want(503)
	e.jobs.err = nil
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k").want(202)
	require.Empty(t, e.call("POST", triggerPath, "x", "Content-Type", "text/plain", "Idempotency-Key", "k2").want(415).header.Get("Idempotent-Replayed"))
}

func TestACallThatEndedInTheUnknownIsNotDoubled(t *testing.T) {
	for name, break1 := range map[string]func(*edge){
		"commit unknown": func(e *edge) { e.jobs.err = fmt.Errorf("write: %w", repository.ErrCommitUnknown) },
		"internal":       func(e *edge) { e.jobs.err = errors.New("odd") },
		"panic":          func(e *edge) { e.jobs.panics = "odd" },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			break1(e)
			require.GreaterOrEqual(t, e.call("POST", triggerPath, `{}`, "Idempotency-Key", "k").status, 500)
			e.jobs.err, e.jobs.panics = nil, nil
			e.call("POST", triggerPath, `{}`, "Idempotency-Key", "k").wantCode(409, "in_progress")
			e.clock.Advance(2 * time.Minute)
			e.call("POST", triggerPath, `{}`, "Idempotency-Key", "k").wantCode(409, "outcome_unknown")
			require.Zero(t, e.jobs.triggers)
		})
	}
}

func TestBadIdempotencyKeys(t *testing.T) {
	e := newEdge(t)
	for _, key := range []string{" ", "a b", "a\x7f", "ключ", strings.Repeat("x", 256)} {
		e.call("POST", triggerPath, "", "Idempotency-Key", key).wantCode(400, "invalid_idempotency_key")
	}
	e.call("POST", triggerPath, "", "Idempotency-Key", strings.Repeat("x", 255)).want(202)
	e.calls.err = apperror.Unavailable(errors.New("down"))
	e.call("POST", triggerPath, "", "Idempotency-Key", "k").want(503)
	require.Equal(t, 1, e.jobs.triggers)
}
