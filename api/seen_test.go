package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
)

// Code of a shell that was written on Windows is saved, and whoever saves it is told.
func TestCarriageReturnsOfAScriptAreWarnedOf(t *testing.T) {
	e := newEdge(t)
	body := `{"name":"windows","jobType":"COMMAND","jobData":{"command":["sh","-c","set -e\r\nexit 0\r\n"]}}`
	warnings := fmt.Sprint(e.call("POST", "/api/v1/jobs", body).want(201).json()["warnings"])
	require.Contains(t, warnings, "code:carriage_return field:jobData.command message:has lines that end in CRLF")
}

// A caller who saves a job in a store that nobody tried is told, beside what else is wrong.
func TestAStoreThatIsNotKnownIsWarnedOf(t *testing.T) {
	e := newEdge(t)
	warned := func(name string) string {
		body := fmt.Sprintf(`{"name":%q,"jobType":"CUSTOM","jobClass":"nowhere"}`, name)
		return fmt.Sprint(e.call("POST", "/api/v1/jobs", body).want(201).json()["warnings"])
	}
	require.NotContains(t, warned("before"), "unknown_store")
	e.rebuild(func(d *api.Deps) { d.Nodes = node.NewNodeService(e.Store, "the store calls itself 9.9 (elsewhere)") })
	warnings := warned("after")
	require.Contains(t, warnings, "code:unknown_store field:store message:the store calls itself 9.9 (elsewhere)")
	require.Contains(t, warnings, "code:no_handler")
}

// A secret that stands in a definition in clear text is shown to those alone who
// may edit the job, and they are told.
func TestSecretsInDefinitionsAreShownToEditorsAlone(t *testing.T) {
	e := newEdge(t)
	body := func(value string) string {
		return fmt.Sprintf(`{"name":"call","group":"shown","jobType":"HTTP","version":1,"jobData":{"url":"http://h","headers":{"Accept":"*/*","Authorization":%q}}}`, value)
	}
	created := e.call("POST", "/api/v1/jobs", body("Basic canary-1")).want(201)
	warning := created.json()["warnings"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"jobData.headers.Authorization", "secret_in_clear"}, []any{warning["field"], warning["code"]})
	path := fmt.Sprint("/api/v1/jobs/", created.json()["id"])
	require.Contains(t, e.call("PUT", path, body("Basic canary-2")).want(200).body, "canary-2",
		"editors get what they send back")
	require.Contains(t, e.last().Changes, "jobData", "a change is kept")

	as := as(boundToken)
	views := []string{path, "/api/v1/jobs", path + "/versions", "/api/v1/export", "/api/v1/export?format=json"}
	for _, view := range views {
		require.Contains(t, e.call("GET", view, "").want(200).body, "canary", view)
		hidden := e.call("GET", view, "", as...).want(200)
		require.NotContains(t, hidden.body, "canary", view)
		require.Contains(t, hidden.body, "***", view)
		require.Contains(t, hidden.body, "*/*", view)
		narrowed := e.call("GET", view, "", "Authorization", "Bearer "+apiToken).want(200)
		require.NotContains(t, narrowed.body, "canary", "a token that only reads: %s", view)
	}
	changes := e.call("GET", path+"/versions", "", as...).
		json()["items"].([]any)[0].(map[string]any)["changes"].(map[string]any)
	require.Contains(t, changes, "jobData", "that it changed is shown")
	require.Nil(t, e.call("GET", path, "", as...).want(200).json()["warnings"])
	require.NotContains(t, fmt.Sprint(e.kept()), "canary")

	// A hidden value does not come back as the value.
	e.call("PUT", path, body("***")).wantField(422, "jobData.headers.Authorization", "hidden_value")
	e.call("POST", "/api/v1/jobs", body("***")).wantField(422, "jobData.headers.Authorization", "hidden_value")

	clean := e.call("POST", "/api/v1/jobs",
		`{"name":"clean","jobType":"HTTP","jobData":{"url":"http://h","headers":{"Authorization":"Bearer ${secret.T}"}}}`).
		want(201)
	require.Nil(t, clean.json()["warnings"])
	require.Contains(t, e.call("GET", fmt.Sprint("/api/v1/jobs/", clean.json()["id"]), "", "Authorization",
		"Bearer "+viewerToken).want(200).body, "Bearer ${secret.T}")
}
