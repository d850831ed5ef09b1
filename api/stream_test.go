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
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// growing is a log that grows while it is read.
type growing struct {
	*fakeExecutions
	mu    sync.Mutex
	clock *clocktest.Manual
	look  time.Duration
}

// lastLook is when the run was read last.
func (g *growing) lastLook() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.look
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
	return entity.LogChunk{Type: entity.LogStdout, Attempt: 1, SeqFrom: from, SeqTo: from + int64(len(lines)) - 1, Content: strings.Join(lines, "\n"), CreateTime: now}
}

func data(seq, line string) string {
	return "id: " + seq + `|event: line|data: {"seq":` + seq + `,"time":"2026-11-20T12:00:00.000Z","stream":"STDOUT","line":"` + line + `","attempt":1}`
}

func TestALogIsFollowedToItsEnd(t *testing.T) {
	e := newEdge(t)
	e.clock = clocktest.NewManual(time.Now()) // deadlines of connections are the machine's
	g := &growing{fakeExecutions: e.executions, clock: e.clock}
	g.rows = []*entity.Execution{{ID: "x", Status: entity.StatusRunning}}
	g.chunks = []entity.LogChunk{chunk(1, "one", "two")}
	e.executionService = g
	e.rebuild(e.deps())
	server := httptest.NewServer(e.router)
	t.Cleanup(server.Close)
	path := "/api/v1/executions/x/logs/stream"

	s := e.follow(server, path)
	require.Equal(t, data("1", "one"), s.event())
	require.Equal(t, data("2", "two"), s.event())
	g.mu.Lock()
	g.chunks = append(g.chunks, chunk(3, "three"))
	g.rows = []*entity.Execution{{ID: "x", Status: entity.StatusSuccess}}
	g.mu.Unlock()
	rest := make(chan []string, 1)
	go func() { rest <- []string{s.event(), s.event(), s.event()} }()
	require.Eventually(t, func() bool { // the stream waits by the clock
		e.clock.Advance(100 * time.Millisecond)
		return len(rest) > 0
	}, 20*time.Second, time.Millisecond)
	require.Equal(t, []string{data("3", "three"), `event: end|data: {"status":"SUCCESS"}`, ""}, <-rest, "then the stream is over")

	s = e.follow(server, path, "Last-Event-ID", "2")
	require.Equal(t, data("3", "three"), s.event(), "nothing twice")
	s = e.follow(server, path+"?cursor=1")
	require.Equal(t, data("2", "two"), s.event())
}

func TestAStreamIsRefusedLikeAnyCall(t *testing.T) {
	e := newEdge(t)
	e.executions.rows = []*entity.Execution{{ID: "x", Status: entity.StatusSuccess}}
	path := "/api/v1/executions/x/logs/stream"
	e.call("GET", path, "", "Authorization", "").want(401)
	e.call("GET", path+"?token=secret", "", "Authorization", "").want(401)
	e.call("GET", "/api/v1/executions/none/logs/stream", "").wantCode(404, "not_found")
	e.call("GET", path, "", "Last-Event-ID", "x").wantField(422, "Last-Event-ID", "invalid_cursor")
	e.call("GET", path+"?cursor=-1", "").wantField(422, "Last-Event-ID", "invalid_cursor")
	require.Contains(t, e.call("GET", path, "").want(200).body, "event: end")
}

func TestOneUserTakesNotAllStreams(t *testing.T) {
	e := newEdge(t)
	e.clock = clocktest.NewManual(time.Now()) // deadlines of connections are the machine's
	g := &growing{fakeExecutions: e.executions, clock: e.clock}
	g.rows = []*entity.Execution{{ID: "x", Status: entity.StatusRunning}}
	g.chunks = []entity.LogChunk{chunk(1, "one")}
	e.executionService = g
	e.rebuild(e.deps())
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
	require.Equal(t, data("1", "one"), e.follow(server, path, "Authorization", "Bearer "+operatorToken).event(), "others have places of their own")

	open[0].close()
	require.Eventually(t, func() bool {
		status, _, _ := ask()
		return status == http.StatusOK
	}, 30*time.Second, 10*time.Millisecond, "a stream that ends frees its place")
}

func TestAStreamEndsWithTheRightToIt(t *testing.T) {
	path := "/api/v1/executions/x/logs/stream"
	for name, take := range map[string]func(f *fakeAuth){
		"the session is over": func(f *fakeAuth) { f.gone = map[string]bool{viewerToken: true} },
		"the role is gone":    func(f *fakeAuth) { f.roles = map[string]entity.Role{viewerToken: entity.RoleDisabled} },
		"the group is gone": func(f *fakeAuth) {
			f.groups = map[string]map[string]entity.Role{viewerToken: {"other": entity.RoleViewer}}
		},
		"nobody can be asked":    func(f *fakeAuth) { f.err = apperror.Unavailable(errors.New("down")) },
		"nothing, so it goes on": nil,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			e.clock = clocktest.NewManual(time.Now())
			g := &growing{fakeExecutions: e.executions, clock: e.clock}
			g.rows = []*entity.Execution{{ID: "x", Status: entity.StatusRunning, NodeID: "mine"}}
			g.chunks = []entity.LogChunk{chunk(1, "one")}
			e.executionService = g
			e.rebuild(e.deps())
			server := httptest.NewServer(e.router)
			t.Cleanup(server.Close)
			s := e.follow(server, path, "Authorization", "", "Cookie", "ps_session="+viewerToken)
			require.Equal(t, data("1", "one"), s.event(), "EventSource can send no header")
			if take != nil {
				e.auth.become(take)
			}
			taken := e.clock.Monotonic()
			ended := make(chan string, 1)
			go func() { ended <- s.event() }()
			require.Eventually(t, func() bool {
				e.clock.Advance(100 * time.Millisecond)
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

func (g *growing) Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fakeExecutions.Logs(ctx, p)
}

// GroupsOf implements middleware.GroupFinder.
func (g *growing) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fakeExecutions.GroupsOf(ctx, ids)
}

func (g *growing) Get(ctx context.Context, id string) (*entity.Execution, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look = g.clock.Monotonic()
	return g.fakeExecutions.Get(ctx, id)
}

// ending is a run that ends between two looks at its log.
type ending struct {
	*fakeExecutions
	gets int
}

func (g *ending) Get(ctx context.Context, id string) (*entity.Execution, error) {
	if g.gets++; g.gets == 2 { // the first one is whether there is such a run
		g.rows = []*entity.Execution{{ID: "x", Status: entity.StatusFailed}}
		g.chunks = []entity.LogChunk{chunk(1, "last words")}
	}
	return g.fakeExecutions.Get(ctx, id)
}

func TestWhatARunSaysLastComesBeforeItsEnd(t *testing.T) {
	e := newEdge(t)
	g := &ending{fakeExecutions: e.executions}
	g.rows = []*entity.Execution{{ID: "x", Status: entity.StatusRunning}}
	e.executionService = g
	e.rebuild(e.deps())
	body := e.call("GET", "/api/v1/executions/x/logs/stream", "").want(200).body
	require.Less(t, strings.Index(body, "last words"), strings.Index(body, "event: end"))
	require.Contains(t, body, "last words")
	require.Contains(t, body, `data: {"status":"FAILED"}`)
}
