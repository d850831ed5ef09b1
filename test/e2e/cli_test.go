//go:build linux

package e2e_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
)

// shell is somebody at a command line, signed in to a server.
type shell struct {
	t    *testing.T
	home string
	env  []string
}

// run calls the command line.
func (s *shell) run(args ...string) (code int, out, errOut string) {
	s.t.Helper()
	var o, e bytes.Buffer
	code = cli.Execute(args, &o, &e, append([]string{"HOME=" + s.home}, s.env...))
	return code, o.String(), e.String()
}

// must is run where only success will do.
func (s *shell) must(args ...string) string {
	s.t.Helper()
	code, out, errOut := s.run(args...)
	require.Zero(s.t, code, "%v: %s%s", args, out, errOut)
	return out
}

func newShell(t *testing.T, b *binary) *shell {
	t.Helper()
	s := &shell{t: t, home: t.TempDir()}
	s.must("login", "--server", b.url, "--password-file", filepath.Join(b.dir, "initial-admin-password"))
	return s
}

func (s *shell) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const twoJobs = `
name: first
jobType: CUSTOM
jobClass: log
jobData: {lines: [one, two]}
labels: {team: a}
---
name: second
group: reports
jobType: CUSTOM
jobClass: fail
jobData: {message: no}
schedule: {kind: CRON, cronExpression: "0 0 3 * * ?", timeZone: Asia/Shanghai}
`

func TestTheCommandLineManagesJobs(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	file := s.file("jobs/a.yaml", twoJobs)
	require.Contains(t, s.must("job", "apply", "-f", file, "--dry-run"),
		"2 created, 0 updated, 0 unchanged, 0 deleted, 0 failed (dry run")
	require.NotContains(t, s.must("job", "list"), "first")
	require.Equal(t, "+ create default/first\n+ create reports/second\n2 created, 0 updated, 0 unchanged, 0 deleted, 0 "+
		"failed\n", s.must("job", "apply", "-f", file))
	require.Equal(t, "= unchanged default/first\n= unchanged reports/second\n0 created, 0 updated, 2 unchanged, 0 "+
		"deleted, 0 failed\n", s.must("job", "apply", "-f", filepath.Dir(file)))

	// An export changes nothing when it is applied.
	exported := s.file("export.yaml", s.must("job", "export"))
	require.Contains(t, s.must("job", "apply", "-f", exported), "0 created, 0 updated, 2 unchanged, 0 deleted, 0 failed\n")

	s.file("jobs/a.yaml", strings.Replace(strings.Replace(twoJobs, "0 0 3", "0 0 4", 1), "{team: a}", "{team: b}", 1))
	out := s.must("job", "apply", "-f", file)
	require.Contains(t, out, `    schedule.cronExpression: "0 0 3 * * ?" → "0 0 4 * * ?"`)
	require.Contains(t, out, `    labels: {"team":"a"} → {"team":"b"}`)
	require.Contains(t, out, "0 created, 2 updated")

	s.must("job", "pause", "second")
	require.Contains(t, s.must("job", "list", "--status", "PAUSED"), "second")
	s.must("job", "resume", "second", "--group", "reports")
	var shown struct{ Name, Status string }
	require.NoError(t, json.Unmarshal([]byte(s.must("job", "get", "second", "--output", "json")), &shown))
	require.Equal(t, "ENABLED", shown.Status)

	require.Equal(t, "2020-01-02 04:00:00+08:00\n", s.must("job", "backfill", "second", "--from", "2020-01-01T00:00:00Z",
		"--to", "2020-01-02T00:00:00Z", "--dry-run"))
	require.Regexp(t, "^[0-9a-f-]{36}\n$", s.must("job", "backfill", "second", "--from", "2020-01-01T00:00:00Z", "--to",
		"2020-01-02T00:00:00Z"))

	s.file("jobs/a.yaml", strings.Split(twoJobs, "---")[0])
	s.must("job", "apply", "-f", exported) // the second again
	require.Contains(t, s.must("job", "apply", "-f", file, "--prune"), "0 deleted", "another group is left alone")
	s.file("jobs/b.yaml", "name: third\ngroup: reports\njobType: CUSTOM\njobClass: noop\n")
	require.Contains(t, s.must("job", "apply", "-f", filepath.Dir(file), "--prune"), "- delete reports/second")
	require.NotContains(t, s.must("job", "list"), "second")

	code, _, errOut := s.run("job", "apply", "-f",
		s.file("bad.yaml", "name: x\njobType: CUSTOM\njobClass: sleep\njobData: {ms: soon}\n---\nname: good\njobType: "+
			"CUSTOM\njobClass: noop\n"))
	require.Equal(t, 1, code)
	require.Regexp(t, `bad.yaml: jobs\[0\] \(x\)\.jobData\.ms: `, errOut)
	require.NotContains(t, s.must("job", "list"), "good", "nothing was changed")
	code, _, errOut = s.run("job", "apply", "--dry-run", "-f",
		s.file("early.yaml", "name: early\njobType: CUSTOM\njobClass: nothing\n"))
	require.Zero(t, code)
	require.Contains(t, errOut, `warning: default/early: jobClass: no node that is up has the handler "nothing"`)
	for args, says := range map[string]string{
		"job get nobody":                     `there is no job named "nobody"`,
		"job apply -f /nowhere":              "no such file",
		"job apply":                          "-f names",
		"job list --output xml":              "--output is table, json or yaml",
		"job trigger first --params notjson": "--params is a JSON object, such as",
	} {
		code, _, errOut = s.run(strings.Fields(args)...)
		require.NotZero(t, code, args)
		require.Contains(t, errOut, says, args)
	}
	require.Contains(t, s.must("job", "delete", "first")+s.must("job", "list"), "third")
}

func TestTheCommandLineFollowsRuns(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.must("job", "apply", "-f", s.file("jobs.yaml", twoJobs))
	id := strings.TrimSpace(s.must("job", "trigger", "first"))
	require.Equal(t, "one\ntwo\n", s.must("execution", "logs", "-f", id))
	require.Equal(t, "one\ntwo\n", s.must("execution", "logs", id))
	id = strings.TrimSpace(s.must("job", "trigger", "second", "--params", `{"a":1}`))
	code, _, errOut := s.run("execution", "logs", "-f", id)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "the run ended as FAILED")
	require.Contains(t, s.must("execution", "list", "--job", "second"), "FAILED")
	require.Regexp(t, `Status:\s+FAILED\nReason:\s+ERROR\nMessage:\s+no\n`, s.must("execution", "get", id))
	require.Contains(t, s.must("execution", "retry", id, "-o", "json"), "executionId")
	code, _, errOut = s.run("execution", "cancel", id)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "already FAILED")

	long := b.command("for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done", nil)
	require.Equal(t, "line 1\nline 2\nline 3\nline 4\nline 5\n", s.must("execution", "logs", "-f", long))
}

func TestTheCommandLineManagesAccess(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	admin := filepath.Join(b.dir, "initial-admin-password")
	pw := s.file("pw", "correct horse\n")
	code, _, errOut := s.run("user", "create", "ann", "--role", "viewer", "--password-file", pw)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "--own-password-file", "no API token makes users: one's own password is asked for")
	s.must("user", "create", "ann", "--role", "viewer", "--password-file", pw, "--own-password-file", admin)
	require.Regexp(t, `ann\s+viewer`, s.must("user", "list"))
	token := strings.TrimSpace(s.must("token", "create", "CI", "--server", b.url, "--username", "ann", "--password-file",
		pw, "--days", "1"))
	require.Contains(t, s.must("token", "list", "--password-file", admin), "CI",
		"at the server and for the user of the context")

	ann := &shell{t: t, home: t.TempDir(), env: []string{
		"PLATFORM_SCHEDULER_SERVER=" + b.url,
		"PLATFORM_SCHEDULER_TOKEN=" + token,
	}}
	ann.must("job", "list")
	code, _, errOut = ann.run("user", "list")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "does not hold the permission user:admin")
	require.Contains(t, s.must("token", "list", "--server", b.url, "--password-file", admin), "CI")

	s.must("user", "update", "ann", "--role", "operator", "--group", "pay:operator", "--group", "audit:viewer",
		"--own-password-file", admin)
	require.Regexp(t, `ann\s+operator\s+audit:viewer, pay:operator`, s.must("user", "list"))
	s.must("user", "reset-password", "ann", "--keep-tokens", "--password-file", s.file("pw2", "another horse"),
		"--own-password-file", admin)
	code, _, errOut = ann.run("token", "list", "--server", b.url, "--username", "ann", "--password-file", pw)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "wrong")
	require.Regexp(t, `ann\s+operator\s+audit:viewer, pay:operator`, s.must("user", "list"),
		"another password widens nothing")
	s.must("user", "update", "ann", "--commands", "--secrets", "--group", "all", "--own-password-file", admin)
	require.Regexp(t, `ann\s+operator\s+all groups, commands, secrets`, s.must("user", "list"))
	s.must("user", "update", "ann", "--role", "admin", "--commands=false", "--secrets=false", "--own-password-file", admin)
	s.must("user", "update", "ann", "--role", "operator", "--own-password-file", admin)
	require.Regexp(t, `ann\s+operator\s+all groups\s`, s.must("user", "list"), "what somebody may as an admin is not kept")
	code, _, errOut = s.run("user", "update", "ann", "--group", "pay")
	require.Equal(t, 2, code, errOut)
	ann.must("job", "list")
	s.must("user", "delete", "ann", "--own-password-file", admin)
	code, _, errOut = ann.run("job", "list")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "unknown or expired")

	require.Contains(t, s.must("context", "list"), "*")
	info, err := os.Stat(filepath.Join(s.home, ".config", "platform-scheduler", "contexts.yaml"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	code, _, errOut = s.run("job", "list", "--server", "http://other.example")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "the token of the context is for "+b.url, "a token is sent to its own server alone")
	require.Contains(t, s.must("logout"), "signed out")
	code, _, errOut = s.run("job", "list")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "not signed in")
	var tokens struct{ Items []any }
	b.must(200, "GET", "/api/v1/tokens", nil, &tokens)
	require.Empty(t, tokens.Items, "the token of the context was revoked")
}
