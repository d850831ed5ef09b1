package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func workflowBody(name, group string, steps ...string) string {
	return fmt.Sprintf(`{"name":%q,"group":%q,"jobType":"WORKFLOW","jobData":{"steps":[%s]}}`, name, group,
		strings.Join(steps, ","))
}

const (
	noopStep = `{"name":"first","custom":{"jobClass":"noop"}}`
	waitStep = `{"name":"last","needs":["first"],"wait":{"forSec":5}}`
)

// A workflow is made, shown, sent back and exported as any job; ids of the jobs that steps start are nobody's matter.
func TestAWorkflowIsAJob(t *testing.T) {
	e := newEdge(t)
	e.call("POST", "/api/v1/jobs", `{"name":"plain","jobType":"CUSTOM","jobClass":"noop"}`).want(201)
	made := e.call("POST", "/api/v1/jobs", workflowBody("flow", "default", noopStep, waitStep,
		`{"name":"call","needs":[{"step":"last","on":["failure","success"]}],"job":{"name":"plain","params":{"a":1}}}`)).want(201)
	require.NotContains(t, made.body, `"id":"01a0`)
	job := made.json()
	require.Equal(t, "WORKFLOW", job["jobType"])
	steps := job["jobData"].(map[string]any)["steps"].([]any)
	require.Equal(t, map[string]any{"name": "default/plain", "params": map[string]any{"a": 1.0}},
		steps[2].(map[string]any)["job"])
	path := "/api/v1/jobs/" + job["id"].(string)
	again := e.call("PUT", path, made.body).want(200).json()
	require.Equal(t, job["jobData"], again["jobData"], "the answer may be sent back")
	plain := e.call("GET", "/api/v1/jobs?name=plain", "").want(200).json()["items"].([]any)[0].(map[string]any)
	plain = e.call("GET", "/api/v1/jobs/"+plain["id"].(string), "").want(200).json()
	require.Equal(t, []any{"default/flow"}, plain["startedBy"])

	document := e.call("GET", "/api/v1/export?format=json", "").want(200).body
	require.Contains(t, document, `"jobType":"WORKFLOW"`)
	back := e.call("POST", "/api/v1/import", document).want(200).json()
	require.Equal(t, []any{2.0, 0.0}, []any{back["unchanged"], back["updated"]}, "%v", back)
	// A document may also name the steps beside the other fields, and make what they start.
	changed := e.call("POST", "/api/v1/import", `{"version":1,"workflows":[{"name":"flow","steps":[`+noopStep+`,
		{"name":"new","job":{"name":"made"}}]}],"jobs":[{"name":"made","jobType":"CUSTOM","jobClass":"noop"}]}`).want(200).json()
	require.Equal(t, []any{1.0, 1.0, 0.0}, []any{changed["created"], changed["updated"], changed["failed"]}, "%v", changed)
	now := e.call("GET", path, "").want(200)
	require.Contains(t, now.body, `"default/made"`)
}

// Faults name their places, all at once; nothing is stored.
func TestFaultsOfWorkflows(t *testing.T) {
	e := newEdge(t)
	body := workflowBody("x", "default", `{"name":"a","needs":["z"],"http":{"url":"ftp://x"}}`,
		`{"name":"b","custm":{}}`, `{"name":"c","custom":{"jobClass":"echo","data":{"text":"${steps.a.output.x}"}}}`)
	_, fields := e.call("POST", "/api/v1/jobs", body).want(422).problem()
	for field, code := range map[string]string{
		"jobData.steps[0].needs[0]": "unknown_value", "jobData.steps[0].http.url": "invalid",
		"jobData.steps[1].custm": "unknown_field",
	} {
		require.Equal(t, code, fields[field], "%v", fields)
	}
	for body, field := range map[string]string{
		`{"name":"x","jobType":"WORKFLOW"}`:                                                                       "jobData.steps",
		`{"name":"x","jobType":"WORKFLOW","jobData":{"steps":[]}}`:                                                "jobData.steps",
		`{"name":"x","jobType":"WORKFLOW","jobData":[]}`:                                                          "jobData",
		`{"name":"x","jobType":"WORKFLOW","jobData":{"steps":[5]}}`:                                               "jobData.steps[0]",
		`{"name":"x","jobType":"CUSTOM","jobClass":"noop","steps":[]}`:                                            "steps",
		`{"name":"x","jobType":"WORKFLOW","jobClass":"noop","jobData":{"steps":[` + noopStep + `]}}`:              "jobClass",
		`{"name":"x","jobType":"WORKFLOW","shardCount":2,"jobData":{"steps":[` + noopStep + `]}}`:                 "shardCount",
		`{"name":"x","jobType":"WORKFLOW","retryPolicy":{"maxRetries":1},"jobData":{"steps":[` + noopStep + `]}}`: "retryPolicy",
		`{"name":"x","jobType":"WORKFLOW","jobData":{"steps":[{"name":"a","job":{"name":"none"}}]}}`:              "jobData.steps[0].job.name",
	} {
		_, fields := e.call("POST", "/api/v1/jobs", body).want(422).problem()
		require.Contains(t, fields, field, "%s: %v", body, fields)
	}
	_, fields = e.call("POST", "/api/v1/import", `{"version":1,"workflows":[{"name":"x","steps":[`+noopStep+`,
		{"name":"b","job":{"name":"none"}}]},{"name":"y","steps":[{"name":"b"}]}]}`).want(422).problem()
	require.Equal(t, "unknown_job", fields["workflows[0].steps[1].job.name"], "%v", fields)
	require.Equal(t, "required", fields["workflows[1].steps[0]"], "%v", fields)
	e.call("POST", trialPath, workflowBody("x", "default", noopStep)).wantField(422, "jobType", "conflict")
	require.Empty(t, e.call("GET", "/api/v1/jobs", "").want(200).json()["items"])
}

// A check stores nothing, and knows what the server knows.
func TestAWorkflowIsChecked(t *testing.T) {
	e := newEdge(t)
	const path = "/api/v1/workflows/validate"
	good := e.call("POST", path, `{"name":"x","steps":[`+noopStep+`]}`).want(200).json()["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{true, 1.0, []any{}}, []any{good["good"], good["steps"], good["faults"]})
	bad := e.call("POST", path, `{"name":"x","steps":[`+noopStep+`,{"name":"b","job":{"name":"none"}}]}`).want(200).body
	require.Contains(t, bad, `"field":"steps[1].job.name","code":"unknown_job"`)
	e.call("POST", path, `{"version":1,"jobs":[]}`).wantField(422, "workflows", "required")
	yaml := e.call("POST", path, "name: x\nsteps:\n- name: A\n  wait: {forSec: 1}\n", "Content-Type",
		"application/yaml").want(200).body
	require.Contains(t, yaml, `"field":"steps[0].name"`)
	require.Empty(t, e.call("GET", "/api/v1/jobs", "").want(200).json()["items"])
}

// To save a workflow takes the rights of its steps.
func TestAWorkflowNeedsTheRightsOfItsSteps(t *testing.T) {
	e, _ := estate(t)
	command := `{"name":"c","command":{"command":["id"]}}`
	operator := []string{"Authorization", "Bearer " + operatorToken}
	e.call("POST", "/api/v1/jobs", workflowBody("x", "default", command), operator...).wantCode(403, "commands_forbidden")
	e.call("POST", "/api/v1/workflows/validate", workflowBody("x", "default", command), operator...).
		wantCode(403, "commands_forbidden")
	e.call("POST", "/api/v1/jobs", workflowBody("x", "mine", `{"name":"c","job":{"name":"shown/a"}}`), as(boundToken)...).
		wantCode(403, "forbidden")
	e.call("POST", "/api/v1/jobs", workflowBody("x", "mine", `{"name":"c","job":{"name":"mine/a"}}`), as(boundToken)...).want(201)
}
