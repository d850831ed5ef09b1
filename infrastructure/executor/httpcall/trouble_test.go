package httpcall_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen accepts connections and hands each to serve, which must not outlive
// the test.
func listen(t *testing.T, serve func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return "http://" + listener.Addr().String()
}

func TestRunNamesThePhaseThatFailed(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	untrusted := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	untrusted.Config.ErrorLog = quiet()
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	hangUp := listen(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1<<10)) })
	nonsense := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1<<10))
		_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH\r\n")
	})
	cases := []struct{ name, url, message string }{
		{"refused", "http://" + closed.Addr().String(), "connect to " + closed.Addr().String() + ": "},
		{"untrusted", untrusted.URL, "agree on TLS with " + host(untrusted) + ": "},
		{"no TLS", "https://" + host(plain), "agree on TLS with " + host(plain) + ": "},
		{"no name", "http://[::1%25nosuch]:8", "connect to [::1%nosuch]:8: "},
		{"no answer", hangUp, "wait for the answer of " + strings.TrimPrefix(hangUp, "http://") + ": "},
		{"no HTTP", nonsense, "malformed HTTP response"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			outcome, line := call(t, data{"url": c.url + "/p?token=secret"})
			require.Equal(t, entity.StatusFailed, outcome.Status)
			require.Equal(t, entity.ReasonError, outcome.Reason)
			require.Contains(t, outcome.Message, c.message)
			require.Contains(t, line, "no answer")
			require.NotContains(t, outcome.Message+line, "secret")
		})
	}
}

// quiet keeps the complaints of a server out of the test's output.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func TestRunRefusesOldTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = quiet()
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	s.StartTLS()
	t.Cleanup(s.Close)
	outcome, _ := call(t, data{"url": s.URL}, s)
	require.Equal(t, entity.ReasonError, outcome.Reason)
	require.Contains(t, outcome.Message, "agree on TLS")
}

func TestRunReportsAnAnswerThatBreaksOff(t *testing.T) {
	for _, framing := range []string{
		"Content-Length: 100\r\n\r\nhalf",
		"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		url := listen(t, func(conn net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+framing)
		})
		outcome, line := call(t, data{"url": url, "expectedBody": "half"})
		require.Equal(t, entity.StatusFailed, outcome.Status)
		require.Equal(t, entity.ReasonError, outcome.Reason)
		require.Contains(t, outcome.Message, "the answer broke off after 4 bytes")
		require.Equal(t, "half", outcome.Result)
		require.Contains(t, line, "200 OK, 4 bytes")
	}
}

func TestRunTakesABoundedPartOfAnEndlessAnswer(t *testing.T) {
	ended := make(chan int64, 1)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		block, sent := []byte(strings.Repeat("é", 32<<10)), int64(0)
		for sent < 10<<30 {
			n, err := w.Write(block)
			sent += int64(n)
			if err != nil {
				break
			}
		}
		ended <- sent
	})
	outcome, line := call(t, data{"url": s.URL})
	require.Equal(t, entity.StatusSuccess, outcome.Status)
	require.LessOrEqual(t, len(outcome.Result), 64<<10)
	require.Greater(t, len(outcome.Result), 63<<10)
	require.True(t, strings.HasSuffix(outcome.Result, "\n… (cut here)"))
	require.Contains(t, line, "1048576 bytes")
	require.Less(t, <-ended, int64(64<<20), "the target must notice that nobody reads on")

	outcome, _ = call(t, data{"url": s.URL, "expectedBody": "nowhere"})
	require.Equal(t, entity.ReasonBodyMismatch, outcome.Reason)
	require.Contains(t, outcome.Message, "the rest was not read")
}

func TestRunKeepsAResultThatJustFits(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, strings.Repeat("x", 64<<10), r.URL.Query().Get("more"))
	})
	outcome, _ := call(t, data{"url": s.URL})
	require.Equal(t, strings.Repeat("x", 64<<10), outcome.Result)
	outcome, _ = call(t, data{"url": s.URL + "?more=x"})
	require.Len(t, outcome.Result, 64<<10)
	require.True(t, strings.HasSuffix(outcome.Result, "x\n… (cut here)"))
}

func TestRunBoundsTheHeaders(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("x", 1<<20))
	})
	outcome, _ := call(t, data{"url": s.URL})
	require.Equal(t, entity.ReasonError, outcome.Reason)
}

// stalls are targets that never end their answer; each calls seen once the
// client depends on it.
func stalls(t *testing.T, seen chan<- struct{}) map[string]string {
	t.Helper()
	until := func(w http.ResponseWriter, r *http.Request, first string) {
		if first != "" {
			_, _ = io.WriteString(w, first)
			_ = http.NewResponseController(w).Flush()
		}
		seen <- struct{}{}
		<-r.Context().Done()
	}
	return map[string]string{
		"no headers": serve(t, func(w http.ResponseWriter, r *http.Request) { until(w, r, "") }).URL,
		"no body":    serve(t, func(w http.ResponseWriter, r *http.Request) { until(w, r, "first") }).URL,
		"drip": serve(t, func(w http.ResponseWriter, r *http.Request) {
			seen <- struct{}{}
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ".")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		}).URL,
		"drip of headers": listen(t, func(conn net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			seen <- struct{}{}
			for i := 0; err == nil; i++ {
				_, err = fmt.Fprintf(conn, "X-%d: y\r\n", i%10)
				time.Sleep(10 * time.Millisecond)
			}
		}),
	}
}

func TestRunEndsAtItsTimeLimit(t *testing.T) {
	cases := []struct {
		timeoutSec int
		setting    time.Duration
		limit      time.Duration
	}{{0, 0, 60 * time.Second}, {0, 9 * time.Second, 9 * time.Second}, {7, 9 * time.Second, 7 * time.Second}}
	seen := make(chan struct{}, 1)
	for name, url := range stalls(t, seen) {
		for _, c := range cases {
			t.Run(fmt.Sprint(name, " ", c.limit), func(t *testing.T) {
				now := clocktest.NewManual(time.Unix(0, 0))
				run := newRun(t, data{"url": url})
				run.Job.TimeoutSec = c.timeoutSec
				ended := make(chan entity.Outcome, 1)
				settings := open()
				settings.Timeout = c.setting
				go func() { ended <- httpcall.New(now, settings).Run(context.Background(), run, &executortest.Recorder{}) }()
				<-seen
				waiting := now.Timers()
				now.Advance(c.limit - time.Millisecond)
				require.Equal(t, waiting, now.Timers(), "its time is not over")
				now.Advance(time.Millisecond)
				require.Less(t, now.Timers(), waiting)
				outcome := <-ended
				require.Equal(t, entity.StatusTimeout, outcome.Status)
				require.Equal(t, entity.ReasonTimeout, outcome.Reason)
				require.Contains(t, outcome.Message, "the answer of "+strings.TrimPrefix(url, "http://"))
				require.Contains(t, outcome.Message, "no end within "+c.limit.String())
			})
		}
	}
}

func TestRunEndsWhenItIsStopped(t *testing.T) {
	cases := map[error]entity.Outcome{
		entity.ErrStopTimeout:  {Status: entity.StatusTimeout, Reason: entity.ReasonTimeout},
		entity.ErrStopCancel:   {Status: entity.StatusCancelled},
		entity.ErrStopShutdown: {Status: entity.StatusFailed, Reason: entity.ReasonShutdown},
		entity.ErrStopLost:     {Status: entity.StatusFailed, Reason: entity.ReasonNodeLost},
	}
	seen := make(chan struct{}, 1)
	for name, url := range stalls(t, seen) {
		for cause, want := range cases {
			t.Run(name+" "+cause.Error(), func(t *testing.T) {
				d := executor.New(map[entity.JobType]executor.Executor{entity.JobHTTP: httpcall.New(clock.NewSystem(), open())},
					nil)
				ctx, cancel := context.WithCancelCause(context.Background())
				run := newRun(t, data{"url": url, "expectedStatus": "404"})
				ended := make(chan entity.Outcome, 1)
				go func() { ended <- d.Run(ctx, run, &executortest.Recorder{}) }()
				<-seen
				cancel(cause)
				outcome := <-ended
				require.Equal(t, want.Status, outcome.Status)
				require.Equal(t, want.Reason, outcome.Reason)
				require.NotEmpty(t, outcome.Message)
			})
		}
	}
}

func TestEachAttemptIsSentOnce(t *testing.T) {
	// The target answers the first request and offers to keep the connection;
	// every later request it reads and hangs up on, whatever connection it
	// comes by. A transport that keeps connections sends those again.
	cases := map[string]data{
		"GET":               {},
		"HEAD":              {"method": "HEAD"},
		"OPTIONS":           {"method": "OPTIONS"},
		"POST":              {"method": "POST", "body": "x"},
		"POST without body": {"method": "POST"},
		"POST that may be twice": {
			"method": "POST", "body": "x",
			"headers": data{"Idempotency-Key": "k", "X-Idempotency-Key": "k"},
		},
		"DELETE":                              {"method": "DELETE", "headers": data{"Idempotency-Key": "k"}},
		"POST without body that may be twice": {"method": "POST", "headers": data{"X-Idempotency-Key": "k"}},
	}
	for name, d := range cases {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			d["url"] = listen(t, func(conn net.Conn) {
				in := bufio.NewReader(conn)
				for {
					_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					if requests.Add(1) > 1 {
						return
					}
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")
				}
			})
			x := httpcall.New(clock.NewSystem(), open())
			first := x.Run(t.Context(), newRun(t, d), &executortest.Recorder{})
			require.Equal(t, entity.StatusSuccess, first.Status)
			second := x.Run(t.Context(), newRun(t, d), &executortest.Recorder{})
			require.Equal(t, entity.ReasonError, second.Reason, second.Message)
			require.Equal(t, int64(2), requests.Load(), "one request for each of two attempts")
		})
	}
}

func TestATargetThatDropsIdleConnectionsLosesNothing(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	x := httpcall.New(clock.NewSystem(), open())
	for range 50 {
		outcome := x.Run(t.Context(), newRun(t, data{"url": s.URL, "method": "POST", "body": "x"}), &executortest.Recorder{})
		require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
		s.CloseClientConnections()
	}
}
