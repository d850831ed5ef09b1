package api_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// declaring makes a worker group that may declare jobs of some groups, and a worker of it.
func (e *edge) declaring(name string, more fields, jobGroups ...string) (token, id string) {
	e.t.Helper()
	body := fields{"jobGroups": jobGroups, "declare": true}.with(more)
	e.call("PUT", workerGroups+"/"+name, encode(e.t, body)).want(201)
	a := e.call("POST", workerGroups+"/"+name+"/tokens", `{"name":"deploy","expiresAt":"2026-12-20T12:00:00Z"}`).want(201)
	token = a.json()["token"].(string)
	return token, e.register(token, name, "a")
}

// declare declares jobs under the first epoch, and returns what became of them.
func (e *edge) declare(token, id string, jobs ...fields) (out []map[string]any) {
	e.t.Helper()
	body := encode(e.t, fields{"epoch": 1, "jobs": jobs})
	for _, one := range e.call("POST", workers+"/"+id+"/jobs", body, as(token)...).want(200).json()["jobs"].([]any) {
		out = append(out, one.(map[string]any))
	}
	return out
}

func faultsOf(one map[string]any) (out []string) {
	for _, f := range one["errors"].([]any) {
		v := f.(map[string]any)
		out = append(out, fmt.Sprint(v["field"], " ", v["code"]))
	}
	return out
}

func TestAWorkerDeclaresItsJobs(t *testing.T) {
	e := newEdge(t)
	token, id := e.declaring("shop", nil, "mine")
	settle := fields{
		"name": "settle orders", "jobClass": "settle", "jobData": fields{"a": 1}, "timeoutSec": 60,
		"schedule":    fields{"cronExpression": "0 0 2 * * ?", "timeZone": "Europe/Berlin"},
		"retryPolicy": fields{"maxRetries": 2},
	}
	before := len(e.kept())
	made := e.declare(token, id, settle)
	require.Equal(t, []string(nil), faultsOf(made[0]))
	job := e.call("GET", "/api/v1/jobs/"+made[0]["id"].(string), "").want(200).json()
	require.Equal(t, map[string]any{
		"group": "mine", "name": "settle orders", "id": job["id"], "outcome": "CREATED", "differs": []any{},
		"errors": []any{},
	}, made[0])
	require.Equal(t, []any{"CREATED", "CUSTOM", "settle", "mine", "shop", 60.0, "0 0 2 * * ?"}, []any{
		job["status"], job["jobType"], job["jobClass"], job["group"], job["routing"].(map[string]any)["workers"],
		job["timeoutSec"], job["schedule"].(map[string]any)["cronExpression"],
	}, "it fires when a person says so")
	kept := e.kept()
	require.Len(t, kept, before+2, "the job, and the call")
	first := kept[before]
	require.Equal(t, []any{
		"@shop", "POST /api/v1/workers/:id/jobs", job["id"], "settle orders", `{"action":[null,"CREATE"]}`,
	}, []any{first.UserName, first.Action, first.Object, first.ObjectName, first.Changes})

	// The answer was lost, and the worker says it again. Whether a person enabled the job is no difference.
	again := e.declare(token, id, settle)
	require.Equal(t, []any{"EXISTS", job["id"], []any{}}, []any{again[0]["outcome"], again[0]["id"], again[0]["differs"]})
	e.call("POST", "/api/v1/jobs/"+job["id"].(string)+"/resume", "").want(200)
	require.Equal(t, "EXISTS", e.declare(token, id, settle)[0]["outcome"])
	stood := e.call("GET", "/api/v1/jobs/"+job["id"].(string), "").want(200).body
	other := settle.with(fields{
		"timeoutSec": 90, "schedule": fields{"cronExpression": "0 0 3 * * ?", "timeZone": "Europe/Berlin"},
	})
	differs := e.declare(token, id, other)
	require.Equal(t, []any{"DIFFERS", []any{"schedule.cronExpression", "timeoutSec"}},
		[]any{differs[0]["outcome"], differs[0]["differs"]})
	require.Equal(t, stood, e.call("GET", "/api/v1/jobs/"+job["id"].(string), "").want(200).body, "nothing is overwritten")
	require.Equal(t, "POST /api/v1/jobs/:id/resume", e.kept()[len(e.kept())-1].Action, "what changes nothing is not noted")
}

// A job that people made, of another type and for no workers, stays whole. Chains are a person's.
func TestADeclarationLeavesJobsOfPeopleAlone(t *testing.T) {
	e := newEdge(t)
	token, id := e.declaring("shop", nil, "mine")
	e.create(encode(t, minimal().with(fields{"name": "after", "group": "mine"})))
	hand := e.create(encode(t, minimal().with(fields{"name": "hand", "group": "mine", "next": []any{"after"}})))
	path := "/api/v1/jobs/" + hand["id"].(string)
	stood := e.call("GET", path, "").want(200).body
	one := e.declare(token, id, fields{"name": "hand", "jobClass": "settle"})[0]
	require.Equal(t, []any{"DIFFERS", hand["id"]}, []any{one["outcome"], one["id"]})
	require.Subset(t, one["differs"], []any{"routing.workers"})
	require.NotContains(t, one["differs"], "next")
	require.NotContains(t, one["differs"], "enabled")
	require.Equal(t, stood, e.call("GET", path, "").want(200).body)
}

func TestDeclaredJobsThatMayNotBeAreRefusedOneByOne(t *testing.T) {
	e := newEdge(t)
	token, id := e.declaring("shop", nil, "mine", "shown")
	noType := []string{"jobType not_allowed"}
	for _, c := range []struct {
		job  fields
		want []string
	}{
		{fields{"group": "theirs"}, []string{"group group_not_allowed"}},
		{fields{"group": nil}, []string{"group group_not_allowed"}},
		{fields{"jobType": "COMMAND", "jobClass": nil, "jobData": fields{"command": []string{"id"}}}, noType},
		{fields{"jobType": "CRON", "jobClass": nil, "jobData": fields{"command": []string{"id"}}}, noType},
		{fields{"jobType": "HTTP", "jobClass": nil, "jobData": fields{"url": "http://10.0.0.1/"}}, noType},
		{fields{"jobClass": "other"}, []string{"jobClass unknown_handler"}},
		{fields{"routing": fields{"workers": "bank"}}, []string{"routing.workers not_allowed"}},
		{fields{"next": []any{"x"}}, []string{"next not_allowed"}},
		{fields{"jobData": fields{"key": "${secret.KEY}"}}, []string{"jobData secret_not_allowed"}},
		{fields{"enabled": true}, []string{"enabled unknown_field"}},
		{fields{"alerts": fields{"onFailure": []string{"none"}}}, []string{"alerts.onFailure[0] unknown_channel"}},
		{
			fields{"name": "", "priority": 11, "timeoutSec": "x", "schedule": fields{"cronExpression": "x"}, "xyz": 1},
			[]string{
				"name required", "priority out_of_range", "schedule.cronExpression invalid", "timeoutSec wrong_type",
				"xyz unknown_field",
			},
		},
	} {
		t.Run(fmt.Sprint(c.job), func(t *testing.T) {
			e := e.on(t)
			one := e.declare(token, id, fields{"name": "a", "group": "mine", "jobClass": "settle"}.with(c.job))[0]
			require.Equal(t, []any{"REFUSED", ""}, []any{one["outcome"], one["id"]})
			require.ElementsMatch(t, c.want, faultsOf(one))
		})
	}
	// One that is refused keeps no other one back.
	all := e.declare(token, id,
		fields{"name": "a", "group": "mine", "jobClass": "settle"},
		fields{"name": "b", "group": "theirs", "jobClass": "settle"},
		fields{"name": "a", "group": "mine", "jobClass": "settle"},
		fields{"name": "c", "group": "shown", "jobClass": "settle"})
	require.Equal(t, []any{"CREATED", "REFUSED", "REFUSED", "CREATED"},
		[]any{all[0]["outcome"], all[1]["outcome"], all[2]["outcome"], all[3]["outcome"]})
	require.Equal(t, []string{"name duplicate"}, faultsOf(all[2]))
	require.Len(t, e.call("GET", "/api/v1/jobs", "").want(200).json()["items"], 2)
}

// The right is the group's, for its own workers, as long as it has it.
func TestOnlyAGroupWithTheRightDeclaresJobs(t *testing.T) {
	e := newEdge(t)
	token, id := e.declaring("shop", nil, "mine")
	plain := e.workerGroup("plain", "mine")
	body := `{"epoch":1,"jobs":[{"name":"a","jobClass":"settle"}]}`
	own := e.register(plain, "plain", "a")
	e.call("POST", workers+"/"+own+"/jobs", body, as(plain)...).wantCode(403, "declare_not_allowed")
	e.call("POST", workers+"/"+id+"/jobs", body, as(plain)...).wantCode(403, "foreign_group")
	e.call("POST", workers+"/"+id+"/jobs", body, as(wholeToken)...).wantCode(401, "unknown_token")
	e.call("PUT", workerGroups+"/shop", `{"jobGroups":["mine"]}`).want(200)
	e.call("POST", workers+"/"+id+"/jobs", body, as(token)...).wantCode(403, "declare_not_allowed")
	e.call("PUT", workerGroups+"/shop", `{"jobGroups":["mine"],"declare":true}`).want(200)
	e.call("POST", workers+"/"+id+"/leave", `{"epoch":1}`, as(token)...).want(204)
	e.call("POST", workers+"/"+id+"/jobs", body, as(token)...).wantCode(409, "epoch_lost")
	require.Empty(t, e.call("GET", "/api/v1/jobs", "").want(200).json()["items"])
}

// Workers that get secrets may name them; the secrets of other groups stay theirs.
func TestADeclaredJobNamesSecretsOfItsGroup(t *testing.T) {
	e := newEdge(t)
	token, id := e.declaring("shop", fields{"secrets": true}, "mine")
	e.call("POST", "/api/v1/secrets", `{"name":"OWN","value":"value-1","groups":["mine"]}`).want(201)
	e.call("POST", "/api/v1/secrets", `{"name":"THEIRS","value":"value-2","groups":["theirs"]}`).want(201)
	all := e.declare(token, id,
		fields{"name": "own", "jobClass": "settle", "jobData": fields{"key": "${secret.OWN}"}},
		fields{"name": "theirs", "jobClass": "settle", "jobData": fields{"key": "${secret.THEIRS}"}})
	require.Equal(t, []any{"CREATED", "REFUSED"}, []any{all[0]["outcome"], all[1]["outcome"]})
	require.Equal(t, []string{"jobData secret_not_allowed"}, faultsOf(all[1]))
}
