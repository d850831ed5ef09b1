package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionsOfAJobAreShownAndRestored(t *testing.T) {
	e := newEdge(t)
	id := fmt.Sprint(e.call("POST", "/api/v1/jobs", `{"name":"j","jobType":"CUSTOM","jobClass":"noop"}`).want(201).
		json()["id"])
	path := "/api/v1/jobs/" + id
	e.call("PUT", path, `{"name":"j","jobType":"CUSTOM","jobClass":"noop","version":1,"priority":3}`).want(200)
	items := e.call("GET", path+"/versions", "").want(200).json()["items"].([]any)
	newest := items[0].(map[string]any)
	require.EqualValues(t, 2, newest["version"])
	require.Equal(t, map[string]any{"priority": []any{5.0, 3.0}}, newest["changes"])
	require.Nil(t, items[1].(map[string]any)["changes"])
	require.Equal(t, "j", newest["definition"].(map[string]any)["name"])

	e.call("POST", path+"/versions/1/restore", `{}`).wantField(422, "version", "required")
	e.call("POST", path+"/versions/1/restore", `{"version":1}`).wantCode(409, "stale_version")
	e.call("POST", path+"/versions/1/restore", "", "If-Match", `"1"`).wantCode(412, "version_mismatch")
	require.EqualValues(t, 5, e.call("POST", path+"/versions/1/restore", `{"version":2}`).want(200).json()["priority"])
	require.JSONEq(t, `{"priority":[3,5]}`, e.last().Changes)
	e.call("POST", path+"/versions/9/restore", `{"version":3}`).wantCode(404, "not_found")
	e.call("POST", path+"/versions/x/restore", `{"version":3}`).wantCode(404, "not_found")
	e.call("GET", "/api/v1/jobs/none/versions", "").wantCode(404, "not_found")
}

func TestAJobIsCopied(t *testing.T) {
	e := newEdge(t)
	id := fmt.Sprint(e.call("POST", "/api/v1/jobs", `{"name":"j","jobType":"CUSTOM","jobClass":"noop"}`).want(201).
		json()["id"])
	a := e.call("POST", "/api/v1/jobs/"+id+"/copy", `{"name":"k","group":"g"}`).want(201)
	require.Equal(t, []any{"k", "g"}, []any{a.json()["name"], a.json()["group"]})
	require.Contains(t, a.header.Get("Location"), "/api/v1/jobs/")
	e.call("POST", "/api/v1/jobs/"+id+"/copy", `{"nme":"k"}`).wantField(422, "nme", "unknown_field")
	e.call("POST", "/api/v1/jobs/none/copy", "").wantCode(404, "not_found")
}

func TestADeadLetterIsDiscardedOnce(t *testing.T) {
	e := newEdge(t)
	e.deadRuns("x")
	e.call("POST", "/api/v1/dead-letters/x/discard", "").want(204)
	e.call("POST", "/api/v1/dead-letters/x/discard", "").wantCode(404, "not_found")
}
