package workflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// The output of a step is its result as an object, or the parts of it that the definition names.
func TestOutput(t *testing.T) {
	for _, c := range []struct {
		output       map[string]string
		result, want string
	}{
		{nil, `{"a": 12345678901234567890}`, `{"a": 12345678901234567890}`},
		{nil, "done", `{"text": "done"}`},
		{nil, "[1]", `{"text": [1]}`},
		{nil, "", `{}`},
		{
			map[string]string{"n": "${result.a[1].b}", "t": "fixed", "d": "${result.gone:-0}", "gone": "${result.gone}"},
			`{"a": [0, {"b": 12345678901234567890}]}`, `{"d": "0", "n": 12345678901234567890, "t": "fixed"}`,
		},
		{map[string]string{"all": "${result}", "x": "${result.x}"}, "plain \x00 text", `{"all": "plain \u0000 text"}`},
	} {
		got, err := workflow.Output(&wf.Step{Output: c.output}, c.result)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(got))
		if strings.Contains(c.want, "1234567890123456789") {
			require.Contains(t, string(got), "12345678901234567890", "the digits stay")
		}
	}
	for n, fits := range map[int]bool{workflow.MaxOutput - len(`{"a":""}`): true, workflow.MaxOutput - len(`{"a":""}`) + 1: false} {
		_, err := workflow.Output(&wf.Step{}, `{"a":"`+strings.Repeat("x", n)+`"}`)
		require.Equal(t, fits, err == nil, n)
	}
	for text, good := range map[string]bool{
		"plain": true, "${result}": true, "${result.a.b[0]:-x}": true, "${result[0]}": true, "at ${result.a}": false,
		"${results.a}": false, "${result.}": false, "${result.a}${result.b}": false, "${params.x}": false,
		"${result.a":             false,
		"${result:-${params.x}}": false,
	} {
		require.Equal(t, good, workflow.CheckOutput(text) == "", text)
	}
}
