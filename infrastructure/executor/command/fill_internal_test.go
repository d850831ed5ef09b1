package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// A worker runs as it stands what a gateway has filled: a value that looks like a placeholder is none.
func TestAWorkerRunsWhatAServerWouldRun(t *testing.T) {
	const data = `{
		"command": ["echo", "${params.a}", "$${jobName}", "<&>"], "successExitCodes": [0, 3], "memoryMb": 64,
		"env": {"A": "${secret.KEY}", "B": "plain", "N": 1}, "workingDir": "/srv/${jobName}", "outputCharset": "gbk"
	}`
	job := &entity.Job{Name: "j", Type: entity.JobCommand, Data: data}
	run := entity.Run{
		Job: job, Execution: &entity.Execution{ID: "x", Params: `{"a": "${jobName} $${x} ${open"}`},
		Secrets: map[string]string{"KEY": "${secret.KEY}"},
	}
	want, faults := parse(data, nil, placeholder.Of(run))
	require.Empty(t, faults)
	require.Equal(t, []string{"echo", "${jobName} $${x} ${open", "${jobName}", "<&>"}, want.argv)

	filled, faults := Fill(data, nil, placeholder.Of(run))
	require.Empty(t, faults)
	there := entity.Run{Job: &entity.Job{Data: filled}, Execution: &entity.Execution{}, Filled: true}
	got, faults := parse(filled, nil, placeholder.Of(there))
	require.Empty(t, faults)
	require.Equal(t, want, got)
}

// A script has no values put in, and the checks of what the author wrote are made before anything leaves.
func TestFillRefusesWhatTheServerRefuses(t *testing.T) {
	run := entity.Run{Job: &entity.Job{Name: "j"}, Execution: &entity.Execution{Params: `{"a": "b"}`}}
	filled, faults := Fill(`{"script": "echo ${HOME:-x}", "interpreter": "sh"}`, []string{"sh"}, placeholder.Of(run))
	require.Empty(t, faults)
	require.JSONEq(t, `{"script": "echo ${HOME:-x}", "interpreter": "sh"}`, filled)
	for _, data := range []string{
		`{"command": ["sh", "-c", "echo ${params.a}"]}`, `{"command": ["echo", "${secret.KEY}"]}`,
		`{"command": ["echo"], "env": {"PATH": "/${params.a}"}}`, `{"command": ["echo", "${params.none}"]}`,
	} {
		filled, faults := Fill(data, []string{"sh"}, placeholder.Of(run))
		require.NotEmpty(t, faults, data)
		require.Empty(t, filled, data)
	}
}
