package httpcall_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

// movesTo answers the first request with a redirect and the others with their path.
func movesTo(status int, location string) func(n int, path string) string {
	return func(n int, path string) string {
		if n > 0 {
			return rawAnswer("200 OK", "", "at "+path)
		}
		headers := ""
		if location != "-" {
			headers = "Location: " + location + "\n"
		}
		return rawAnswer(fmt.Sprintf("%d %s", status, http.StatusText(status)), headers, "moved")
	}
}

// A redirect changes a request (RFC 9110, 15.4.2 to 15.4.9), by the requests that arrive.
func TestARedirectKeepsMethodAndBodyAsItsStatusSays(t *testing.T) {
	const body = `{"n":1}`
	for _, c := range []struct {
		method string
		status int
		want   []string
	}{
		{"GET", 301, []string{"GET /", "GET /next"}},
		{"HEAD", 301, []string{"HEAD /", "HEAD /next"}},
		{"GET", 302, []string{"GET /", "GET /next"}},
		{"HEAD", 302, []string{"HEAD /", "HEAD /next"}},
		{"GET", 303, []string{"GET /", "GET /next"}},
		{"HEAD", 303, []string{"HEAD /", "HEAD /next"}},
		{"POST", 303, []string{"POST / " + body, "GET /next"}},
		{"PUT", 303, []string{"PUT / " + body, "GET /next"}},
		{"DELETE", 303, []string{"DELETE / " + body, "GET /next"}},
		{"OPTIONS", 303, []string{"OPTIONS / " + body, "GET /next"}},
		{"GET", 307, []string{"GET /", "GET /next"}},
		{"POST", 307, []string{"POST / " + body, "POST /next " + body}},
		{"PATCH", 307, []string{"PATCH / " + body, "PATCH /next " + body}},
		{"POST", 308, []string{"POST / " + body, "POST /next " + body}},
		{"DELETE", 308, []string{"DELETE / " + body, "DELETE /next " + body}},
	} {
		t.Run(fmt.Sprint(c.method, c.status), func(t *testing.T) {
			target := newRawTarget(t, movesTo(c.status, "/next?token=secret#part"))
			d := data{
				"url":     target.URL + "/?key=secret",
				"method":  c.method,
				"headers": data{"Content-Type": "application/json"},
			}
			if c.method != "GET" && c.method != "HEAD" {
				d["body"] = body
			}
			outcome, log := call(t, d)
			require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
			for i, line := range target.lines() {
				require.Equal(t, c.want[i], strings.ReplaceAll(strings.ReplaceAll(line, "?key=secret", ""), "?token=secret", ""))
			}
			last := target.requests()[1]
			method, _, _ := strings.Cut(c.want[1], " ")
			require.Equal(t, method == c.method, last.Header.Get("Content-Type") != "", "headers of a body go with it")
			require.Contains(t, log, fmt.Sprintf("%s %s/: %d %s\n%s %s/next: 200 OK", c.method, target.URL, c.status,
				http.StatusText(c.status), method, target.URL))
			require.NotContains(t, log+outcome.Message, "secret")
		})
	}
}

// A body that a hop has dropped does not come back, and the method that a hop has changed stays.
func TestADroppedBodyStaysDropped(t *testing.T) {
	target := newRawTarget(t, func(n int, path string) string {
		return [...]func(int, string) string{
			movesTo(303, "/a"), movesTo(307, "/b"), movesTo(301, "/c"), func(int, string) string {
				return rawAnswer("200 "+
					"OK", "", "")
			},
		}[n](0, path)
	})
	outcome, log := call(t, data{"url": target.URL, "method": "POST", "body": "b"})
	require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
	require.Equal(t, []string{"POST / b", "GET /a", "GET /b", "GET /c"}, target.lines())
	require.Contains(t, log, "POST "+target.URL+": 303 See Other\nGET "+target.URL+"/a: 307 Temporary Redirect\n")
}

// A call that may have had its effect is not sent again by 301 and 302, and is not retried: the message names the
// address and both remedies. The log names what was sent.
func TestACallThatMayHaveHadItsEffectIsNotRedirected(t *testing.T) {
	for _, c := range []struct {
		method   string
		status   int
		location string
		names    string
	}{
		{"POST", 301, "/next", "{self}/next"},
		{"POST", 302, "https://elsewhere.example/a?token=secret", "https://elsewhere.example/a?…"},
		{"PUT", 301, "http://user:secret@elsewhere.example/", "http://elsewhere.example/"},
		{"PUT", 302, "//elsewhere.example", "http://elsewhere.example"},
		{"PATCH", 302, "-", "302 Found:"},
		{"DELETE", 301, "http://[::1", "301 Moved Permanently:"},
		{"DELETE", 302, "/next", "{self}/next"},
		{"OPTIONS", 301, "/next", "{self}/next"},
	} {
		t.Run(fmt.Sprint(c.method, c.status, c.location), func(t *testing.T) {
			target := newRawTarget(t, movesTo(c.status, c.location))
			outcome, log := call(t, data{"url": target.URL + "/", "method": c.method})
			require.Equal(t, []any{entity.StatusFailed, entity.ReasonRedirected, true},
				[]any{outcome.Status, outcome.Reason, outcome.NoRetry}, outcome.Message)
			require.Contains(t, outcome.Message, strings.ReplaceAll(c.names, "{self}", target.URL))
			require.Contains(t, outcome.Message, "set url to the new address, or expectedStatus to "+fmt.Sprint(c.status))
			require.Equal(t, []string{c.method + " /"}, target.lines())
			require.Contains(t, log, fmt.Sprintf("%s %s/: %d %s", c.method, target.URL, c.status, http.StatusText(c.status)))
			require.NotContains(t, log, "200 OK")
			require.NotContains(t, log+outcome.Message, "token=")

			target = newRawTarget(t, movesTo(c.status, c.location))
			outcome, _ = call(
				t,
				data{"url": target.URL + "/", "method": c.method, "expectedStatus": fmt.Sprintf("200,%d", c.status)},
			)
			require.Equal(t, entity.Succeeded("moved"), outcome, "the redirect is the answer")
		})
	}
}

// An asynchronous call is not accepted by whoever a redirect leads to, which would never report.
func TestAnAsynchronousCallIsRedirectedAsOthersAre(t *testing.T) {
	for status, want := range map[int][]string{
		301: {"POST /"}, 302: {"POST /"}, 303: {"POST /", "GET /next"}, 307: {"POST /", "POST /next"}, 308: {"POST " +
			"/", "POST /next"},
	} {
		target := newRawTarget(t, movesTo(status, "/next"))
		outcome := async(t.Context(), t, desk(token), target.URL, 60)
		require.Equal(t, want, target.lines())
		require.Equal(t, len(want) == 2, outcome.Detached(), outcome.Message)
		require.Equal(t, len(want) == 1, outcome.Reason == entity.ReasonRedirected)
	}
}

// The run token does not follow to another origin, so that nobody there could report the end: the call is not accepted
// there. Where 303 leads to what the POST came to, its target has the token.
func TestAnAsynchronousCallStaysWithItsOrigin(t *testing.T) {
	for status, follows := range map[int]bool{303: true, 307: false, 308: false} {
		other := newRawTarget(t, func(int, string) string { return rawAnswer("202 Accepted", "", "") })
		target := newRawTarget(t, movesTo(status, other.URL+"/there?key=secret"))
		outcome := async(t.Context(), t, desk(token), target.URL, 60)
		require.Equal(t, follows, outcome.Detached(), outcome.Message)
		require.Equal(t, follows, len(other.lines()) == 1)
		if !follows {
			require.Equal(t, []any{entity.ReasonRedirected, true}, []any{outcome.Reason, outcome.NoRetry})
			require.Contains(t, outcome.Message, "with the address "+other.URL+"/there?…: it cannot report the end of the run")
			require.Contains(t, outcome.Message, "set url to the new address")
		}
	}
}

// A secret in a body does not follow to another origin, as those in headers do not.
func TestABodyWithASecretStaysWithItsOrigin(t *testing.T) {
	other := newRawTarget(t, func(int, string) string { return rawAnswer("200 OK", "", "there") })
	for _, c := range []struct {
		status int
		body   string
		want   entity.Reason
		there  string
	}{
		{307, "${secret.KEY}", entity.ReasonRedirected, ""},
		{308, "${secret.KEY}", entity.ReasonRedirected, ""},
		{307, "plain", "", "POST / plain"},
		{303, "${secret.KEY}", "", "GET /"},
	} {
		before := len(other.lines())
		target := newRawTarget(t, movesTo(c.status, other.URL))
		run := newRun(t, data{"url": target.URL, "method": "POST", "body": c.body})
		run.Secrets = map[string]string{"KEY": "s3cr3t"}
		x := httpcall.New(clock.NewSystem(), open())
		outcome := x.Run(t.Context(), run, &executortest.Recorder{})
		x.Close()
		require.Equal(t, c.want, outcome.Reason, outcome.Message)
		require.Equal(t, c.there, strings.Join(other.lines()[before:], ""), "%d %s", c.status, c.body)
	}
}
