//go:build linux

package e2e_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
)

// answer is what the API answers to a call, byte for byte.
func (b *binary) answer(path string) string {
	b.t.Helper()
	status, raw := b.call("GET", "/api/v1"+path, nil)
	require.Equal(b.t, 200, status, "%s: %s", path, raw)
	return string(raw)
}

// What programs read is what the API answers: as JSON its very bytes, as YAML
// the same values.
func TestTheCommandLinePrintsWhatTheAPIAnswers(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.must("job", "apply", "-f", s.file("jobs.yaml", twoJobs))
	s.must("group", "create", "empty")
	s.must("user", "create", "ann", "--role", "viewer", "--password-file", s.file("pw", "correct horse\n"),
		"--own-password-file", filepath.Join(b.dir, "initial-admin-password"))
	s.must("secret", "set", "billing", "--value-file", s.file("value", "hunter2-hunter2\n"))
	s.must("job", "pause", "second") // so that nothing fires meanwhile
	run := strings.TrimSpace(s.must("job", "trigger", "first"))
	s.must("execution", "logs", "-f", run)
	var job struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(s.must("job", "get", "second", "-o", "json")), &job))
	var before string
	for call, path := range map[string]string{
		"job list":                         "/jobs?limit=100",
		"job list --limit 1":               "/jobs?limit=1",
		"job list --name nothing":          "/jobs?limit=100&name=nothing",
		"job get second":                   "/jobs/" + job.ID,
		"job versions second":              "/jobs/" + job.ID + "/versions?limit=50",
		"job fires second --to 2020-01-01": "/jobs/" + job.ID + "/fires?limit=50&to=2019-12-31T16:00:00.000Z",
		"group list":                       "/groups?limit=200",
		"group get reports":                "/groups/reports",
		"execution list":                   "/executions?limit=50",
		"execution list --status failed":   "/executions?limit=50&status=FAILED",
		"execution get " + run:             "/executions/" + run,
		"execution logs " + run:            "/executions/" + run + "/logs?limit=200",
		"dead-letter list":                 "/dead-letters?limit=50",
		"dead-letter causes":               "/dead-letters/causes",
		"node handlers":                    "/handlers",
		"user list":                        "/users?limit=200",
		"secret list":                      "/secrets?limit=200",
		"audit --action=none --limit 1":    "/audit-logs?limit=1&action=none",
		"job export":                       "/export?format=json",
	} {
		args := strings.Fields(call)
		before = b.answer(path)
		got := s.must(append(args, "-o", "json")...)
		require.Equal(t, strings.TrimRight(before, "\n"), strings.TrimRight(got, "\n"), call)
		if strings.Contains(before, `"items"`) {
			require.NotContains(t, got, `"items":null`, call)
		}
		asYAML, err := yamljson.FromYAML([]byte(s.must(append(args, "--output", "yaml")...)))
		require.NoError(t, err, call)
		require.JSONEq(t, before, string(asYAML), call)
		require.NotEmpty(t, s.must(args...), "the table of %s", call)
	}
	for _, call := range []string{"node list", "overview"} { // of this moment
		got := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(s.must(append(strings.Fields(call), "-o", "json")...)), &got), call)
		require.NotEmpty(t, got, call)
	}

	// Changes print their answer, too, or nothing where the API answers nothing.
	for call, holds := range map[string]string{
		"job trigger first":          `{"executionIds":["`,
		"job pause first":            `"status":"PAUSED"`,
		"job resume first":           `"status":"ENABLED"`,
		"job pause --group reports":  `"paused":true`,
		"job resume --group reports": `"paused":false`,
		"execution retry " + run:     `"executionId":"`,
		"job backfill second --from 2020-01-01 --to 2020-01-02 --dry-run":   `"fireTimes":["2019-12-31T19:00:00.000Z"]`,
		"schedule preview --cron @daily":                                    `"fireTimes":["`,
		"secret set billing --value-file " + filepath.Join(s.home, "value"): `"version":2`,
		"context list": `{"items":[{"name":"` + b.url,
		"version":      `{"version":"`,
		"health":       "",
	} {
		args := append(strings.Fields(call), "-o", "json")
		if call == "health" {
			s.env = append(s.env, "PS_SERVER_ADDR="+b.addr)
			holds = `{"status":"ready"`
		}
		out := s.must(args...)
		require.Contains(t, out, holds, call)
		require.True(t, json.Valid([]byte(out)), "%s: %s", call, out)
	}
	require.Empty(t, s.must("group", "delete", "empty", "-o", "json"))
	require.Empty(t, s.must("secret", "delete", "billing", "-o", "yaml"))
	require.Equal(t, "items: []\nnextCursor: null\n", s.must("secret", "list", "-o", "yaml"))
}

// Lists that need several calls are one answer, whose items are as they came.
func TestLongListsAreOneAnswer(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	var jobs strings.Builder
	for i := range 230 {
		jobs.WriteString(strings.Replace("- {name: job N, jobType: CUSTOM, jobClass: noop}\n", "N",
			strings.Repeat("x", i%50)+string(rune('a'+i/50)), 1))
	}
	s.must("job", "apply", "-f", s.file("many.yaml", jobs.String()))
	var first, second struct {
		Items      []json.RawMessage `json:"items"`
		NextCursor *string           `json:"nextCursor"`
	}
	require.NoError(t, json.Unmarshal([]byte(s.must("job", "list", "-o", "json", "--limit", "210")), &first))
	require.Len(t, first.Items, 210)
	require.NotNil(t, first.NextCursor)
	require.NoError(t, json.Unmarshal([]byte(s.must("job", "list", "-o", "json", "--limit", "0", "--cursor",
		*first.NextCursor)), &second))
	require.Len(t, second.Items, 20)
	require.Nil(t, second.NextCursor)
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(b.answer("/jobs?limit=1"))))
	require.Contains(t, compact.String(), string(first.Items[0]))
}

// People see when, where and why, in their own zone and in that of the job.
func TestTablesShowWhatPeopleLookFor(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.env = append(s.env, "TZ=America/New_York")
	s.must("job", "apply", "-f", s.file("jobs.yaml", twoJobs))
	code, _, errOut := s.run("job", "backfill", "second", "--from", "2020-01-01", "--to", "2020-01-02")
	require.Zero(t, code, errOut)
	require.Contains(t, errOut, "--from is taken in the zone Asia/Shanghai: 2020-01-01T00:00:00+08:00")
	require.Eventually(t, func() bool {
		return strings.Contains(s.must("execution", "list", "--job", "second"), "FAILED")
	}, time.Minute, 50*time.Millisecond)
	table := s.must("execution", "list", "--job", "second")
	require.Regexp(t, `(?m)^ID +JOB +PLANNED +TRIGGER +SHARD +STATUS +REASON +NODE +ATTEMPT +START +TOOK$`, table)
	require.Regexp(t, `second +2020-01-01 03:00:00\+08:00 +MANUAL +– +FAILED +ERROR +`+b.node+
		` +1 +20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{3})?-0[45]:00 +\d`, table)
	require.Regexp(t, `second +2019-12-31 19:00:00Z `, s.must("execution", "list", "--job", "second", "--utc"))
	require.Regexp(t, `second +2019-12-31 14:00:00-05:00 `, s.must("execution", "list"))

	fires := s.must("job", "fires", "second", "--from", "2020-01-01", "--to", "2020-01-02")
	require.Regexp(t, `2020-01-01 03:00:00\+08:00 +– +– +FAILED +ERROR`, fires)
	why := s.must("job", "why", "second", "2020-01-01 03:00")
	require.Contains(t, why, "the fire of 2020-01-01 03:00:00+08:00 was run")
	require.Contains(t, why, "ended as FAILED, ERROR: the run failed\nno\n")
	require.Contains(t, s.must("job", "why", "second", "--at", "2020-01-01 05:00"),
		"no fire of the job was planned for 2020-01-01 05:00:00+08:00: the job was made at ")

	shown := s.must("job", "get", "reports/second")
	for _, line := range []string{
		`Name: +second`, `Group: +reports`, `Type: +CUSTOM fail`, `Data: +message: "no"`,
		`Schedule: +CRON 0 0 3 \* \* \? Asia/Shanghai`, `In words: +at 03:00`,
		`Next fires: +20\d\d-\d\d-\d\d 03:00:00\+08:00`, `Retries: +none`, `Routing: +ANY`, `Version: +1, changed `,
	} {
		require.Regexp(t, `(?m)^`+line, shown)
	}
	require.Regexp(t, `(?m)^Status: +UP$`, s.must("node", "get", b.node))
	require.Regexp(t, b.node+` +UP +127\.0\.0\.1:\d+ +api,scheduler,executor +\d+/512 +\d+/\d+ +256 `,
		s.must("node", "list"))
	require.Regexp(t, `(?m)^Nodes: +1 up, 0 suspect, 0 down, 0 draining$`, s.must("overview"))
	require.Regexp(t, `admin +127\.0\.0\.1 +POST /api/v1/jobs/:id/backfill .* 202`, s.must("audit", "--user", "admin"))
	require.Contains(t, s.must("audit", "export"), "POST /api/v1/jobs/:id/backfill")
	preview := s.must("schedule", "preview", "--cron", "0 0 9 ? * MON-FRI", "--zone", "Asia/Shanghai", "--count", "2",
		"--from", "2026-11-21")
	require.Equal(t, "2026-11-23 09:00:00+08:00\n2026-11-24 09:00:00+08:00\n", preview)
}
