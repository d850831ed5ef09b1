package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A channel that rules, routes or teams name stays; jobs that name it keep a warning.
func TestAChannelThatIsNamedIsNotDeleted(t *testing.T) {
	e := newEdge(t)
	made := e.call("POST", "/api/v1/alert-channels",
		`{"name":"hook","type":"WEBHOOK","config":{"url":"http://127.0.0.1:1/"}}`).
		want(201).id()
	path := "/api/v1/alert-channels/" + made
	named := fmt.Sprintf(`["%s"]`, made)
	for _, user := range [][2]string{
		{"alert-rules", `{"name":"a rule","type":"JOB_FAILED","level":"INFO","channelIds":` + named + `}`},
		{"alert-routes", `{"name":"a route","channelIds":` + named + `}`},
		{"alert-routes", `{"name":"a route","continue":true,"escalateAfterSec":60,"escalateTo":` + named + `}`},
		{"teams", `{"name":"a team","channelIds":` + named + `}`},
	} {
		id := e.call("POST", "/api/v1/"+user[0], user[1]).want(201).id()
		used := e.call("DELETE", path, "")
		used.wantCode(409, "in_use")
		require.Contains(t, used.body, id)
		e.call("GET", path, "").want(200)
		e.call("DELETE", "/api/v1/"+user[0]+"/"+id, "").want(204)
	}
	job := e.create(encode(t, minimal().with(fields{"alerts": fields{"onFailure": []string{"hook"}}})))["id"].(string)
	require.NotContains(t, e.call("GET", "/api/v1/jobs/"+job, "").want(200).body, "unknown_channel")
	e.call("DELETE", path, "").want(204)
	shown := e.call("GET", "/api/v1/jobs/"+job, "").want(200)
	require.NotEmpty(t, shown.json()["warnings"], shown.body)
	require.Contains(t, fmt.Sprint(shown.json()["warnings"]), "hook")
}

// A user who is deleted stays in teams as a name of nobody; the contact goes, and the team is
// still edited.
func TestAUserWhoIsDeletedIsToldOfNothing(t *testing.T) {
	e := newEdge(t)
	e.people()
	user := e.call("POST", "/api/v1/users", `{"username":"eve","password":"correct horse battery","role":"operator"}`).
		want(201).id()
	contact := e.call("POST", "/api/v1/contacts", `{"name":"eve","userId":"`+user+`","email":"eve@example.com"}`).
		want(201).id()
	members := `["` + user + `","id-of-ann"]`
	team := e.call("POST", "/api/v1/teams", `{"name":"night","members":`+members+`}`).want(201).id()
	e.call("POST", "/api/v1/on-call", `{"name":"nights","timeZone":"UTC","shifts":[{"teamId":"`+team+
		`","from":"00:00","to":"24:00","rotateDays":1,"rotateFrom":"2026-01-01"}]}`).want(201)
	e.call("DELETE", "/api/v1/users/"+user, "").want(204)
	entry := e.last()
	require.Equal(t, []string{"DELETE /api/v1/users/:id", user}, []string{entry.Action, entry.Object})
	e.call("GET", "/api/v1/contacts/"+contact, "").want(404)
	e.call("PUT", "/api/v1/teams/"+team, `{"name":"night shift","members":`+members+`,"version":1}`).want(200)
	e.call("POST", "/api/v1/teams", `{"name":"new","members":`+members+`}`).wantField(422, "members[0]", "unknown_user")
}
