package httpcall_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawTarget is a target of bytes: it answers what a test writes, and keeps what it was sent as it came.
type rawTarget struct {
	URL  string
	mu   sync.Mutex
	sent []rawRequest
}

// rawRequest is one request. Line is its first line without the version.
type rawRequest struct {
	Line, Body string
	Header     http.Header
}

// newRawTarget answers the n-th request, from 0, with the bytes of answer; {self} in them is its own address. It closes
// each connection.
func newRawTarget(t *testing.T, answer func(n int, path string) string) *rawTarget {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	target := &rawTarget{URL: "http://" + listener.Addr().String()}
	var calls sync.WaitGroup
	calls.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			calls.Go(func() {
				defer func() { _ = conn.Close() }()
				n, path := target.read(conn)
				_, _ = io.WriteString(conn, strings.ReplaceAll(answer(n, path), "{self}", target.URL))
			})
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		calls.Wait()
	})
	return target
}

func (r *rawTarget) read(conn net.Conn) (n int, path string) {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return -1, ""
	}
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, rawRequest{request.Method + " " + request.RequestURI, string(body), request.Header})
	return len(r.sent) - 1, request.URL.Path
}

// requests are those that came so far.
func (r *rawTarget) requests() []rawRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]rawRequest(nil), r.sent...)
}

// lines are the first lines of the requests, with their bodies.
func (r *rawTarget) lines() []string {
	var lines []string
	for _, q := range r.requests() {
		lines = append(lines, strings.TrimSpace(q.Line+" "+q.Body))
	}
	return lines
}

// rawAnswer is an answer with a status line, headers and a body, whose connection ends it.
func rawAnswer(status, headers, body string) string {
	return "HTTP/1.1 " + status + "\r\n" + strings.ReplaceAll(headers, "\n", "\r\n") + "Connection: close\r\n\r\n" + body
}
