package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A deleted job is the object of its group, as before: it comes back for a caller who may have such a job there.
func TestADeletedJobComesBackForWhoMayHaveIt(t *testing.T) {
	e, jobs := estate(t)
	back := func(id string) string { return "/api/v1/jobs/" + id + "/undelete" }
	for group, id := range jobs {
		e.call("DELETE", "/api/v1/jobs/"+id, "").want(204)
		e.call("GET", "/api/v1/jobs/"+id, "").want(404)
		bound := e.call("POST", back(id), "", as(boundToken)...)
		switch group {
		case "theirs":
			bound.wantCode(404, "not_found")
		case "shown":
			bound.wantCode(403, "forbidden")
		default:
			job := bound.want(200).json()
			require.Equal(t, []any{"a", "PAUSED"}, []any{job["name"], e.call("GET", "/api/v1/jobs/"+id, "").json()["status"]})
		}
	}
	e.call("POST", back(jobs["theirs"]), "").want(200)
	e.call("POST", back(jobs["theirs"]), "").wantCode(404, "not_found")
	e.call("POST", "/api/v1/jobs", `{"name":"a","group":"shown","jobType":"CUSTOM","jobClass":"noop"}`).want(201)
	e.call("POST", back(jobs["shown"]), "").wantCode(409, "name_taken")

	command := e.call("POST", "/api/v1/jobs", `{"name":"c","jobType":"COMMAND","jobData":{"command":["true"]}}`).want(201).
		json()["id"].(string)
	e.call("DELETE", "/api/v1/jobs/"+command, "").want(204)
	e.call("POST", back(command), "", as(operatorToken)...).wantCode(403, "commands_forbidden")
	e.call("GET", "/api/v1/jobs/"+command, "").want(404)
	e.call("POST", back(command), "").want(200)
}
