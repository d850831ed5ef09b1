//go:build linux

package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
)

// exchange is a call that went through a wiretap, and its answer.
type exchange struct{ call, answer string }

// wiretap stands between the command line and a server, and keeps what they say.
type wiretap struct {
	*httptest.Server
	mu        sync.Mutex
	exchanges []exchange
}

func newWiretap(t *testing.T, server string) *wiretap {
	t.Helper()
	to, err := url.Parse(server)
	require.NoError(t, err)
	w := &wiretap{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(r *http.Response) error {
		e := exchange{call: r.Request.Method + " " + r.Request.URL.Path}
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			answer, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			e.answer, r.Body = string(answer), io.NopCloser(bytes.NewReader(answer))
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.exchanges = append(w.exchanges, e)
		return nil
	}
	w.Server = httptest.NewServer(proxy)
	t.Cleanup(w.Close)
	return w
}

// heard is what has been said since the last call.
func (w *wiretap) heard() []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.exchanges
	w.exchanges = nil
	return said
}

// documented are the routes of docs/routes.md, which a test holds to the code.
func documented(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	page, err := os.ReadFile("../../docs/routes.md")
	require.NoError(t, err)
	routes := map[string]*regexp.Regexp{}
	parameter := regexp.MustCompile(`\\\{[A-Za-z]+\\\}`)
	for _, m := range regexp.MustCompile("(?m)^\\| ([A-Z]+) \\| `([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		call := m[1] + " " + m[2]
		routes[call] = regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(call), `[^/]+`) + "$")
	}
	require.Greater(t, len(routes), 70)
	return routes
}

// leaves are the commands that do something, by their names.
func leaves(s *shell, path ...string) []string {
	_, help, _ := s.run(append(path, "--help")...)
	_, list, nested := strings.Cut(help, "Available Commands:\n")
	if !nested {
		return []string{strings.Join(path, " ")}
	}
	list, _, _ = strings.Cut(list, "\n\n")
	var found []string
	if slices.Equal(path, []string{"audit"}) {
		found = append(found, "audit") // it does something without a word more, too
	}
	for line := range strings.Lines(list) {
		if name := strings.Fields(line)[0]; name != "help" && name != "completion" {
			found = append(found, leaves(s, append(slices.Clone(path), name)...)...)
		}
	}
	return found
}

const parityJobs = `
{name: one, jobType: CUSTOM, jobClass: echo, jobData: {text: a}}
---
{name: two, jobType: CUSTOM, jobClass: fail, jobData: {message: no luck}, schedule: {kind: CRON, cronExpression: "0 0 3 * * ?", timeZone: Asia/Shanghai}}
---
{name: slow, jobType: CUSTOM, jobClass: sleep, jobData: {ms: 60000}}
---
{name: dies, jobType: CUSTOM, jobClass: fail, jobData: {message: no luck}, retryPolicy: {maxRetries: 1, intervalMs: 1}}
---
{name: three, jobType: CUSTOM, jobClass: noop}
---
{name: four, jobType: CUSTOM, jobClass: noop}
`

// workflowRuns reaches the routes of workflow runs by a run of which one step is held and one waits.
func workflowRuns(t *testing.T, s *shell, say func(args ...string) string, made func(answer string) string) {
	t.Helper()
	say("job", "apply", "-f", s.file("flow.yaml", `
{name: flow, jobType: WORKFLOW, onStepFailure: HOLD, steps: [
  {name: bad, custom: {jobClass: fail, data: {message: no luck}}},
  {name: worse, custom: {jobClass: fail, data: {message: no luck}}},
  {name: pause, wait: {forSec: 3600}}, {name: rest, wait: {forSec: 3600}}]}
`))
	run := made(say("job", "trigger", "flow"))
	require.Eventually(t, func() bool {
		code, out, _ := s.run("workflow", "runs", "get", run, "-o", "json")
		return code == 0 && strings.Count(out, `"held":true`) == 2
	}, 30*time.Second, 100*time.Millisecond)
	say("workflow", "runs", "list", "--workflow", "flow")
	say("workflow", "runs", "get", run)
	say("workflow", "runs", "steps", run)
	say("workflow", "runs", "why", run, "bad")
	say("job", "graph", "flow")
	say("workflow", "runs", "pause", run)
	say("workflow", "runs", "resume", run)
	say("workflow", "runs", "step", "succeed", run, "bad")
	say("workflow", "runs", "step", "repeat", run, "worse")
	say("workflow", "runs", "step", "skip", run, "pause")
	say("workflow", "runs", "step", "cancel", run, "rest")
	say("workflow", "runs", "cancel", run)
	require.Eventually(t, func() bool {
		code, out, _ := s.run("workflow", "runs", "get", run, "-o", "json")
		return code == 0 && strings.Contains(out, `"phase":"CLOSED"`)
	}, 30*time.Second, 100*time.Millisecond)
	say("workflow", "runs", "retry", run, "--plan", "--from", "bad,worse")
	say("execution", "cancel", made(say("workflow", "runs", "retry", run, "--from", "worse", "--reason", "better luck")))
}

// Each command of the command line prints as JSON the very bytes that the API
// answered to its last call, and as YAML the same values. Together they reach
// every route that people have a use for.
func TestEveryCommandPrintsItsAnswerAndEveryRouteHasACommand(t *testing.T) {
	b := startBinary(t)
	w := newWiretap(t, b.url)
	password := filepath.Join(b.dir, "initial-admin-password")
	s := &shell{t: t, home: t.TempDir(), env: []string{"PS_SERVER_ADDR=" + b.addr}}
	s.must("login", "--server", w.URL, "--password-file", password)
	jobs := s.file("jobs.yaml", parityJobs)
	changed := s.file("changed.yaml", strings.Replace(parityJobs, "text: a", "text: b", 1))
	value, pw := s.file("value", "hunter2-hunter2\n"), s.file("pw", "correct horse battery\n")

	reached, tried := map[string]bool{}, map[string]bool{}
	routes := documented(t)
	hear := func() []exchange {
		said := w.heard()
		for _, e := range said {
			for route, pattern := range routes {
				if pattern.MatchString(e.call) {
					reached[route] = true
				}
			}
		}
		return said
	}
	hear()
	tried["login"] = true

	all := leaves(s)
	name := func(args []string) string {
		for _, leaf := range slices.Backward(all) { // those below a command before it
			if fields := strings.Fields(leaf); len(args) >= len(fields) && slices.Equal(args[:len(fields)], fields) {
				tried[leaf] = true
				return leaf
			}
		}
		t.Fatalf("%v is no command", args)
		return ""
	}
	// say runs a command whose answer is of its last call but the sign-out.
	say := func(args ...string) string {
		leaf := name(args)
		_, out, errOut := s.run(append(args, "-o", "json")...)
		said := slices.DeleteFunc(hear(), func(e exchange) bool { return e.call == "POST /api/v1/auth/logout" })
		require.NotEmpty(t, said, "%s: %s", leaf, errOut)
		last := said[len(said)-1]
		require.Equal(t, strings.TrimRight(last.answer, "\n"), strings.TrimRight(out, "\n"), "%v: %s\n%s", args, last.call,
			errOut)
		if strings.HasPrefix(last.call, "GET ") {
			_, asYAML, errOut := s.run(append(args, "-o", "yaml")...)
			said = slices.DeleteFunc(hear(), func(e exchange) bool { return e.call == "POST /api/v1/auth/logout" })
			asJSON, err := yamljson.FromYAML([]byte(asYAML))
			require.NoError(t, err, "%v: %s%s", args, asYAML, errOut)
			if answer := said[len(said)-1].answer; json.Valid([]byte(answer)) {
				require.JSONEq(t, answer, string(asJSON), "%v", args)
			} else { // an export, which the API writes as YAML itself
				require.Equal(t, answer, asYAML, "%v", args)
			}
			table := s.must(args...)
			require.NotEmpty(t, table, "%v", args)
			require.False(t, json.Valid([]byte(table)) && len(table) > 2, "%v prints no JSON for people: %s", args, table)
			hear()
		}
		return out
	}
	// own runs a command that says more, or less, than one answer of the API.
	own := func(args ...string) string {
		name(args)
		code, out, errOut := s.run(append(args, "-o", "json")...)
		require.True(t, code == 0 || strings.Contains(errOut, "ended as"), "%v: %s", args, errOut)
		for line := range strings.Lines(out) {
			require.True(t, json.Valid([]byte(out)) || json.Valid([]byte(line)), "%v: %s%s", args, out, errOut)
		}
		hear()
		return out
	}
	first := func(list string) string {
		var page struct{ Items []struct{ ID string } }
		require.NoError(t, json.Unmarshal([]byte(list), &page), list)
		require.NotEmpty(t, page.Items, list)
		return page.Items[0].ID
	}
	made := func(answer string) string {
		var v struct{ ExecutionIDs []string }
		require.NoError(t, json.Unmarshal([]byte(answer), &v), answer)
		require.NotEmpty(t, v.ExecutionIDs, answer)
		return v.ExecutionIDs[0]
	}

	say("whoami")
	say("job", "apply", "-f", jobs)
	say("job", "apply", "-f", changed, "--dry-run")
	say("job", "apply", "-f", changed)
	say("job", "list")
	say("job", "get", "two")
	say("job", "versions", "one")
	own("job", "diff", "one")
	say("job", "rollback", "one")
	say("job", "export")
	say("job", "why", "two", "--at", "03:00")
	say("job", "fires", "two")
	say("job", "pause", "one", "--reason", "the bank is closed", "--until", "2099-01-01")
	require.Regexp(t, `(?m)^Paused: +since .* by admin until 2098-12-31 .*: the bank is closed$|^Paused: +since .* by admin until 2099-01-01 .*: the bank is closed$`, s.must("job", "get", "one"))
	say("job", "resume", "one")
	say("job", "pause", "three", "four", "--reason", "both")
	require.Regexp(t, `(?m)^Paused: +since .* by admin: both$`, s.must("job", "get", "four"))
	say("job", "resume", "three", "four")
	say("job", "pause", "--group", "default")
	say("job", "resume", "--group", "default")
	say("job", "pause", "--all", "--reason", "all of it")
	require.Regexp(t, `(?m)^Paused: +with its group since .* by admin: all of it$`, s.must("job", "get", "one"))
	say("job", "resume", "--all")
	var another struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(say("job", "copy", "two", "--name", "another")), &another))
	say("job", "delete", "another")
	say("job", "undelete", another.ID)
	say("job", "delete", "another")
	say("job", "backfill", "two", "--from", "2020-01-01", "--to", "2020-01-05", "--dry-run")
	say("job", "backfill", "two", "--from", "2020-01-01", "--to", "2021-01-01", "--include-failed")
	backfill := first(say("job", "backfills", "two"))
	say("job", "cancel-backfill", "two", backfill)
	say("schedule", "preview", "--cron", "@daily")
	say("schedule", "load", "--minutes", "2880")
	say("schedule", "spread", "2026-11-16T02:00:00Z", "--jitter", "10m", "--dry-run")

	say("group", "create", "empty")
	say("group", "update", "empty", "--max-concurrency", "3")
	say("group", "pause", "empty", "--reason", "the store moves")
	require.Regexp(t, `(?m)^Paused: +since .* by admin: the store moves$`, s.must("group", "get", "empty"))
	say("group", "resume", "empty")
	say("group", "get", "empty")
	say("group", "list")
	say("group", "delete", "empty")

	workflowRuns(t, s, say, made)

	done := made(say("job", "trigger", "one", "--param", "a=b"))
	own("execution", "logs", "-f", done)
	say("job", "trigger", "three", "four")
	say("execution", "get", done)
	say("execution", "logs", done)
	again := made(say("execution", "retry", done))
	own("execution", "logs", "-f", again)
	require.Contains(t, s.must("execution", "get", "--last-success", again), done)
	say("execution", "get", "--last-success", again)
	say("execution", "retry", done, again)
	slow := []string{
		made(say("job", "trigger", "slow")), made(say("job", "trigger", "slow")),
		made(say("job", "trigger", "slow")),
	}
	say("execution", "cancel", slow[0])
	say("execution", "cancel", slow[1], slow[2])
	for _, id := range slow {
		own("execution", "logs", "-f", id)
	}
	for range 5 {
		own("job", "trigger", "dies", "--wait")
	}
	require.Eventually(t, func() bool { // until nothing moves
		said := s.must("overview", "-o", "json")
		return strings.Contains(said, `"waiting":0,"running":0`)
	}, time.Minute, 50*time.Millisecond)
	hear()
	say("execution", "list", "--waits-for", "slot")
	say("execution", "list")
	say("approval", "list")
	say("approval", "list", "--mine", "--status", "decided")
	for _, verb := range []string{"get", "approve", "reject"} { // none is open
		name([]string{"approval", verb})
		code, _, errOut := s.run("approval", verb, done)
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "approval")
		hear()
	}
	say("dead-letter", "causes")
	var letters struct{ Items []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(say("dead-letter", "list")), &letters))
	require.Len(t, letters.Items, 5)
	say("dead-letter", "replay", letters.Items[0].ID)
	say("dead-letter", "discard", letters.Items[1].ID)
	say("dead-letter", "discard", letters.Items[2].ID, letters.Items[3].ID)
	own("job", "trigger", "dies", "--wait")
	say("dead-letter", "replay", "--job", "dies", "--reason", "ERROR")

	alertingCommands(t, s, w, say, first)

	for _, command := range []string{
		"node list", "node get " + b.node, "overview", "stats", "today", "failures",
		"settings", "set-aside", "metrics executions.ended", "metrics node.cpu --node " + b.node,
	} { // of this moment, when asked anew
		name(strings.Fields(command))
		out := s.must(append(strings.Fields(command), "-o", "json")...)
		said := hear()
		require.Equal(t, strings.TrimRight(said[len(said)-1].answer, "\n"), strings.TrimRight(out, "\n"), command)
	}
	say("node", "handlers")
	say("node", "drain", b.node)
	say("node", "resume", b.node)

	workerCommands(t, s, b.url, say)

	say("secret", "set", "billing", "--value-file", value)
	say("secret", "set", "billing", "--value-file", value, "--description", "for tests")
	say("secret", "list")
	say("secret", "uses", "billing")
	say("secret", "delete", "billing")
	say("user", "create", "ann", "--password-file", pw, "--own-password-file", password)
	say("user", "update", "ann", "--role", "operator", "--own-password-file", password)
	say("user", "reset-password", "ann", "--password-file", pw, "--own-password-file", password)
	say("user", "end-sessions", "ann", "--own-password-file", password)
	say("user", "get", "ann")
	say("user", "list")
	say("user", "delete", "ann", "--own-password-file", password)
	var token struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(say("token", "create", "CI", "--scope", "job:read", "--password-file",
		password)), &token))
	say("token", "list", "--password-file", password)
	say("token", "revoke", token.ID, "--password-file", password)
	own("session", "list", "--password-file", password)
	say("session", "end-others", "--password-file", password)
	own("audit", "--limit", "1")
	own("audit", "export", "--format", "ndjson")
	backup := filepath.Join(s.home, "backup.yaml")
	own("backup", backup)
	say("restore", backup, "--yes")
	own("export", "--parts", "jobs")
	say("diff", "-f", backup)
	say("apply", "-f", backup)
	say("job", "delete", "three", "four")
	second := s.file("second", "a longer horse battery\n")
	require.Empty(t, own("password", "--password-file", password, "--new-password-file", second))
	own("context", "list")
	own("context", "use", w.URL)
	own("health")
	own("logout")

	for _, leaf := range all {
		switch first, _, _ := strings.Cut(leaf, " "); first {
		case "server", "bench", "config", "migrate", "store", "version": // of this machine; no API answers them
		case "workflow":
			require.True(t, tried[leaf] || !strings.HasPrefix(leaf, "workflow runs"), "%s is in this table", leaf)
		default:
			require.True(t, tried[leaf], "%s is in this table", leaf)
		}
	}
	others := map[string]string{
		"GET /api/v1/live":                    "it is for pages that stay open; commands follow a run or a log",
		"POST /api/v1/jobs":                   "job apply makes jobs by POST /import",
		"POST /api/v1/jobs/trial":             "a draft is tried where it is edited, in the form of the console",
		"POST /api/v1/workflows/validate":     "workflow validate checks files without a server, job apply --dry-run with one",
		"PUT /api/v1/jobs/{id}":               "job apply changes jobs by POST /import",
		"POST /api/v1/executions/{id}/report": "targets and handlers report, not people",
		"POST /api/v1/workers":                "workers call, not people",
		"POST /api/v1/workers/{id}/poll":      "workers call, not people",
		"POST /api/v1/workers/{id}/report":    "workers call, not people",
		"POST /api/v1/workers/{id}/leave":     "workers call, not people",
		"POST /api/v1/workers/{id}/jobs":      "workers call, not people",
	}
	for route := range routes {
		if strings.Contains(route, " /api/v1/") && others[route] == "" {
			require.True(t, reached[route], "a command for %s", route)
		}
		require.False(t, reached[route] && others[route] != "", route)
	}
}
