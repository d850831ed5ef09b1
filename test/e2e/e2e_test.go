// Package e2e_test drives the whole server over HTTP, as its users do.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	appserver "github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// server is a running server and somebody who is signed in.
type server struct {
	t     *testing.T
	url   string
	token string
}

func start(t *testing.T) *server {
	t.Helper()
	s, _ := startInside(t)
	return s
}

// startInside is start, with the server itself.
func startInside(t *testing.T) (*server, *appserver.Server) {
	t.Helper()
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "1",
	}})
	require.NoError(t, err)
	machine := clock.NewSystem()
	executor, err := executors.New(cfg, executors.Options{Clock: machine, Served: true})
	require.NoError(t, err)
	srv, err := appserver.New(t.Context(), cfg, app.Options{
		Clock: machine, Executor: executor, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	t.Cleanup(func() { require.NoError(t, srv.Stop(context.Background())) })

	info, err := os.Stat(srv.PasswordFile())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	password, err := os.ReadFile(srv.PasswordFile())
	require.NoError(t, err)
	s := &server{t: t, url: srv.URL()}
	var login struct{ Token string }
	s.must(200, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"username": "admin", "password": strings.TrimSpace(string(password))}, &login)
	s.token = login.Token
	return s, srv
}

// call sends a request and returns the status and the body.
func (s *server) call(method, path string, body any, headers ...string) (status int, answer []byte) {
	s.t.Helper()
	raw := []byte(nil)
	if body != nil {
		var err error
		raw, err = json.Marshal(body)
		require.NoError(s.t, err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, bytes.NewReader(raw))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	answer, err = io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, answer
}

// must is call where only one status will do.
func (s *server) must(want int, method, path string, body, answer any, headers ...string) {
	s.t.Helper()
	status, raw := s.call(method, path, body, headers...)
	require.Equal(s.t, want, status, "%s %s: %s", method, path, raw)
	if answer != nil {
		require.NoError(s.t, json.Unmarshal(raw, answer))
	}
}

// await polls a path until the condition holds.
func (s *server) await(what, path string, answer any, condition func() bool) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		s.must(200, http.MethodGet, path, nil, answer)
		return condition()
	}, 20*time.Second, 20*time.Millisecond, what)
}

func TestAnHTTPJobFiresOnTimeWithItsIdentity(t *testing.T) {
	s := start(t)
	var mu sync.Mutex
	seen := map[string]http.Header{}
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Header.Get("X-Scheduler-Execution-Id")] = r.Header.Clone()
		_, _ = w.Write([]byte("settled"))
	}))
	t.Cleanup(target.Close)
	var job struct{ ID string }
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "settle", "jobType": "HTTP",
		"jobData":  map[string]any{"method": "POST", "url": target.URL + "/settle", "body": "{}", "expectedBody": "settled"},
		"schedule": map[string]any{"kind": "CRON", "cronExpression": "* * * * * ?"},
	}, &job)
	var page struct {
		Items []struct {
			ID, Status, FireKey string
			LatenessMs          *int
		}
	}
	s.await("two runs succeed", "/api/v1/executions?status=SUCCESS&jobId="+job.ID, &page, func() bool {
		return len(page.Items) >= 2
	})
	mu.Lock()
	defer mu.Unlock()
	for _, e := range page.Items {
		h := seen[e.ID]
		require.NotNil(t, h, "the target saw every success")
		require.Equal(t, job.ID, h.Get("X-Scheduler-Job-Id"))
		require.Equal(t, "1", h.Get("X-Scheduler-Attempt"))
		require.Equal(t, e.ID, h.Get("X-Scheduler-Idempotency-Key"))
		require.NotEmpty(t, h.Get("X-Scheduler-Fencing-Token"))
	}
	var ledger struct {
		Items []struct{ Outcome, FireKey string }
	}
	s.must(200, http.MethodGet, "/api/v1/jobs/"+job.ID+"/fires", nil, &ledger)
	require.Equal(t, "PLANNED", ledger.Items[0].Outcome)
	require.Equal(t, "SUCCESS", ledger.Items[len(ledger.Items)-1].Outcome)
}

func TestATriggerWithAKeyRunsOnceAndItsLogCanBeRead(t *testing.T) {
	s := start(t)
	var job struct{ ID string }
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "talk", "jobType": "CUSTOM", "jobClass": "log",
		"jobData": map[string]any{"lines": []string{"first", "second"}},
	}, &job)
	var first, second struct {
		IDs []string `json:"executionIds"`
	}
	s.must(202, http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", map[string]any{}, &first, "Idempotency-Key", "k-1")
	s.must(202, http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", map[string]any{}, &second, "Idempotency-Key", "k-1")
	require.Equal(t, first, second)
	status, _ := s.call(http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", map[string]any{"delaySec": 1},
		"Idempotency-Key", "k-1")
	require.Equal(t, 422, status, "the same key with another body")
	var run struct{ Status string }
	path := "/api/v1/executions/" + first.IDs[0]
	s.await("the run ends", path, &run, func() bool { return run.Status == "SUCCESS" })
	var log struct {
		Items []struct {
			Seq  int
			Line string
		}
	}
	s.must(200, http.MethodGet, path+"/logs", nil, &log)
	require.Len(t, log.Items, 2)
	require.Equal(t, "first", log.Items[0].Line)
	require.Equal(t, 2, log.Items[1].Seq)
}

func TestAFailingJobBecomesADeadLetterAndIsReplayed(t *testing.T) {
	s := start(t)
	var job struct{ ID string }
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "fails", "jobType": "CUSTOM", "jobClass": "fail", "jobData": map[string]any{"message": "no"},
		"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 10},
	}, &job)
	s.must(202, http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", map[string]any{}, nil)
	var letters struct {
		Items []struct{ ExecutionID string }
	}
	s.await("a dead letter", "/api/v1/dead-letters", &letters, func() bool { return len(letters.Items) == 1 })
	path := "/api/v1/dead-letters/" + letters.Items[0].ExecutionID + "/replay"
	s.must(202, http.MethodPost, path, nil, nil)
	status, _ := s.call(http.MethodPost, path, nil)
	require.Equal(t, 409, status, "a letter is replayed once")
}

func TestEditsAreGuardedByVersions(t *testing.T) {
	s := start(t)
	var job map[string]any
	s.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "edit", "jobType": "CUSTOM", "jobClass": "noop", "schedule": map[string]any{
			"kind":       "FIXED_RATE",
			"intervalMs": 60000,
		},
	}, &job)
	path := "/api/v1/jobs/" + job["id"].(string)
	job["description"] = "what GET gives, PUT takes"
	s.must(200, http.MethodPut, path, job, nil)
	status, _ := s.call(http.MethodPut, path, job)
	require.Equal(t, 409, status, "the version is stale")
	status, _ = s.call(http.MethodPut, path, job, "If-Match", `"1"`)
	require.Equal(t, 412, status)
	s.must(204, http.MethodDelete, path, nil, nil)
	status, _ = s.call(http.MethodGet, path, nil)
	require.Equal(t, 404, status)
}

func TestNothingIsOpenWithoutSigningIn(t *testing.T) {
	s := start(t)
	s.token = ""
	for _, path := range []string{"/api/v1/jobs", "/api/v1/executions", "/api/v1/dead-letters", "/api/v1/auth/me"} {
		status, _ := s.call(http.MethodGet, path, nil)
		require.Equal(t, 401, status, path)
	}
	for _, path := range []string{"/healthz", "/readyz", "/version", "/metrics"} {
		status, body := s.call(http.MethodGet, path, nil)
		require.Equal(t, 200, status, path)
		require.NotEmpty(t, body)
	}
	_, metrics := s.call(http.MethodGet, "/metrics", nil)
	for _, name := range []string{
		"ps_start_lateness_seconds", "ps_queue_depth", "ps_loop_age_seconds",
		"ps_store_queries_total",
	} {
		require.Contains(t, string(metrics), name)
	}
}
