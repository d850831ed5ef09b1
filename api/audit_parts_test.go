package api_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// The log finds a pause, a delete or a change by its object, also where one call changed many objects.
func TestTheAuditLogIsFoundByEachObjectOfACall(t *testing.T) {
	e, jobs := estate(t)
	actions := func(query string) (found []any) {
		for _, item := range e.call("GET", "/api/v1/audit-logs?"+query, "").want(200).json()["items"].([]any) {
			found = append(found, item.(map[string]any)["action"])
		}
		return found
	}
	const create = "POST /api/v1/jobs"
	const pause, prune = "POST /api/v1/bulk/jobs/pause", "POST /api/v1/import"
	const groupPause = "POST /api/v1/groups/:name/pause"
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":["`+jobs["mine"]+`","`+jobs["theirs"]+`","none"]}`).want(200)
	require.Equal(t, []any{pause, create}, actions("object="+jobs["mine"]))
	require.Equal(t, []any{pause, create}, actions("object="+jobs["theirs"]))
	require.Empty(t, actions("object=none"), "a job that was not paused")

	e.call("POST", "/api/v1/import?prune=true&dryRun=true", `{"version":1,"groups":[],"jobs":[
		{"name":"b","group":"mine","jobType":"CUSTOM","jobClass":"noop"}]}`).want(200)
	require.Equal(t, []any{pause, create}, actions("object="+jobs["mine"]), "a dry run changes no job")
	e.call("POST", "/api/v1/import?prune=true", `{"version":1,"groups":[],"jobs":[
		{"name":"b","group":"mine","jobType":"CUSTOM","jobClass":"noop"}]}`).want(200)
	require.Equal(t, []any{prune, pause, create}, actions("object="+jobs["mine"]), "the prune deleted it")
	require.Equal(t, []any{prune}, actions("objectName=b"))
	require.Contains(t, actions("objectName="+url.QueryEscape("a")), prune, "a deleted job is found by its name")

	e.call("POST", "/api/v1/groups/theirs/pause", "").want(200)
	require.Contains(t, actions("objectName=theirs"), groupPause)
}

// The log keeps what people changed of a silence. The warnings are told to who saves it.
func TestTheAuditLogKeepsNoWarningsOfASilence(t *testing.T) {
	e := newEdge(t)
	silence := definitions()["alert-silences"]
	made := e.call("POST", "/api/v1/alert-silences", encode(t, silence)).want(201).json()
	require.NotEmpty(t, made["warnings"], "it matches a job that is not there")
	require.Contains(t, e.last().Changes, "match")
	require.NotContains(t, e.last().Changes, "warnings")
	silence["comment"], silence["version"] = "quiet", 1
	edited := e.call("PUT", "/api/v1/alert-silences/"+made["id"].(string), encode(t, silence)).want(200).json()
	require.NotEmpty(t, edited["warnings"])
	require.NotContains(t, e.last().Changes, "warnings")
}
