package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// edge is a node with its REST API.
type edge struct {
	*node
	server *server.Server
	token  string
}

// startEdge starts a whole server, and signs in.
func startEdge(t testing.TB, cfg config.Config) *edge {
	t.Helper()
	cfg.Auth.InitialAdminPassword = "a-password-for-tests"
	e := &edge{node: &node{t: t, cfg: cfg, clock: clocktest.NewShifted(), script: &script{}}}
	var err error
	e.server, err = server.New(t.Context(), cfg, app.Options{Clock: e.clock, Executor: e.script, Logger: discard()})
	require.NoError(t, err)
	e.Engine = e.server.Engine
	require.NoError(t, e.server.Start())
	var login struct{ Token string }
	e.call(http.MethodPost, "/api/v1/auth/login",
		map[string]string{"username": "admin", "password": cfg.Auth.InitialAdminPassword}, &login)
	e.token = login.Token
	return e
}

func (e *edge) stop() { require.NoError(e.t, e.server.Stop(context.Background())) }

func (e *edge) request(method, path string, body any) *http.Response {
	e.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(e.t, err)
	if body == nil {
		text = nil
	}
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.server.URL()+path, bytes.NewReader(text))
	require.NoError(e.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+e.token)
	res, err := http.DefaultClient.Do(r)
	require.NoError(e.t, err)
	return res
}

// call expects a good answer, and reads it where it is wanted.
func (e *edge) call(method, path string, body, into any) {
	e.t.Helper()
	res := e.request(method, path, body)
	defer func() { _ = res.Body.Close() }()
	require.Less(e.t, res.StatusCode, 300, "%s %s", method, path)
	if into != nil {
		require.NoError(e.t, json.NewDecoder(res.Body).Decode(into))
	}
}

// follow hands over the events of a run's log, until the stream ends.
func (e *edge) follow(executionID string) <-chan string {
	e.t.Helper()
	res := e.request(http.MethodGet, "/api/v1/executions/"+executionID+"/logs/stream", nil)
	require.Equal(e.t, http.StatusOK, res.StatusCode)
	events := make(chan string, 100)
	go func() {
		defer close(events)
		defer func() { _ = res.Body.Close() }()
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
				events <- data
			}
		}
	}()
	return events
}

// next is the next event, or fails the test.
func next(t testing.TB, events <-chan string) string {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(within):
		require.Fail(t, "the stream is silent")
		return ""
	}
}

// begun waits until the run is at work on a node, and returns its row.
func (e *edge) begun(executionID string) *entity.Execution {
	e.t.Helper()
	return e.awaitStatus(executionID, entity.StatusRunning)
}

// triggered makes a run over the API.
func (e *edge) triggered(jobID string) string {
	e.t.Helper()
	var made struct{ ExecutionIDs []string }
	e.call(http.MethodPost, "/api/v1/jobs/"+jobID+"/trigger", map[string]any{}, &made)
	require.Len(e.t, made.ExecutionIDs, 1)
	return made.ExecutionIDs[0]
}

// replaced edits a job on this node.
func (n *node) replaced(job *entity.Job, change func(j *entity.Job)) *entity.Job {
	n.t.Helper()
	edited := *job
	change(&edited)
	stored, err := n.Jobs.Replace(n.t.Context(), job.ID, &edited, 0, 0)
	require.NoError(n.t, err)
	return stored
}
