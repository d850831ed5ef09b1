package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const trialPath = "/api/v1/jobs/trial"

// A trial runs, and leaves nothing but an entry of the audit log.
func TestADraftRunsOnceAndIsNotStored(t *testing.T) {
	e := newEdge(t)
	ran := e.call("POST", trialPath, `{"name":"draft","jobType":"CUSTOM","jobClass":"noop","params":{"day":"x"},
		"schedule":{"kind":"ONCE","at":"2020-01-01T00:00:00Z"}}`).want(200).json()
	require.Equal(t, "SUCCESS", ran["status"])
	require.Nil(t, ran["reason"])
	require.Equal(t, "node-1", ran["nodeId"])
	require.Equal(t, []any{}, ran["logs"])
	require.Empty(t, e.all(), "no job")
	require.Empty(t, e.call("GET", "/api/v1/executions", "").want(200).json()["items"])
	e.about("", "draft", `{"group":[null,"default"],"jobType":[null,"CUSTOM"],"jobClass":[null,"noop"],
		"params":[null,{"day":"x"}]}`)
}

// Only the audit log says later what a trial ran; it leaves out the secrets.
func TestTheAuditLogSaysWhatATrialRan(t *testing.T) {
	e := newEdge(t)
	e.call("POST", trialPath, `{"name":"draft","jobType":"HTTP","jobData":{"url":"https://bank.example/settle",
		"headers":{"Authorization":"Bearer hunter2"}},"params":{"password":"hunter3"}}`).want(200)
	changes := e.last().Changes
	require.Contains(t, changes, "https://bank.example/settle")
	require.Contains(t, changes, "***")
	require.NotContains(t, changes, "hunter")
}

func TestATrialOfAWrongDraftIsRefusedWithAllThatIsWrong(t *testing.T) {
	e := newEdge(t)
	_, fields := e.call("POST", trialPath, `{"jobType":"HTTP","jobData":{"url":"ftp://x"},"priority":99,"surprise":1}`).
		want(422).problem()
	for _, field := range []string{"name", "jobData.url", "priority", "surprise"} {
		require.Contains(t, fields, field)
	}
	declared := `{"name":"d","jobType":"CUSTOM","jobClass":"noop","parameters":[{"name":"day","type":"DATE","required":true}]`
	e.call("POST", trialPath, declared+`}`).wantField(422, "params.day", "required")
	e.call("POST", trialPath, declared+`,"params":{"day":"soon"}}`).wantField(422, "params.day", "invalid")
	e.call("POST", trialPath, declared+`,"params":{"day":"2026-11-23"}}`).want(200)
	e.call("POST", trialPath, `{"name":"d","jobType":"CUSTOM","jobClass":"noop","params":{"a":"`+
		strings.Repeat("x", 64<<10)+`"}}`).wantField(422, "params", "too_long")
	gone := e.call("POST", trialPath, `{"name":"d","jobType":"HTTP","jobData":{"url":"https://bank.example/",
		"headers":{"X-Key":"${secret.gone}"}}}`).want(200).json()
	require.Equal(t, "SECRET_MISSING", gone["reason"], "it may be made later, as for a stored job")
}

// A user who may not store and run such a job may not try it either.
func TestATrialNeedsTheRightsOfItsJob(t *testing.T) {
	e := newEdge(t)
	custom := `{"name":"d","group":"GROUP","jobType":"CUSTOM","jobClass":"noop"}`
	command := `{"name":"d","jobType":"COMMAND","jobData":{"command":["id"]}}`
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	in := func(group string) string { return strings.Replace(custom, "GROUP", group, 1) }
	e.call("POST", trialPath, in("default"), as(viewerToken)...).want(403)
	e.call("POST", trialPath, in("default"), as(operatorToken)...).want(200)
	e.call("POST", trialPath, command, as(operatorToken)...).wantCode(403, "commands_forbidden")
	e.call("POST", trialPath, in("default"), as(boundToken)...).want(403)
	e.call("POST", trialPath, in("mine"), as(boundToken)...).want(200)
}
