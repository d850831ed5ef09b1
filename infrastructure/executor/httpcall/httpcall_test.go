package httpcall_test

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// data is the job data of a test.
type data map[string]any

func newRun(t *testing.T, d data) entity.Run {
	t.Helper()
	text, err := json.Marshal(d)
	require.NoError(t, err)
	return executortest.NewRun(entity.JobHTTP, "", string(text))
}

// open allows calls of this machine.
func open() httpcall.Settings {
	return httpcall.Settings{Guard: outbound.New(outbound.Policy{AllowPrivate: true})}
}

// settings are open ones that trust the certificates of servers.
func settings(servers ...*httptest.Server) httpcall.Settings {
	s := open()
	if len(servers) > 0 {
		s.Roots = x509.NewCertPool()
	}
	for _, server := range servers {
		s.Roots.AddCert(server.Certificate())
	}
	return s
}

// call runs one attempt and returns its outcome and the lines of its log.
func call(t *testing.T, d data, roots ...*httptest.Server) (entity.Outcome, string) {
	t.Helper()
	rep := &executortest.Recorder{}
	x := httpcall.New(clock.NewSystem(), settings(roots...))
	defer x.Close()
	outcome := x.Run(t.Context(), newRun(t, d), rep)
	require.NotEmpty(t, rep.Lines())
	lines := make([]string, len(rep.Lines()))
	for i, line := range rep.Lines() {
		require.Equal(t, entity.LogSystem, line.Type)
		lines[i] = line.Text
	}
	return outcome, strings.Join(lines, "\n")
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

func serveTLS(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(handler)
	t.Cleanup(s.Close)
	return s
}

func host(s *httptest.Server) string { return s.Listener.Addr().String() }

func TestRunSendsTheRequestOfTheDefinition(t *testing.T) {
	var got *http.Request
	var body []byte
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "done")
	})
	run := newRun(t, data{
		"method": "POST", "url": s.URL + "/a/%2e%2e/b?x=$${params.y}&z=a b\"é", "body": `{"n":1}`,
		"headers": data{"x-key": "v", "authorization": "Bearer t"},
	})
	run.Execution.ShardIndex, run.Execution.ShardTotal, run.Execution.Attempt = 2, 3, 4
	run.Execution.Token, run.Execution.JobFence, run.Execution.RootID = 5, 6, "root"
	run.Deadline = run.Execution.ScheduledTime.Add(30 * time.Second)
	outcome := httpcall.New(clock.NewSystem(), open()).Run(t.Context(), run, &executortest.Recorder{})

	require.Equal(t, entity.Succeeded("done"), outcome)
	require.Equal(t, "POST", got.Method)
	require.Equal(t, "/a/%2e%2e/b?x=${params.y}&z=a%20b%22%C3%A9", got.RequestURI)
	require.Equal(t, host(s), got.Host)
	require.Equal(t, `{"n":1}`, string(body))
	want := map[string]string{
		"X-Key": "v", "Authorization": "Bearer t", "Content-Type": "application/json", "Content-Length": "7",
		"User-Agent":               "platform-scheduler",
		"X-Scheduler-Execution-Id": "execution-1", "X-Scheduler-Job-Id": "job-1",
		"X-Scheduler-Scheduled-Time": "2026-03-01T02:00:00.000Z", "X-Scheduler-Attempt": "4",
		"X-Scheduler-Shard-Index": "2", "X-Scheduler-Shard-Total": "3",
		"X-Scheduler-Fencing-Token": fmt.Sprint(6<<16 | 5), "X-Scheduler-Idempotency-Key": "root",
		"X-Scheduler-Job-Name": "settle orders", "X-Scheduler-Deadline": "2026-03-01T02:00:30.000Z",
		"Traceparent": run.Execution.TraceParent(),
	}
	for name, value := range want {
		require.Equal(t, []string{value}, got.Header[name], name)
	}
	require.Len(t, got.Header, len(want), "nothing else is sent, such as an Accept-Encoding")
}

func TestRunDefaults(t *testing.T) {
	cases := []struct {
		name              string
		more              data
		method, mediaType string
		length            int64
	}{
		{"nothing", data{}, "GET", "", 0},
		{"of an older release", data{"method": ""}, "GET", "", 0},
		{"empty POST", data{"method": "POST"}, "POST", "", 0},
		{"text", data{"method": "PUT", "body": "hello"}, "PUT", "text/plain; charset=utf-8", 5},
		{"JSON", data{"method": "DELETE", "body": "[]"}, "DELETE", "application/json", 2},
		{"own", data{"method": "PATCH", "body": "[]", "headers": data{"content-type": "a/b"}}, "PATCH", "a/b", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got *http.Request
			s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r })
			c.more["url"] = s.URL
			outcome, _ := call(t, c.more)
			require.Equal(t, entity.Succeeded(""), outcome)
			require.Equal(t, c.method, got.Method)
			require.Equal(t, c.mediaType, got.Header.Get("Content-Type"))
			require.Equal(t, c.length, got.ContentLength)
		})
	}
}

func TestRunJudgesTheStatus(t *testing.T) {
	cases := []struct {
		status   int
		expected string
		good     bool
	}{
		{200, "", true},
		{204, "", true},
		{299, "", true},
		{300, "", false},
		{404, "", false},
		{500, "", false},
		{404, "404", true},
		{200, "404", false},
		{204, "200, 204,300-302", true},
		{303, "200,204,300-302", false},
		{302, "300-302", true},
		{599, "500-599", true},
		{600, "", false},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.status, " ", c.expected), func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				if c.status != 204 {
					_, _ = io.WriteString(w, "why")
				}
			})
			outcome, line := call(t, data{"url": s.URL, "expectedStatus": c.expected})
			if c.good {
				require.Equal(t, entity.StatusSuccess, outcome.Status)
				return
			}
			require.Equal(t, entity.StatusFailed, outcome.Status)
			require.Equal(t, entity.ReasonHTTPStatus, outcome.Reason)
			require.Contains(t, outcome.Message, fmt.Sprintf("status %d", c.status))
			require.Equal(t, "why", outcome.Result, "what the target says helps people")
			require.Contains(t, line, outcome.Message)
		})
	}
}

func TestRunLooksForTheExpectedText(t *testing.T) {
	filler := func(n int) string { return strings.Repeat(".", n) }
	cases := []struct {
		name, body, expected string
		good                 bool
	}{
		{"whole", "ok", "ok", true},
		{"part", `{"state":"ok"}`, `"ok"`, true},
		{"absent", "failed", "ok", false},
		{"empty answer", "", "ok", false},
		{"across chunks", filler(16<<10-1) + "ok", "ok", true},
		{"long across chunks", filler(16<<10-2000) + strings.Repeat("ab", 2000), strings.Repeat("ab", 2000), true},
		{"beyond the result", filler(100<<10) + "ok", "ok", true},
		{"at the end of what is read", filler(1<<20-2) + "ok" + filler(10), "ok", true},
		{"beyond what is read", filler(1<<20-1) + "ok", "ok", false},
		{"case", "OK", "ok", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			outcome, _ := call(t, data{"url": s.URL, "expectedBody": c.expected})
			if c.good {
				require.Equal(t, entity.StatusSuccess, outcome.Status)
			} else {
				require.Equal(t, entity.ReasonBodyMismatch, outcome.Reason)
				require.Equal(t, entity.StatusFailed, outcome.Status)
			}
		})
	}
}

func TestRunLogsOneLineWithoutSecrets(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "12345") })
	_, line := call(t, data{"url": s.URL + "/a%0ab?token=secret", "headers": data{"Authorization": "secret"}})
	require.Regexp(t, `^GET http://`+host(s)+`/a%0ab: 200 OK, 5 bytes after \d+ ms\n`, line)
	require.NotContains(t, line, "secret")
}

func TestRunRefusesWhatTheEdgeWouldRefuse(t *testing.T) {
	rep := &executortest.Recorder{}
	outcome := httpcall.New(clock.NewSystem(), open()).Run(t.Context(), newRun(t, data{"url": "ftp://h", "x": 1}), rep)
	require.Equal(t, entity.ReasonInvalid, outcome.Reason)
	require.Contains(t, outcome.Message, "jobData.url")
	require.Contains(t, outcome.Message, "jobData.x")
	require.Empty(t, rep.Lines())
}
