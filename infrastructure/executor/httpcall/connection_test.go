package httpcall_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

func runs(t *testing.T, x *httpcall.Executor, d data) entity.Outcome {
	t.Helper()
	return x.Run(t.Context(), newRun(t, d), &executortest.Recorder{})
}

func TestCallsShareConnections(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, h http.HandlerFunc) *httptest.Server{
		"HTTP": serve, "TLS": serveTLS, "HTTP/2": serveHTTP2,
	} {
		t.Run(name, func(t *testing.T) {
			peers, bodies := map[string]bool{}, []string{}
			s := start(t, func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				peers[r.RemoteAddr], bodies = true, append(bodies, string(body))
				if name == "HTTP/2" {
					require.Equal(t, 2, r.ProtoMajor)
				}
			})
			x := httpcall.New(clock.NewSystem(), settingsOf(s))
			defer x.Close()
			for range 5 {
				require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": s.URL, "method": "POST", "body": "b"}).Status)
			}
			require.Len(t, peers, 1)
			require.Equal(t, []string{"b", "b", "b", "b", "b"}, bodies)
			require.Equal(t, entity.StatusSuccess, runs(t, x, data{"url": s.URL}).Status)
			require.Equal(t, "", bodies[5])
		})
	}
}

func settingsOf(s *httptest.Server) httpcall.Settings {
	if s.TLS == nil {
		return open()
	}
	return settings(s)
}

func serveHTTP2(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestARequestWithoutABodyHasNone(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"} {
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			require.Empty(t, r.TransferEncoding, method)
			require.Zero(t, r.ContentLength, method)
			require.Equal(t, "k", r.Header.Get("Idempotency-Key"))
		})
		outcome, _ := call(t, data{"url": s.URL, "method": method, "headers": data{"Idempotency-Key": "k"}})
		require.Equal(t, entity.StatusSuccess, outcome.Status)
	}
}

// resetting is an HTTP/2 target that resets every request after the first
// with a code after which some clients send it again; it counts requests. Calls
// by HTTP/1.1 it answers, and counts apart.
func resetting(t *testing.T, code http2.ErrCode) (s *httptest.Server, requests, plain *atomic.Int64) {
	t.Helper()
	requests, plain = &atomic.Int64{}, &atomic.Int64{}
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { plain.Add(1) }))
	var conns sync.WaitGroup
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
			conns.Add(1)
			defer conns.Done()
			talk(conn, code, requests)
		},
	}
	s.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	s.StartTLS()
	t.Cleanup(func() {
		s.Close()
		conns.Wait()
	})
	return s, requests, plain
}

func talk(conn net.Conn, code http2.ErrCode, requests *atomic.Int64) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if requests.Add(1) > 1 {
				_ = framer.WriteRSTStream(f.StreamID, code)
				continue
			}
			_ = framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: f.StreamID, BlockFragment: status200(), EndHeaders: true, EndStream: true,
			})
		}
	}
}

func status200() []byte {
	var block sink
	_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	return block
}

type sink []byte

func (s *sink) Write(p []byte) (int, error) {
	*s = append(*s, p...)
	return len(p), nil
}

func TestAResetOfHTTP2IsNotAnsweredByASecondRequest(t *testing.T) {
	for name, d := range map[string]data{
		"GET": {}, "GET with key": {"headers": data{"Idempotency-Key": "k"}},
		"POST": {"method": "POST", "body": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			s, requests, _ := resetting(t, http2.ErrCodeProtocol)
			x := httpcall.New(clock.NewSystem(), settings(s))
			defer x.Close()
			d["url"] = s.URL
			require.Equal(t, entity.StatusSuccess, runs(t, x, d).Status)
			second := runs(t, x, d)
			require.Equal(t, entity.ReasonError, second.Reason, second.Message)
			require.Equal(t, int64(2), requests.Load(), "one request for each of two attempts")
		})
	}
}

func TestTheGuardJudgesEveryHop(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
	})
	outcome, line := call(t, data{"url": s.URL})
	require.Equal(t, entity.ReasonError, outcome.Reason)
	require.Contains(t, outcome.Message, "calls to the address 169.254.169.254 are not allowed on this server")
	require.Contains(t, line, "GET "+s.URL+": 302 Found\nGET http://169.254.169.254/latest/meta-data: no answer")
}

func TestWithoutAGuardOnlyThePublicInternetIsCalled(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	x := httpcall.New(clock.NewSystem(), httpcall.Settings{})
	defer x.Close()
	outcome := runs(t, x, data{"url": s.URL})
	require.Equal(t, entity.ReasonInvalid, outcome.Reason)
	require.Contains(t, outcome.Message, "jobData.url: calls to the address 127.0.0.1 are not allowed")
}

func TestAnAnswersHeadersAreKeptWithoutSecrets(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil
		w.Header().Set("X-Request-Id", "r1")
		w.Header().Set("Set-Cookie", "sid=hunter2")
	})
	rep := &executortest.Recorder{}
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	x.Run(t.Context(), newRun(t, data{"url": s.URL}), rep)
	require.Len(t, rep.Lines(), 2)
	require.Equal(t, "answered with Content-Length: 0; Set-Cookie: …; X-Request-Id: r1", rep.Lines()[1].Text)
}

// Rule 27: the lease ended after the attempt began and before the request was
// sent, or between a redirect and the next hop.
func TestARequestIsNotSentWithoutTheRightToAct(t *testing.T) {
	var asked atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/next", http.StatusFound)
	})
	x := httpcall.New(clock.NewSystem(), settingsOf(s))
	for _, hops := range []int64{0, 1} {
		asked.Store(0)
		ctx := entity.WithRight(t.Context(), func() bool { return asked.Load() < hops })
		o := x.Run(ctx, newRun(t, data{"url": s.URL, "method": "GET"}), &executortest.Recorder{})
		require.Equal(t, []any{entity.StatusFailed, entity.ReasonNodeLost}, []any{o.Status, o.Reason}, o.Message)
		require.Equal(t, hops, asked.Load())
	}
}

// HTTP/2 would send a request without a body again: such a request goes out by
// HTTP/1.1, whatever the target offers (engine rule 30).
func TestARequestWithoutABodyAvoidsHTTP2(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			s, requests, plain := resetting(t, http2.ErrCodeProtocol)
			x := httpcall.New(clock.NewSystem(), settings(s))
			defer x.Close()
			for range 2 {
				outcome := runs(t, x, data{"url": s.URL, "method": method})
				require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
				require.Zero(t, requests.Load(), "by HTTP/2")
			}
			require.EqualValues(t, 2, plain.Load())
		})
	}
}
