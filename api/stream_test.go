package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/controller/access"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// watched notes when a run was read last, and lets the test act before it is read.
type watched struct {
	api.ExecutionService
	clock  *clocktest.Manual
	before func(reads int)

	mu    sync.Mutex
	look  time.Duration
	reads int
}

// Get implements execution.ExecutionService.
func (w *watched) Get(ctx context.Context, id string) (*entity.Execution, error) {
	w.mu.Lock()
	w.look = w.clock.Monotonic()
	w.reads++
	reads := w.reads
	w.mu.Unlock()
	if w.before != nil {
		w.before(reads)
	}
	return w.ExecutionService.Get(ctx, id)
}

// lastLook is when the run was read last.
func (w *watched) lastLook() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.look
}

// watch puts watched before the service of executions.
func (e *edge) watch(before func(reads int)) *watched {
	e.t.Helper()
	w := &watched{ExecutionService: e.Executions, clock: e.Clock, before: before}
	e.rebuild(func(d *api.Deps) { d.Executions = w })
	return w
}

// running is the API with a run, whose log has these lines, at the time of the machine:
// deadlines of connections are the machine's.
func running(t *testing.T, lines ...string) *edge {
	t.Helper()
	e := edgeOf(t, enginetest.Options{Clock: clocktest.NewManual(time.Now())})
	job := e.create(encode(t, minimal()))["id"].(string)
	e.put(live(job))
	e.logs("x", job, chunk(1, lines...))
	return e
}

// live is a run that goes on.
func live(jobID string) entity.Execution {
	x := waiting("x", jobID)
	x.Status, x.NodeID, x.Epoch, x.Token, x.Attempt, x.Claim = entity.StatusRunning, "node-1", 1, 1, 1,
		entity.RunningKey("node-1")
	return x
}

// end ends the run.
func (e *edge) end(status entity.Status) {
	e.t.Helper()
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error {
		refused, err := tx.Executions.Finish(ctx,
			[]repository.Finish{{ID: "x", NodeID: "node-1", Epoch: 1, Token: 1, Status: status, EndTime: now}}, now)
		require.Empty(e.t, refused)
		return err
	})
}

// stream reads the events of a log until it ends.
type stream struct {
	t     *testing.T
	body  *bufio.Scanner
	close func()
}

func (e *edge) follow(server *httptest.Server, path string, headers ...string) *stream {
	e.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody)
	require.NoError(e.t, err)
	req.Header.Set("Authorization", "Bearer "+viewerToken)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if req.Header.Get("Authorization") == "" {
		req.Header.Del("Authorization")
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(e.t, err)
	require.Equal(e.t, 200, res.StatusCode)
	require.Equal(e.t, "text/event-stream", res.Header.Get("Content-Type"))
	s := &stream{t: e.t, body: bufio.NewScanner(res.Body), close: func() {
		cancel()
		_ = res.Body.Close()
	}}
	e.t.Cleanup(s.close)
	return s
}

// event reads the next event that is no comment, its lines joined.
func (s *stream) event() string {
	s.t.Helper()
	var lines []string
	for s.body.Scan() {
		switch text := s.body.Text(); {
		case text == "" && len(lines) > 0:
			return strings.Join(lines, "|")
		case text == "" || strings.HasPrefix(text, ":"):
		default:
			lines = append(lines, text)
		}
	}
	return ""
}

func chunk(from int64, lines ...string) entity.LogChunk {
	return entity.LogChunk{
		Type: entity.LogStdout, Attempt: 1, SeqFrom: from, SeqTo: from + int64(len(lines)) - 1,
		Content: strings.Join(lines, "\n"), CreateTime: now,
	}
}

func data(seq, line string) string {
	return "id: " + seq + `|event: line|data: {"seq":` + seq +
		`,"time":"2026-11-20T12:00:00.000Z","stream":"STDOUT","line":"` + line + `","attempt":1}`
}

func TestALogIsFollowedToItsEnd(t *testing.T) {
	e := running(t, "one", "two")
	server := httptest.NewServer(e.router)
	t.Cleanup(server.Close)
	path := "/api/v1/executions/x/logs/stream"

	s := e.follow(server, path)
	require.Equal(t, data("1", "one"), s.event())
	require.Equal(t, data("2", "two"), s.event())
	e.logs("x", e.Execution(t, "x").JobID, chunk(3, "three"))
	e.end(entity.StatusSuccess)
	rest := make(chan []string, 1)
	go func() { rest <- []string{s.event(), s.event(), s.event()} }()
	require.Eventually(t, func() bool { // the stream waits by the clock
		e.Clock.Advance(100 * time.Millisecond)
		return len(rest) > 0
	}, 20*time.Second, time.Millisecond)
	require.Equal(t, []string{data("3", "three"), `event: end|data: {"status":"SUCCESS"}`, ""}, <-rest,
		"then the stream is over")

	s = e.follow(server, path, "Last-Event-ID", "2")
	require.Equal(t, data("3", "three"), s.event(), "nothing twice")
	s = e.follow(server, path+"?cursor=1")
	require.Equal(t, data("2", "two"), s.event())
}

func TestAStreamIsRefusedLikeAnyCall(t *testing.T) {
	e := newEdge(t)
	e.deadRuns("x")
	path := "/api/v1/executions/x/logs/stream"
	e.call("GET", path, "", "Authorization", "").want(401)
	e.call("GET", path+"?token=secret", "", "Authorization", "").want(401)
	e.call("GET", "/api/v1/executions/none/logs/stream", "").wantCode(404, "not_found")
	e.call("GET", path, "", "Last-Event-ID", "x").wantField(422, "Last-Event-ID", "invalid_cursor")
	e.call("GET", path+"?cursor=-1", "").wantField(422, "Last-Event-ID", "invalid_cursor")
	require.Contains(t, e.call("GET", path, "").want(200).body, "event: end")
}

func TestOneUserTakesNotAllStreams(t *testing.T) {
	e := running(t, "one")
	server := httptest.NewServer(e.router)
	t.Cleanup(server.Close)
	path := "/api/v1/executions/x/logs/stream"

	var open []*stream
	for range 20 {
		s := e.follow(server, path)
		require.Equal(t, data("1", "one"), s.event())
		open = append(open, s)
	}
	ask := func() (status int, retryAfter, code string) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel() // one that is let in would not end
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+viewerToken)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { require.NoError(t, res.Body.Close()) }()
		var body struct{ Code string }
		if res.StatusCode != http.StatusOK {
			require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
		}
		return res.StatusCode, res.Header.Get("Retry-After"), body.Code
	}
	status, retryAfter, code := ask()
	require.Equal(t, []any{429, "5", "too_many_streams"}, []any{status, retryAfter, code})
	require.Equal(t, data("1", "one"), e.follow(server, path, "Authorization", "Bearer "+operatorToken).event(),
		"others have places of their own")

	open[0].close()
	require.Eventually(t, func() bool {
		status, _, _ := ask()
		return status == http.StatusOK
	}, 30*time.Second, 10*time.Millisecond, "a stream that ends frees its place")
}

func TestAStreamEndsWithTheRightToIt(t *testing.T) {
	path := "/api/v1/executions/x/logs/stream"
	viewer := func(e *edge, role entity.Role, groups map[string]entity.Role) {
		require.NoError(e.t, e.Store.SetRole(e.t.Context(), "id-of-viewer", role, entity.Rights{Groups: groups},
			e.Clock.Now()))
	}
	for name, take := range map[string]func(e *edge, auth *awayAuth){
		"the session is over": func(e *edge, _ *awayAuth) {
			e.call("POST", "/api/v1/auth/logout", "", as(viewerToken)...).want(204)
		},
		"the role is gone": func(e *edge, _ *awayAuth) { viewer(e, entity.RoleDisabled, nil) },
		"the group is gone": func(e *edge, _ *awayAuth) {
			viewer(e, entity.RoleViewer, map[string]entity.Role{"other": entity.RoleViewer})
		},
		"nobody can be asked":    func(_ *edge, auth *awayAuth) { auth.away.Store(true) },
		"nothing, so it goes on": nil,
	} {
		t.Run(name, func(t *testing.T) {
			e := running(t, "one")
			auth := &awayAuth{}
			e.rebuild(func(d *api.Deps) { auth.AuthService, d.Auth = d.Auth, auth })
			g := e.watch(nil)
			server := httptest.NewServer(e.router)
			t.Cleanup(server.Close)
			with := []string{"Authorization", "", "Cookie", "ps_session=" + viewerToken} // EventSource can send no header
			if strings.HasSuffix(name, "is gone") {
				// A change of the rights ends the sessions, and no API token.
				expires := e.Clock.Now().Add(time.Hour).UTC().Format(time.RFC3339)
				with = as(e.call("POST", tokens, `{"name":"CI","expiresAt":"`+expires+`"}`,
					as(viewerToken)...).want(201).json()["token"].(string))
			}
			s := e.follow(server, path, with...)
			require.Equal(t, data("1", "one"), s.event())
			if take != nil {
				take(e, auth)
			}
			taken := e.Clock.Monotonic()
			ended := make(chan string, 1)
			go func() { ended <- s.event() }()
			require.Eventually(t, func() bool {
				e.Clock.Advance(100 * time.Millisecond)
				return len(ended) > 0 || take == nil && g.lastLook()-taken > 20*time.Second
			}, 20*time.Second, time.Millisecond)
			if take == nil {
				return
			}
			require.Empty(t, <-ended)
			require.LessOrEqual(t, g.lastLook()-taken, 15*time.Second, "nothing was read after one heartbeat")
		})
	}
}

// awayAuth is an AuthService whose store goes away.
type awayAuth struct {
	access.AuthService
	away atomic.Bool
}

func (a *awayAuth) Authenticate(ctx context.Context, token string) (entity.Principal, error) {
	if a.away.Load() {
		return entity.Principal{}, apperror.Unavailable(errors.New("down"))
	}
	return a.AuthService.Authenticate(ctx, token)
}

func TestWhatARunSaysLastComesBeforeItsEnd(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal()))["id"].(string)
	e.put(live(job))
	e.watch(func(reads int) {
		if reads == 2 { // the first one is whether there is such a run
			e.logs("x", job, chunk(1, "last words"))
			e.end(entity.StatusFailed)
		}
	})
	body := e.call("GET", "/api/v1/executions/x/logs/stream", "").want(200).body
	require.Less(t, strings.Index(body, "last words"), strings.Index(body, "event: end"))
	require.Contains(t, body, "last words")
	require.Contains(t, body, `data: {"status":"FAILED"}`)
}
