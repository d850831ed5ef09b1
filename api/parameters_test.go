package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A job declares parameters; one call with wrong ones is told all of it, and a bulk call for each job.
func TestTriggersAreCheckedByTheParametersOfAJob(t *testing.T) {
	e := newEdge(t)
	made := e.call("POST", "/api/v1/jobs", `{"name":"declared","jobType":"CUSTOM","jobClass":"noop","parameters":[
		{"name":"limit","type":"INTEGER","default":5},{"name":"day","type":"DATE","required":true}]}`).want(201).json()
	id := made["id"].(string)
	require.Len(t, made["parameters"], 2)
	bad := e.call("POST", "/api/v1/jobs/"+id+"/trigger", `{"params":{"limit":"x","days":1}}`).want(422)
	_, fields := bad.problem()
	require.Equal(t, map[string]string{
		"params.limit": "invalid", "params.days": "unknown_value", "params.day": "required",
	}, fields)
	e.call("POST", "/api/v1/jobs/"+id+"/trigger", `{"params":{"day":"2026-11-22"}}`).want(202)
	bulk := e.call("POST", "/api/v1/bulk/jobs/trigger", `{"ids":["`+id+`"]}`).want(200).json()
	require.EqualValues(t, 1, bulk["failed"])
	bulk = e.call("POST", "/api/v1/bulk/jobs/trigger", `{"ids":["`+id+`"],"params":{"day":"2026-11-22"}}`).want(200).json()
	require.EqualValues(t, 1, bulk["succeeded"])
	e.call("POST", "/api/v1/jobs", `{"name":"bad","jobType":"CUSTOM","jobClass":"noop","parameters":[
		{"name":"a b","type":"LIST","default":[1]}]}`).wantField(422, "parameters[0].default", "wrong_type")
}
