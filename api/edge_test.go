package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestPanicsStayInside(t *testing.T) {
	e := newEdge(t)
	jobs := e.failingJobs()
	jobs.panics = "canary"
	a := e.call("POST", "/api/v1/jobs", encode(t, minimal()))
	a.wantCode(500, "internal")
	require.NotContains(t, a.body, "canary")
	require.NotContains(t, a.body, "goroutine")
	require.Contains(t, e.log.String(), "canary")
	require.Contains(t, e.log.String(), "harness_test.go", "the stack is in the log")

	jobs.panics = http.ErrAbortHandler
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
	for _, a := range []answer{
		e.call("GET", "/api/v1/jobs", ""), e.call("GET", "/nothing", ""),
		e.call("GET", "/api/v1/jobs", "", "Authorization", "", "Origin", "https://evil"),
	} {
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
	require.Regexp(t, "^pss_[0-9a-f]{64}$", m["token"])
	require.Equal(t, "2026-11-21T00:00:00.000Z", m["expiresAt"])
	user := m["user"].(map[string]any)
	require.Equal(t, []any{"id-of-ann", "ann", "operator"}, []any{user["id"], user["username"], user["role"]})
	require.NotContains(t, strings.ReplaceAll(a.body, `"mustChangePassword":false`, ""), "assword")

	e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"wrong"}`, "Authorization", "").
		wantCode(401, "wrong_credentials")
	e.call("POST", "/api/v1/auth/login", `{"username":1}`, "Authorization", "").wantField(422, "password", "required")
	e.call("POST", "/api/v1/auth/login", `{"username":"a","password":"b","role":"admin"}`, "Authorization", "").
		wantField(422, "role", "unknown_field")

	require.Equal(t, "admin", e.call("GET", "/api/v1/auth/me", "").want(200).json()["username"])
	e.call("POST", "/api/v1/auth/password", `{"oldPassword":"x","newPassword":"a better one"}`).
		wantField(422, "oldPassword", "wrong_password")
	e.call("POST", "/api/v1/auth/password", `{}`).wantField(422, "newPassword", "required")
	require.Empty(t, e.call("POST", "/api/v1/auth/password", `{"oldPassword":"right","newPassword":"a better one"}`).
		want(204).body)
	e.call("GET", "/api/v1/auth/me", "").wantCode(401, "unknown_token")
	e.call("POST", "/api/v1/auth/logout", "", as(m["token"].(string))...).want(204)
	e.call("GET", "/api/v1/auth/me", "", as(m["token"].(string))...).wantCode(401, "unknown_token")
}

func TestForwardedAddressesAreBelievedFromProxiesOnly(t *testing.T) {
	e := newEdge(t)
	login := func(headers ...string) any {
		e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"right"}`, headers...).want(200)
		return e.last().Address
	}
	require.Equal(t, "192.0.2.1", login("X-Forwarded-For", "203.0.113.7"))
	e.rebuild(func(d *api.Deps) {
		d.TrustedProxies = []string{"192.0.2.0/24"}
	})
	require.Equal(t, "203.0.113.7", login("X-Forwarded-For", "203.0.113.7"))
	require.Equal(t, "203.0.113.7", login("X-Forwarded-For", "198.51.100.1, 203.0.113.7"),
		"the last address that is no proxy's")
	for _, header := range []string{
		"X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP",
		"X-Appengine-Remote-Addr",
	} {
		require.Equal(t, "192.0.2.1", login(header, "203.0.113.7"), "a proxy lets %s of its client through", header)
		require.Equal(t, "192.0.2.1", login("X-Forwarded-For", "unknown", header, "203.0.113.7"),
			"nor where the other is no address")
	}
}

func TestOddTokens(t *testing.T) { // 114, 115
	e := newEdge(t)
	for _, header := range []string{
		"Bearer", "Bearer ", "Basic YWRtaW46YWRtaW4=", adminToken, "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
		"Bearer " + strings.Repeat("x", 1<<20),
		"Bearer  " + adminToken, "Token " + adminToken,
	} {
		a := e.call("GET", "/api/v1/jobs", "", "Authorization", header)
		a.want(401)
		require.NotEmpty(t, a.header.Get("WWW-Authenticate"))
	}
	e.call("GET", "/api/v1/jobs", "", "Authorization", "bearer "+adminToken).want(200)
}

// trigger makes a job and gives the address to trigger it, and its executions.
func (e *edge) trigger(name string) (path string, made func() []*entity.Execution) {
	e.t.Helper()
	id := e.create(encode(e.t, minimal().with(fields{"name": name})))["id"].(string)
	return "/api/v1/jobs/" + id + "/trigger", func() []*entity.Execution { return e.runs(id) }
}

func TestTheSameKeyGetsTheSameAnswer(t *testing.T) {
	e := newEdge(t)
	triggerPath, triggers := e.trigger("x")
	other, others := e.trigger("y")
	first := e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	again := e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "application/json", again.header.Get("Content-Type"))
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Len(t, triggers(), 1)

	e.call("POST", triggerPath, `{"delaySec":2}`, "Idempotency-Key", "k1").wantField(422, "Idempotency-Key",
		"key_reused") // 121
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k2").want(202)
	e.call("POST", other, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1", "Authorization", "Bearer "+operatorToken).
		want(202)
	require.Len(t, append(triggers(), others()...), 4, "another key, route or user is another call")

	e.Clock.Advance(24*time.Hour + time.Millisecond)
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k1").want(202)
	require.Len(t, triggers(), 4, "a key lives 24 hours")
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
	require.Len(t, e.all(), 1)
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
		"POST /api/v1/jobs", "POST /api/v1/jobs/:id/trigger", "POST /api/v1/jobs/:id/copy", "POST /api/v1/jobs/:id/backfill",
		"POST /api/v1/groups",
		"POST /api/v1/bulk/jobs/trigger", "POST /api/v1/bulk/executions/retry", "POST /api/v1/bulk/dead-letters/replay",
		"POST /api/v1/executions/:id/retry", "POST /api/v1/dead-letters/:id/replay",
		"POST /api/v1/workflow-runs/:id/retry", "POST /api/v1/workflow-runs/:id/steps/:key/repeat",
		"POST /api/v1/alert-rules", "POST /api/v1/alert-silences", "POST /api/v1/alert-routes",
		"POST /api/v1/alert-templates", "POST /api/v1/teams",
		"POST /api/v1/contacts", "POST /api/v1/on-call",
	}, paths)
	job := e.deadRuns("e", "f")
	for range 2 {
		e.call("POST", "/api/v1/executions/e/retry", "", "Idempotency-Key", "k").want(202)
		e.call("POST", "/api/v1/dead-letters/f/replay", "", "Idempotency-Key", "k").want(202)
	}
	require.Len(t, e.runs(job), 4, "the two that died, and one more of each")
}

func TestRefusedCallsMayBeRepeatedUnderTheirKey(t *testing.T) {
	e := newEdge(t)
	triggerPath, _ := e.trigger("x")
	e.call("POST", triggerPath, `{"delaySec":-1}`, "Idempotency-Key", "k").want(422)
	e.Faults.Away(true)
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k").want(503)
	e.Faults.Away(false)
	e.call("POST", triggerPath, `{"delaySec":1}`, "Idempotency-Key", "k").want(202)
	require.Empty(t, e.call("POST", triggerPath, "x", "Content-Type", "text/plain", "Idempotency-Key",
		"k2").want(415).header.Get("Idempotent-Replayed"))
}

func TestACallThatEndedInTheUnknownIsNotDoubled(t *testing.T) {
	for name, break1 := range map[string]func(*failing){
		"commit unknown": func(jobs *failing) { jobs.err = fmt.Errorf("write: %w", repository.ErrCommitUnknown) },
		"internal":       func(jobs *failing) { jobs.err = errors.New("odd") },
		"panic":          func(jobs *failing) { jobs.panics = "odd" },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			triggerPath, triggers := e.trigger("x")
			jobs := e.failingJobs()
			break1(jobs)
			require.GreaterOrEqual(t, e.call("POST", triggerPath, `{}`, "Idempotency-Key", "k").status, 500)
			jobs.err, jobs.panics = nil, nil
			e.call("POST", triggerPath, `{}`, "Idempotency-Key", "k").wantCode(409, "in_progress")
			e.Clock.Advance(2 * time.Minute)
			e.call("POST", triggerPath, `{}`, "Idempotency-Key", "k").wantCode(409, "outcome_unknown")
			require.Empty(t, triggers())
		})
	}
}

func TestBadIdempotencyKeys(t *testing.T) {
	e := newEdge(t)
	triggerPath, triggers := e.trigger("x")
	for _, key := range []string{" ", "a b", "a\x7f", "ключ", strings.Repeat("x", 256)} {
		e.call("POST", triggerPath, "", "Idempotency-Key", key).wantCode(400, "invalid_idempotency_key")
	}
	e.call("POST", triggerPath, "", "Idempotency-Key", strings.Repeat("x", 255)).want(202)
	e.rebuild(func(d *api.Deps) { d.Calls = silentCalls{d.Calls} })
	e.call("POST", triggerPath, "", "Idempotency-Key", "k").want(503)
	require.Len(t, triggers(), 1)
}

// silentCalls do not answer; the writes of calls with a key pass by Faults.
type silentCalls struct{ repository.IdempotentCalls }

func (silentCalls) Begin(context.Context, entity.IdempotentCall, time.Duration) (entity.IdempotentCall, bool, error) {
	return entity.IdempotentCall{}, false, apperror.Unavailable(errors.New("down"))
}
