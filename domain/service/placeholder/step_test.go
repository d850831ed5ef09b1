package placeholder_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

func ofStep() *placeholder.Values {
	run := entity.Run{Job: &entity.Job{}, Execution: &entity.Execution{Params: `{"p": "q"}`}}
	return placeholder.Of(run).WithSteps(&placeholder.Steps{
		RunID: "r1", Outcome: "FAILED", Item: json.RawMessage(`{"f": [1, {"g": "a\"b"}]}`), Index: 7,
		Ends: map[string]placeholder.StepEnd{
			"load": {
				Status: "SUCCESS", Output: json.RawMessage(`{"a": [10, {"b": "x & y"}], "n": null, "big": 12345678901234567890, "e": ""}`),
			},
			"gate": {Status: "SKIPPED", Reason: "CONDITION"},
			"map": {
				Status: "FAILED", Reason: "STEP_FAILED", Outputs: json.RawMessage(`[{"v": 1}, null]`),
				Count: json.RawMessage(`{"total": 2, "success": 1, "failed": 1, "notRun": 0}`),
			},
		},
	})
}

// Each placeholder of a step has its value, and one that is missing says what to do.
func TestPlaceholdersOfSteps(t *testing.T) {
	for text, want := range map[string]string{
		"${steps.load.output.a[0]}": "10", "${steps.load.output.a[1].b}": "x & y", "${steps.load.output.a[1]}": `{"b": "x & y"}`,
		"${steps.load.output.big}": "12345678901234567890", "${steps.load.output.e}": "", "${steps.load.status}": "SUCCESS",
		"${steps.load.reason}": "", "${steps.gate.reason}": "CONDITION", "${steps.gate.output.a:-none}": "none",
		"${steps.load.output.n:-0}": "0", "${steps.load.output.gone:-}": "", "${steps.load.output.a[2]:-x}": "x",
		"${steps.load.output.a.b:-x}": "x", "${steps.map.outputs}": `[{"v": 1}, null]`, "${steps.map.outputs[0].v}": "1",
		"${steps.map.count.success} of ${steps.map.count.total}": "1 of 2", "${steps.later.status:-open}": "open",
		"${item}": `{"f": [1, {"g": "a\"b"}]}`, "${item.f[1].g}": `a"b`, "${index}": "7", "${run.id}": "r1",
		"${run.outcome}": "FAILED", "${params.p}": "q", "$${steps.load.status}": "${steps.load.status}",
	} {
		got, err := placeholder.Expand(text, ofStep(), placeholder.Raw)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, want := range map[string]string{
		"${steps.load.output.gone}": "the step load succeeded, and its result has no such part",
		"${steps.load.output.n}":    "its result has no such part",
		"${steps.gate.output}":      "need the success", "${steps.later.status}": "need the success",
		"${steps.load}":        "no part of a step",
		"${steps.load.result}": "no part of a step", "${steps.load.status.x}": "no part of a step",
		"${steps..status}":       "no part",
		"${steps.map.count.sum}": "no part of a step", "${steps.load.output[x]}": "below a value",
		"${item[01]}": "below a value",
		"${item..f}":  "below a value", "${item.f[-1]}": "below a value", "${item[0}": "below a value",
		"${index:-1}": "leave the default away", "${items}": "is no placeholder", "${steps}": "is no placeholder",
		"${run.name}": "is no placeholder", "${item" + strings.Repeat(".a", 21) + "}": "below a value",
	} {
		_, err := placeholder.Expand(text, ofStep(), placeholder.Raw)
		require.ErrorContains(t, err, want, text)
	}
}

// A value of a step stays in its place, as every other.
func TestValuesOfStepsAreEscaped(t *testing.T) {
	const body = `{"q": "${item.f[1].g}", "n": ${steps.load.output.a[0]}}`
	got, err := placeholder.Expand(body, ofStep(), placeholder.Body("application/json", body))
	require.NoError(t, err)
	require.JSONEq(t, `{"q": "a\"b", "n": 10}`, got)
	got, err = placeholder.Expand("http://h/?q=${steps.load.output.a[1].b}", ofStep(), placeholder.URL)
	require.NoError(t, err)
	require.Equal(t, "http://h/?q=x%20%26%20y", got)
	require.Equal(t, "${item}", placeholder.Open("x ${run.id} ${item}"), "somebody else chooses it")
	require.Empty(t, placeholder.Open("${run.id}-${index}"))
}

// A plain job has no steps: to it these are no placeholders.
func TestAPlainJobHasNoSteps(t *testing.T) {
	for _, text := range []string{
		"${steps.load.status}", "${item}", "${index}", "${run.id}", "${steps.load}", "${index:-1}",
	} {
		_, err := placeholder.Expand(text, placeholder.Samples(&entity.Job{}), placeholder.Raw)
		require.ErrorContains(t, err, "is no placeholder; there are scheduledTime", text)
	}
}

// All that a text reads of steps can be listed.
func TestStepReads(t *testing.T) {
	reads, err := placeholder.StepReads(
		"a ${steps.b.output.c:-} ${params.x} ${item.f} ${index} ${run.id} ${run.outcome} $${item}")
	require.NoError(t, err)
	require.Equal(t, []placeholder.StepRead{
		{Text: "${steps.b.output.c:-}", Step: "b", Part: "output", Defaulted: true},
		{Text: "${item.f}", Item: true},
		{Text: "${index}", Index: true},
		{Text: "${run.id}", RunID: true},
		{Text: "${run.outcome}", RunOutcome: true},
	}, reads)
	_, err = placeholder.StepReads("${steps.b}")
	require.Error(t, err)
	require.True(t, placeholder.OnlyOne("${steps.b.output.c}"))
	require.False(t, placeholder.OnlyOne("${item} "))
	require.False(t, placeholder.OnlyOne("item"))
}

// A list is what a placeholder stands for, and anything else is none.
func TestStepList(t *testing.T) {
	list, err := placeholder.StepList("${steps.load.output.a}", ofStep())
	require.NoError(t, err)
	require.Equal(t, []json.RawMessage{json.RawMessage("10"), json.RawMessage(`{"b": "x & y"}`)}, list)
	for _, text := range []string{"${steps.load.output.big}", "${steps.load.output}", "${steps.load.output.e}"} {
		_, err = placeholder.StepList(text, ofStep())
		require.ErrorContains(t, err, "is no list", text)
	}
	_, err = placeholder.StepList("${steps.load.output.gone}", ofStep())
	require.ErrorContains(t, err, "no value")
}

// No text makes the reader of placeholders panic, and each part that is found stands in the text.
func FuzzStepReads(f *testing.F) {
	for _, s := range []string{
		"${steps.a.output.b[0]:-x}", "${item[", "${steps.a.count.total}", "$${item}", "${steps..}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		reads, err := placeholder.StepReads(text)
		if err != nil {
			return
		}
		for _, r := range reads {
			require.Contains(t, text, r.Text)
		}
		_, _ = placeholder.Expand(text, ofStep(), placeholder.Raw)
	})
}
