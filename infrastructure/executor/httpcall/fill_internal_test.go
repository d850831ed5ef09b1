package httpcall

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// A worker sends as it stands what a gateway has filled, with the escapes of each place. A value that looks like a
// placeholder is none. A body may hold a secret, which nobody can tell any more.
func TestAWorkerCallsWhatAServerWouldCall(t *testing.T) {
	const data = `{
		"url": "http://127.0.0.1:1/a/${params.a}?q=${params.a}", "method": "POST", "expectedBody": "${params.a}",
		"headers": {"X-A": "${params.a}", "Authorization": "Bearer ${secret.KEY}", "Content-Type": "application/json"},
		"body": "{\"a\": \"${params.a}\", \"b\": ${params}}", "expectedStatus": 200
	}`
	run := entity.Run{
		Job:       &entity.Job{Name: "j", Type: entity.JobHTTP, Data: data},
		Execution: &entity.Execution{ID: "x", Params: `{"a": "${jobName} \"&<é"}`}, Secrets: map[string]string{"KEY": "${x}"},
	}
	want, faults := parse(data, placeholder.Of(run))
	require.Empty(t, faults)
	filled, faults := Fill(data, placeholder.Of(run))
	require.Empty(t, faults)
	there := entity.Run{Job: &entity.Job{Data: filled}, Execution: &entity.Execution{}, Filled: true}
	got, faults := parse(filled, placeholder.Of(there))
	require.Empty(t, faults)
	require.True(t, got.secretBody)
	want.secretBody = true
	require.Equal(t, want, got)
	require.Equal(t, "Bearer ${x}", got.header.Get("Authorization"))
	require.JSONEq(t, `{"a": "${jobName} \"&<é", "b": {"a": "${jobName} \"&<é"}}`, got.body)
}

// The key of a client comes from a secret, also where a worker makes the call.
func TestFillRefusesAKeyInTheDefinition(t *testing.T) {
	run := entity.Run{Job: &entity.Job{}, Execution: &entity.Execution{}}
	_, faults := Fill(`{"url": "http://127.0.0.1/", "clientKey": "k", "clientCertificate": "c"}`, placeholder.Of(run))
	require.NotEmpty(t, faults)
	require.Equal(t, []string{"jobData.clientKey", "not_allowed"}, []string{faults[0].Field, faults[0].Code})
}
