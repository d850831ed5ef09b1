package cli_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	channelID = "01a20394-c6d5-7000-b742-a7194cecf276"
	ruleID    = "01a20394-c6d5-7000-b742-a7194cecf277"
)

// alertAPI answers as a server with an alert, a rule and a channel; it keeps bodies.
func alertAPI(t *testing.T) (environ []string, api *fakeAPI, bodies *[]string) {
	bodies = &[]string{}
	api = newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 {
			*bodies = append(*bodies, string(body))
		}
		list := func(items string) { _, _ = io.WriteString(w, `{"items":[`+items+`],"nextCursor":null}`) }
		const rule = `{"id":"` + ruleID + `","name":"fails","group":null,"enabled":true,"version":3,"type":"JOB_FAILED",` +
			`"level":"INFO","threshold":0.25,"channelIds":["` + channelID + `"]}`
		const alert = `{"id":"a1","alertType":"JOB_FAILED","alertLevel":"WARNING","status":"FIRING","group":"g",` +
			`"jobId":"j","jobName":"settle","content":"it failed","labels":{"b":"2","a":"1"},"count":4,` +
			`"startTime":"2026-11-22T00:00:00.000Z","deliveries":[{"channelId":"c","channelName":"mail","state":"DEAD",` +
			`"attempt":2,"result":"REFUSED","code":"http_410","message":"gone"}],` +
			`"actions":[{"kind":"PAUSE_JOB","target":"j","state":"DONE"}]}`
		switch path := strings.TrimPrefix(r.URL.Path, "/api/v1"); r.Method + " " + path {
		case "GET /alerts":
			*bodies = append(*bodies, r.URL.Query().Get("status")+"|"+r.URL.Query().Get("labels"))
			list(alert)
		case "GET /alerts/a1", "POST /alerts/a1/ack":
			_, _ = io.WriteString(w, alert)
		case "GET /alert-channels":
			list(`{"id":"` + channelID + `","name":"mail"}`)
		case "GET /alert-rules":
			list(rule)
		case "POST /alert-rules", "PUT /alert-rules/" + ruleID, "POST /alert-silences":
			_, _ = io.WriteString(w, rule)
		case "POST /alert-rules/validate":
			_, _ = io.WriteString(w, `{"valid":true}`)
		case "POST /alert-rules/dry-run":
			_, _ = io.WriteString(w, `{"from":"2026-11-22T00:00:00.000Z","to":"2026-11-22T01:00:00.000Z","total":1,`+
				`"evidence":2,"executions":3,"truncated":true,"notes":["note"],"alerts":[`+alert+`]}`)
		default:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"status":404,"code":"not_found","title":"x","detail":"there is no such thing"}`)
		}
	})
	return []string{"PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t", "TZ=UTC"}, api, bodies
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestAlertsAreShownAndAcknowledged(t *testing.T) {
	environ, _, bodies := alertAPI(t)
	code, out, errOut := run(t, environ, "alert", "list", "--labels", "team=x")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "g/settle")
	code, _, _ = run(t, environ, "alert", "list", "--all")
	require.Zero(t, code)
	require.Equal(t, []string{"PENDING,FIRING,ACKNOWLEDGED|team=x", "|"}, *bodies, "open ones unless all are asked for")
	for _, verb := range []string{"get", "show"} {
		code, out, errOut = run(t, environ, "alert", verb, "a1")
		require.Zero(t, code, errOut)
		for _, want := range []string{"a=1,b=2", "it failed", "REFUSED", "http_410: gone", "PAUSE_JOB"} {
			require.Contains(t, out, want)
		}
	}
	*bodies = nil
	code, out, errOut = run(t, environ, "alert", "ack", "a1", "--comment", "mine")
	require.Zero(t, code, errOut)
	require.Equal(t, "acknowledged the alert JOB_FAILED about g/settle\n", out)
	require.JSONEq(t, `{"comment":"mine"}`, (*bodies)[0])
	code, _, errOut = run(t, environ, "alert", "resolve", "none")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "there is no such thing")
	code, _, _ = run(t, environ, "alert", "ack")
	require.Equal(t, 2, code)
}

// Files name channels by their names; the API gets ids, and numbers as they were written.
func TestRulesComeFromFiles(t *testing.T) {
	environ, api, bodies := alertAPI(t)
	file := write(t, "rule.yaml", "name: fails\ntype: FAILURE_RATE\nlevel: INFO\nthreshold: 0.25\nwindowSec: 600\n"+
		"channelIds: [mail]\nlabels: {channelIds: mail}\n")
	code, out, errOut := run(t, environ, "rule", "create", "-f", file)
	require.Zero(t, code, errOut)
	require.Equal(t, "created the rule fails ("+ruleID+"), version 3\n", out)
	require.JSONEq(t, `{"name":"fails","type":"FAILURE_RATE","level":"INFO","threshold":0.25,"windowSec":600,
		"channelIds":["`+channelID+`"],"labels":{"channelIds":"mail"}}`, (*bodies)[0])
	code, _, errOut = run(t, environ, "rule", "create", "-f", write(t, "r.json", `{"channelIds":["fax"]}`))
	require.Equal(t, 1, code)
	require.Contains(t, errOut, `there is no channel named "fax"`)
	code, out, errOut = run(t, environ, "rule", "validate", "-f", file)
	require.Zero(t, code, errOut)
	require.Equal(t, "the rule is good\n", out)

	*bodies = nil
	code, _, errOut = run(t, environ, "rule", "edit", "fails", "--disable")
	require.Zero(t, code, errOut)
	require.Contains(t, (*bodies)[0], `"enabled":false`)
	require.Contains(t, (*bodies)[0], `"version":3`)
	require.Contains(t, (*bodies)[0], `"threshold":0.25`)
	code, _, errOut = run(t, environ, "rule", "edit", ruleID, "-f", file)
	require.Zero(t, code, errOut)
	require.Contains(t, (*bodies)[1], `"version":3`, "the one that was read")
	require.Contains(t, api.seen(), "PUT /alert-rules/"+ruleID)

	code, out, errOut = run(t, environ, "rule", "dry-run", "fails", "--from", "2026-11-22T00:00:00Z")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "it failed")
	require.Contains(t, errOut, "there may be more")
	require.Contains(t, (*bodies)[2], `"from":"2026-11-22T00:00:00.000Z"`)

	for name, args := range map[string][]string{
		"no file":           {"rule", "create"},
		"nothing to change": {"rule", "edit", "fails"},
		"both":              {"rule", "edit", "fails", "--enable", "--disable"},
		"no rule":           {"rule", "dry-run"},
		"two rules":         {"rule", "dry-run", "fails", "-f", file},
	} {
		code, _, _ = run(t, environ, args...)
		require.Equal(t, 2, code, name)
	}
	code, _, errOut = run(t, environ, "rule", "get", "none")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, `there is no rule named "none"; platform-scheduler rule list`)
}

func TestSilencesAreMadeFromFlags(t *testing.T) {
	environ, _, bodies := alertAPI(t)
	code, _, errOut := run(t, environ, "silence", "create", "--match", "job=settle = orders", "--match", "team=x",
		"--from", "2026-11-22T00:00:00Z", "--for", "90m", "--group", "g", "--comment", "moves")
	require.Zero(t, code, errOut)
	require.JSONEq(t, `{"match":{"job":"settle = orders","team":"x"},"from":"2026-11-22T00:00:00.000Z",
		"to":"2026-11-22T01:30:00.000Z","group":"g","comment":"moves"}`, (*bodies)[0])
	for name, args := range map[string][]string{
		"no label":      {"--for", "1h"},
		"no end":        {"--match", "a=b"},
		"two ends":      {"--match", "a=b", "--for", "1h", "--to", "2026-11-22T00:00:00Z"},
		"back in time":  {"--match", "a=b", "--for", "-1h"},
		"no value":      {"--match", "a", "--for", "1h"},
		"file and more": {"--match", "a=b", "-f", "x.yaml"},
	} {
		code, _, _ = run(t, environ, append([]string{"silence", "create"}, args...)...)
		require.Equal(t, 2, code, name)
	}
}
