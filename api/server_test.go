package api_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
)

// serve runs the edge on a real socket and returns its address.
func (e *edge) serve(change func(*http.Server)) string {
	e.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(e.t, err)
	s := api.NewServer(l.Addr().String(), e.router, slog.New(slog.DiscardHandler))
	if change != nil {
		change(s)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	e.t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

// exchange sends bytes as they are and reads the status of the answer; 0 when
// the connection was closed without one.
func exchange(t *testing.T, addr, raw string) int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, _ = conn.Write([]byte(raw))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

const postHead = "POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + adminToken +
	"\r\nContent-Type: application/json\r\n"

func TestTheServerHasItsLimits(t *testing.T) {
	s := api.NewServer(":0", http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	require.Equal(t, []time.Duration{5 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute},
		[]time.Duration{s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout})
	require.Equal(t, 64<<10, s.MaxHeaderBytes)
}

func TestChunkedWithContentLength(t *testing.T) { // 83
	e := newEdge(t)
	addr := e.serve(nil)
	body := func(name string) string { return encode(t, minimal().with(fields{"name": name})) }
	chunked := func(name string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body(name)), body(name)) }
	require.Equal(t, 201, exchange(t, addr, postHead+"Transfer-Encoding: chunked\r\n\r\n"+chunked("a")))
	// The length is not believed: either the chunks are read or the request is refused.
	require.Contains(t, []int{201, 400},
		exchange(t, addr, postHead+"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"+chunked("b")))
	require.Equal(t, 400, exchange(t, addr, postHead+"Content-Length: 3\r\nContent-Length: 5\r\n\r\n"+body("c")))
	require.NotEqual(t, 201, exchange(t, addr, postHead+"Transfer-Encoding: gzip, chunked\r\n\r\n"+chunked("d")))
}

func TestSlowBodies(t *testing.T) { // 84
	e := newEdge(t)
	addr := e.serve(func(s *http.Server) { s.ReadTimeout = 100 * time.Millisecond })
	status := exchange(t, addr, postHead+"Content-Length: 100\r\n\r\n{") // the client waits for its end
	require.Contains(t, []int{0, 400, 408}, status)
	require.Empty(t, e.all())
}

func TestBodiesOverTheLimit(t *testing.T) { // 79
	e := newEdge(t)
	addr := e.serve(nil)
	require.Equal(t, 413, exchange(t, addr, postHead+"Content-Length: 104857600\r\n\r\n{"), "refused before it is read")
	big := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	require.Equal(t, 413, exchange(t, addr,
		postHead+"Transfer-Encoding: chunked\r\n\r\n"+fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(big), big)))
}

// Each route of alerting refuses 20 MB before it has read more than its limit and a buffer.
func TestBodiesOverTheLimitOfAlerting(t *testing.T) {
	e := newEdge(t)
	for _, path := range []string{
		"alerts/x/ack", "alerts/x/resolve", "alert-rules", "alert-rules/validate", "alert-rules/dry-run", "alert-channels",
		"alert-routes", "alert-templates", "alert-templates/preview", "alert-silences", "teams", "contacts", "on-call",
	} {
		t.Run(path, func(t *testing.T) {
			for _, known := range []bool{true, false} {
				body := strings.NewReader(`{"name":"` + strings.Repeat("x", 20_000_000) + `"}`)
				size := body.Len()
				r := httptest.NewRequest(http.MethodPost, "/api/v1/"+path, io.NopCloser(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Authorization", "Bearer "+adminToken)
				most := 2 << 20
				if r.ContentLength = -1; known {
					r.ContentLength, most = int64(size), 0
				}
				w := httptest.NewRecorder()
				e.router.ServeHTTP(w, r)
				require.Equal(t, http.StatusRequestEntityTooLarge, w.Code, w.Body)
				require.LessOrEqual(t, size-body.Len(), most, "bytes that were read")
			}
		})
	}
}

func TestHeadersOverTheLimit(t *testing.T) {
	e := newEdge(t)
	addr := e.serve(nil)
	require.Equal(t, 431, exchange(t, addr, "GET /healthz HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x",
		200_000)+"\r\n\r\n"))
	require.Equal(t, 400, exchange(t, addr, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\x00\r\n\r\n"))
}
