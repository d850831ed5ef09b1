//go:build linux

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const talking = `
name: talk
group: pay
jobType: COMMAND
jobData:
  interpreter: sh
  script: |
    echo "day $DAY of $REGION"
    echo "to stderr" >&2
    exit ${CODE:-0}
  env: {DAY: "${scheduledTime:yyyy-MM-dd}", REGION: "${params.region:-eu}", CODE: "${params.code:-0}"}
schedule: {kind: CRON, cronExpression: "0 0 3 1 1 ? 2099", timeZone: Asia/Shanghai}
`

func TestARunIsTriggeredAndFollowed(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.must("job", "apply", "-f", s.file("talk.yaml", talking))
	code, out, errOut := s.run("job", "trigger", "talk", "--wait", "--param", "region=cn=1", "--scheduled-time",
		"2026-11-14")
	require.Zero(t, code, errOut)
	require.Equal(t, "day 2026-11-14 of cn=1\n", out)
	require.Contains(t, errOut, "to stderr\n")
	require.Contains(t, errOut, "--scheduled-time is taken in the zone Asia/Shanghai: 2026-11-14T00:00:00+08:00")
	require.Regexp(t, `the run succeeded in \S+, attempt 1 on `, errOut)

	code, _, errOut = s.run("job", "trigger", "talk", "-w", "--params", `{"code": 3, "region": "us"}`, "--param",
		"region=de")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "error: the run ended as FAILED (EXIT_CODE): ended with exit code 3: to stderr\n")
	code, out, _ = s.run("execution", "logs", "--job", "pay/talk")
	require.Zero(t, code)
	require.Contains(t, out, " of de\n")
	var runs struct{ Items []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(s.must("execution", "list", "--limit", "1", "-o", "json")), &runs))
	shown := s.must("execution", "get", runs.Items[0].ID)
	require.Regexp(t, `(?m)^Asked by: +admin, with the token command line on `, shown)
	require.Regexp(t, `(?m)^Params: +\{"code":3,"region":"de"\}$`, shown)
	code, out, _ = s.run("job", "trigger", "talk", "-w", "-o", "json", "--param", "code=4")
	require.Equal(t, 1, code)
	var ended struct {
		Items []struct{ Status, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &ended))
	require.Equal(t, "EXIT_CODE", ended.Items[0].Reason)

	later := strings.TrimSpace(s.must("job", "trigger", "talk", "--delay", "1h"))
	require.Regexp(t, `(?m)^Status: +WAITING$`, s.must("execution", "get", later))
	at := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Second)
	later = strings.TrimSpace(s.must("job", "trigger", "talk", "--at", at.Format(time.RFC3339)))
	require.Regexp(t, `(?m)^Planned: +`+at.Format("2006-01-02 15:04:05Z")+`$`, s.must("execution", "get", later, "--utc"))
	for args, says := range map[string]string{
		"--at 2020-01-01":            "--at is past",
		"--at 2099-01-01 --delay 1s": "use one of them",
		"--delay -1s":                "must not be negative",
		"--param x":                  "--param must be NAME=VALUE",
		"--param a=1 --param a=2":    "is given twice",
		"--at soon":                  "must be a time such as",
	} {
		code, _, errOut = s.run(append([]string{"job", "trigger", "talk"}, strings.Fields(args)...)...)
		require.Equal(t, 2, code, args)
		require.Contains(t, errOut, says, args)
	}

	s.must("job", "apply", "-f",
		s.file("shards.yaml", "name: shards\njobType: CUSTOM\njobClass: echo\njobData: {text: \"shard "+
			"${shardIndex}\"}\nshardCount: 2\n"))
	code, out, errOut = s.run("job", "trigger", "shards", "--wait")
	require.Zero(t, code, errOut)
	require.Contains(t, errOut, "--- shard 1/2: ")
	require.Contains(t, out+errOut, "shard 1\n")
}

func TestVersionsAreComparedAndTakenBack(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	file := s.file("talk.yaml", talking)
	s.must("job", "apply", "-f", file)
	s.file("talk.yaml", strings.Replace(strings.Replace(talking, `echo "to stderr" >&2`, `echo "to nobody" >&2`, 1),
		"group: pay", "group: pay\npriority: 8", 1))
	applied := s.must("job", "apply", "-f", file)
	require.Contains(t, applied,
		"    jobData.script:\n        echo \"day $DAY of $REGION\"\n      - echo \"to stderr\" >&2\n      + echo \"to "+
			"nobody\" >&2\n        exit ${CODE:-0}\n    priority: 5 → 8\n")
	require.Regexp(t, `(?m)^2 +\S+ \S+ +admin +jobData, priority$`, s.must("job", "versions", "talk"))
	diff := s.must("job", "diff", "talk")
	require.Contains(t, diff, "version 1 → 2\n")
	require.Contains(t, diff, "      - echo \"to stderr\" >&2\n      + echo \"to nobody\" >&2\n")
	code, out, _ := s.run("job", "diff", "talk", "2", "1", "--exit-code")
	require.Equal(t, 1, code)
	require.Contains(t, out, "    priority: 8 → 5\n")
	code, out, _ = s.run("job", "diff", "talk", "2", "2", "--exit-code")
	require.Zero(t, code)
	require.Equal(t, "versions 2 and 2 are the same\n", out)
	code, _, errOut := s.run("job", "diff", "talk", "7")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "has no version 7 any more")

	require.Contains(t, s.must("job", "rollback", "talk"), "pay/talk is at version 3, with the definition of version 1")
	require.Contains(t, s.must("job", "diff", "talk", "1", "3"), "are the same")

	code, out, _ = s.run("job", "apply", "-f", file, "--dry-run", "--exit-code")
	require.Equal(t, 1, code)
	require.Contains(t, out, "1 updated")
	s.must("job", "apply", "-f", file)
	code, _, _ = s.run("job", "apply", "-f", file, "--dry-run", "--exit-code")
	require.Zero(t, code)
	code, _, _ = s.run("job", "apply", "-f", file, "--exit-code")
	require.Equal(t, 2, code)
}

func TestSecretsNodesAndDeadLettersAreSteered(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	require.Contains(t, s.must("secret", "set", "billing", "--value-file", s.file("value", "hunter2-hunter2\n"),
		"--description", "for tests"), "made the secret billing, version 1")
	typed(t, "hunter3-hunter3\n")
	require.Contains(t, s.must("secret", "set", "billing", "--value-file", "-"), "changed the secret billing, version 2")
	require.Regexp(t, `billing +all groups +2 .* for tests\n`, s.must("secret", "list"))
	require.NotContains(t, s.must("secret", "list", "-o", "json"), "hunter")
	require.Contains(t, s.must("secret", "delete", "billing"), "deleted the secret billing")

	require.Contains(t, s.must("node", "drain", b.node, "--wait"), "runs nothing any more")
	require.Regexp(t, `(?m)^Status: +DRAINING$`, s.must("node", "get", b.node))
	require.Contains(t, s.must("node", "resume", b.node), "starts runs again")

	s.must("job", "apply", "-f",
		s.file("jobs.yaml", "name: dies\njobType: CUSTOM\njobClass: fail\njobData: {message: no luck}\nretryPolicy: "+
			"{maxRetries: 1, intervalMs: 10}\n"))
	for range 3 {
		code, _, errOut := s.run("job", "trigger", "dies", "--wait")
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "the run ended as DEAD (ERROR): no luck")
	}
	require.Regexp(t, `dies +ERROR +3 `, s.must("dead-letter", "causes"))
	var letters struct{ Items []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(s.must("dead-letter", "list", "--job", "dies", "-o", "json")), &letters))
	require.Len(t, letters.Items, 3)
	require.Contains(t, s.must("dead-letter", "discard", letters.Items[0].ID), "discarded")
	code, _, errOut := s.run("dead-letter", "replay", letters.Items[1].ID, "--wait")
	require.Equal(t, 1, code, errOut)
	require.Contains(t, s.must("dead-letter", "discard", "--job", "dies", "--reason", "ERROR"), " done, 0 failed")
	require.NotContains(t, s.must("dead-letter", "list"), letters.Items[2].ID)
	code, _, _ = s.run("dead-letter", "replay", "--job", "dies")
	require.Equal(t, 2, code)
}

// One's own password is changed at the server of the context, whose token goes on
// being good.
func TestOnesOwnPasswordIsChanged(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	first, second := filepath.Join(b.dir, "initial-admin-password"), s.file("second", "a longer horse\n")
	require.Contains(t, s.must("password", "--password-file", first, "--new-password-file", second),
		"the password of admin at "+b.url+" is changed")
	s.must("job", "list")
	code, _, errOut := s.run("token", "list", "--password-file", first)
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "wrong")
	require.Contains(t, s.must("token", "list", "--password-file", second), "command line on ")
}

// The state of the schema can be asked beside a running server, and its banner is
// JSON where its log is.
func TestARunningServersSchemaIsReadAndItsBannerIsJSON(t *testing.T) {
	b := startBinaryWith(t, "PS_LOG_FORMAT=json")
	s := &shell{t: t, home: t.TempDir(), env: []string{"PS_DATA_DIR=" + b.dir}}
	require.NotContains(t, s.must("migrate", "status"), "pending")
	require.Contains(t, s.must("migrate", "plan"), "nothing would be changed")
	code, _, errOut := s.run("migrate", "up")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "in use by another server")

	log, err := os.ReadFile(b.logFile())
	require.NoError(t, err)
	for line := range strings.Lines(string(log)) {
		var said struct{ Msg, Level string }
		require.NoError(t, json.Unmarshal([]byte(line), &said), line)
	}
	require.Contains(t, string(log), `"msg":"platform-scheduler is ready"`)
}

// The jobs that are shipped as models are taken as they stand, and run.
func TestTheShippedJobsWork(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	code, out, errOut := s.run("job", "apply", "-f", "../../configs/jobs")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "6 created, 0 updated, 0 unchanged, 0 deleted, 0 failed")
	require.Equal(t, "missing secrets, without which runs fail: billing-token\n", errOut)
	code, out, errOut = s.run("job", "trigger", "nightly export", "--wait", "--scheduled-time", "2026-11-15")
	require.Zero(t, code, errOut)
	require.Equal(t, "exporting 2026-11-14 of eu, attempt 1\n2\n", out)
	require.Contains(t, s.must("job", "trigger", "free space", "--wait", "--param", "folder=/"), "/\n")
	require.Contains(t, s.must("job", "get", "settle invoices"), "CREATED")
	require.Regexp(t, `Next fires: +2099-12-31 22:59:00Z`, s.must("job", "get", "say goodbye", "--utc"))
	require.Contains(t, s.must("job", "apply", "-f", "../../configs/jobs"), "6 unchanged")
}
