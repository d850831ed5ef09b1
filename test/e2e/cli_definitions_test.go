//go:build linux

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// typed puts a text on the standard input of what runs in this process.
func typed(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stdin")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	f, err := os.Open(file)
	require.NoError(t, err)
	before := os.Stdin
	os.Stdin = f
	t.Cleanup(func() { os.Stdin = before; _ = f.Close() })
}

func TestFilesAreReadInEveryFormAndNamedInErrors(t *testing.T) {
	s := newShell(t, startBinary(t))
	s.file("d/one.yaml", "name: one\njobType: CUSTOM\njobClass: noop\n")
	s.file("d/deep/list.yml",
		"- {name: two, jobType: CUSTOM, jobClass: noop}\n- {name: three, jobType: CUSTOM, jobClass: noop}\n")
	s.file("d/deep/doc.json",
		`{"version":1,"groups":[{"name":"g","maxConcurrency":2}],"jobs":[{"name":"four","group":"g","jobType":"CUSTOM","jobClass":"noop","enabled":false}]}`)
	folder := filepath.Join(s.home, "d")
	require.Contains(t, s.must("job", "apply", "-f", folder), "+ create group g\n+ create g/four\n+ create default/two")
	require.Regexp(t, `four\s+g\s+CUSTOM\s+CREATED`, s.must("job", "list"))
	typed(t, "name: five\njobType: CUSTOM\njobClass: noop\n")
	require.Contains(t, s.must("job", "apply", "-f", "-"), "+ create default/five")

	var answer struct {
		Created int
		Items   []struct{ Name, Action string }
	}
	require.NoError(t, json.Unmarshal([]byte(s.must("job", "apply", "-f",
		s.file("six.yaml", "name: six\njobType: CUSTOM\njobClass: noop\n"), "--output", "json")), &answer))
	require.Equal(t, []any{1, "CREATE"}, []any{answer.Created, answer.Items[0].Action})

	for text, says := range map[string]string{
		"name: a\nname: b\n": "line 2: the field \"name\" is given twice", "just text": "must hold a job",
		"version: 2\njobs: []\n": "version must be 1",
		"version: 1\njob: []\n":  "unknown field", "- 1\n": "must hold a job", "a: &x 1\nb: *x\n": "anchors",
		"- {name: one, jobType: CUSTOM, jobClass: noop}\n- {name: one, group: default, jobType: " +
			"CUSTOM}\n": "defines the job default/one twice",
	} {
		code, _, errOut := s.run("job", "apply", "-f", s.file("bad.yaml", text))
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "bad.yaml: ", text)
		require.Contains(t, errOut, says, text)
	}
	s.file("d/deep/more.yaml",
		"name: seven\njobType: CUSTOM\njobClass: noop\n---\nname: eight\njobType: CUSTOM\njobClass: noop\nschedule: "+
			"{cronExpression: x}\n")
	code, _, errOut := s.run("job", "apply", "-f", folder)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "more.yaml: jobs[1] (eight).schedule.cronExpression: ")
}

func TestManyJobsGoInSeveralCallsAndBackIntoFiles(t *testing.T) {
	s := newShell(t, startBinary(t))
	var b strings.Builder
	for i := range 450 {
		fmt.Fprintf(&b, "- {name: job %03d, group: g%d, jobType: CUSTOM, jobClass: noop}\n", i, i%3)
	}
	many := s.file("many.yaml", b.String())
	bad := s.file("bad.yaml", b.String()+"- {name: x, jobType: CUSTOM}\n")
	code, _, errOut := s.run("job", "apply", "-f", bad)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "nothing was changed")
	require.Contains(t, errOut, "bad.yaml: jobs[450] (x).jobClass")
	require.NotContains(t, s.must("job", "list"), "job 0")

	require.Contains(t, s.must("job", "apply", "-f", many), "450 created")
	require.Contains(t, s.must("job", "apply", "-f", many, "--prune"),
		"0 created, 0 updated, 450 unchanged, 0 deleted, 0 failed")
	folder := filepath.Join(s.home, "out")
	require.Contains(t, s.must("job", "export", "--output-dir", folder), "3 groups")
	require.Contains(t, s.must("job", "apply", "-f", folder, "--prune"), "450 unchanged, 0 deleted")
	s.must("job", "export", "--group", "g1", "--output", "json", "--output-dir", folder)
	var doc struct{ Jobs []any }
	text, err := os.ReadFile(filepath.Join(folder, "g1.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Len(t, doc.Jobs, 150)
	require.Contains(t, s.must("job", "apply", "-f",
		s.file("few.yaml", strings.Join(strings.SplitAfter(b.String(), "\n")[:10], "")), "--prune"),
		"10 unchanged, 440 deleted")
}

func TestGroupsAreManagedAndHeld(t *testing.T) {
	s := newShell(t, startBinary(t))
	s.must("job", "apply", "-f", s.file("jobs.yaml", twoJobs))
	s.must("group", "create", "empty", "--max-concurrency", "3")
	require.Regexp(t, `empty\s+3\s+planned`, s.must("group", "list"))
	require.Regexp(t, `Max concurrency:\s+3\n`, s.must("group", "get", "empty"))
	require.Contains(t, s.must("group", "pause", "reports"), "paused the group reports")
	require.Contains(t, s.must("job", "list", "--status", "PAUSED"), "second")
	require.Contains(t, s.must("job", "resume", "--group", "reports"), "resumed the group reports")
	require.Contains(t, s.must("job", "pause", "--all"), "paused all jobs")
	require.Regexp(t, `(?s)first.*PAUSED`, s.must("job", "list", "--status", "PAUSED"))
	require.NotContains(t, s.must("job", "export"), "enabled", "a job that others hold is not paused itself")
	require.Contains(t, s.must("job", "resume", "--all"), "resumed all jobs")
	require.NotContains(t, s.must("job", "list", "--status", "PAUSED"), "first")
	s.must("group", "delete", "empty")
	for args, says := range map[string]string{
		"group delete reports": "still has jobs", "job pause": "name a job", "job pause first --all": "--all goes without",
		"group get none": "no group",
	} {
		code, _, errOut := s.run(strings.Fields(args)...)
		require.NotZero(t, code, args)
		require.Contains(t, errOut, says, args)
	}
	require.Contains(t, s.must("__complete", "group", "pause", ""), "reports\n")
	require.Contains(t, s.must("__complete", "job", "get", "sec"), "second\n")
	require.Contains(t, s.must("__complete", "job", "export", "--group", ""), "reports\n")
	require.Contains(t, s.must("__complete", "rest"), "restore")
}

func TestABackupIsRestored(t *testing.T) {
	s := newShell(t, startBinary(t))
	s.must("job", "apply", "-f",
		s.file("jobs.yaml", twoJobs+"---\nname: third\njobType: CUSTOM\njobClass: log\njobData: {lines: "+
			"['${secret.pw}']}\nenabled: false\n"))
	s.must("group", "create", "empty", "--max-concurrency", "3")
	file := filepath.Join(s.home, "backup.yaml")
	require.Contains(t, s.must("backup", file), "values of 1 secrets are not in it")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "# These secrets are used, and not in this file: pw\nversion: 1\n"),
		"%s", text)

	other := newShell(t, startBinary(t))
	typed(t, "")
	code, out, errOut := other.run("restore", file)
	require.Equal(t, 2, code)
	rules := len(alerting.DefaultRules(time.Now()))
	require.Contains(t, out, fmt.Sprintf("3 created, 0 updated, %d unchanged, 0 deleted, 0 failed (dry run", rules),
		"the rules of the first start are in the backup, too")
	require.Contains(t, errOut, "missing secrets, without which runs fail: pw")
	require.Contains(t, errOut, "use --yes")
	require.NotContains(t, other.must("job", "list"), "first")
	require.Contains(t, other.must("restore", file, "--yes"),
		fmt.Sprintf("3 created, 0 updated, %d unchanged, 0 deleted, 0 failed\n", rules))
	require.Contains(t, other.must("restore", file, "--yes", "--prune"),
		fmt.Sprintf("%d unchanged, 0 deleted", rules+3))
	require.Equal(t, s.must("job", "export"), other.must("job", "export"), "both servers hold the same")
	for _, command := range []string{"backup", "restore"} {
		require.Contains(t, s.must(command, "--help"), "the values of secrets")
	}
}

// unchanged is how many settings an answer of diff names so.
func (s *shell) unchanged(out string) (n int) {
	s.t.Helper()
	_, counts, _ := strings.Cut(out, "0 updated, ")
	_, err := fmt.Sscanf(counts, "%d unchanged", &n)
	require.NoError(s.t, err, out)
	require.NotZero(s.t, n, out)
	return n
}

// The shipped example of alert settings is applied from a file whose secrets come from the caller's machine, compared,
// backed up, and restored into an empty server, where the secrets alone are missing.
func TestAlertSettingsLiveInFiles(t *testing.T) {
	s := newShell(t, startBinary(t))
	example := filepath.Join("..", "..", "configs", "examples", "alerting", "settings.yaml")
	code, _, errOut := s.run("apply", "-f", example)
	require.Equal(t, 1, code)
	shipped := s.unchanged(s.must("diff", "-f", s.file("fresh.yaml", s.must("export", "--parts", "alerting"))))
	for _, says := range []string{
		"alerting.channels[0] (operations mail): config.password: the environment variable SMTP_PASSWORD is not set",
		"alerting.channels[1] (operations chat): config.webhook: the environment variable SLACK_WEBHOOK is not set",
	} {
		require.Contains(t, errOut, says)
	}
	t.Setenv("SMTP_PASSWORD", "canary")
	t.Setenv("SLACK_WEBHOOK", "https://hooks.slack.com/services/canary")
	code, out, _ := s.run("diff", "-f", example)
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "+ create on-call plan operations\n")
	require.Contains(t, s.must("apply", "-f", example), "9 created, 0 updated, 0 unchanged, 0 deleted, 0 failed\n")
	require.Contains(t, s.must("diff", "-f", example), "9 unchanged")
	kept := s.file("kept.yaml", s.must("export", "--parts", "alerting"))
	require.Contains(t, s.must("diff", "-f", kept, "--prune"), fmt.Sprintf("%d unchanged, 0 deleted", 9+shipped))
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.NotContains(t, string(text), "canary")
	code, out, _ = s.run("apply", "-f", s.file("less.yaml", strings.ReplaceAll(string(text), "operations@", "ops@")),
		"--dry-run", "--exit-code")
	require.Equal(t, 1, code)
	require.Contains(t, out, "~ update alert channel operations mail\n    config.to: ")

	file := filepath.Join(s.home, "backup.yaml")
	s.must("backup", file)
	other := newShell(t, startBinary(t))
	code, out, errOut = other.run("restore", file, "--yes")
	require.Zero(t, code, errOut)
	require.Contains(t, out, fmt.Sprintf("9 created, 0 updated, %d unchanged", shipped))
	require.Contains(t, errOut, "warning: alert channel operations chat: config.webhook is missing, so that the channel "+
		"is disabled: give it, and enable the channel\n")
	require.Contains(t, other.must("apply", "-f", example), "2 updated, 7 unchanged")
	require.Equal(t, s.must("export"), other.must("export"), "both servers hold the same")
	require.Contains(t, other.must("apply", "-f", s.file("none.yaml",
		"version: 1\nalerting: {routes: [], rules: [{name: r, type: JOB_FAILED, level: INFO}]}\n"), "--prune"),
		"- delete alert route critical\n")
}
