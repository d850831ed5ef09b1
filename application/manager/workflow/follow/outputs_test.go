package follow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A result that is longer than other steps may read fails its step, where one of them reads it, and never reaches it in
// part.
func TestAResultTooLongFailsTheStepThatIsRead(t *testing.T) {
	long := entity.Succeeded(`{"x": "` + strings.Repeat("a", 70_000) + `"}`)
	shortened := entity.Succeeded(`{"x": "a`)
	shortened.Cut = true
	text := entity.Succeeded(strings.Repeat("b", 65_530)) // {"text": …} has some bytes more
	for name, c := range map[string]struct {
		outcome entity.Outcome
		second  string
		fails   bool
	}{
		"read":                {long, says("b", "${steps.a.output.x:-none}", `"needs": ["a"]`), true},
		"read by a condition": {long, custom("b", `"needs": ["a"], "when": "steps.a.output.x == \"1\""`), true},
		"cut before":          {shortened, says("b", "${steps.a.output.x:-none}", `"needs": ["a"]`), true},
		"a text":              {text, says("b", "${steps.a.output.text}", `"needs": ["a"]`), true},
		"status alone":        {long, says("b", "${steps.a.status}", `"needs": ["a"]`), false},
		"not read":            {shortened, custom("b", `"needs": ["a"]`), false},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			n.Start(t)
			byStep(n, map[string]entity.Outcome{"a": c.outcome})
			job := n.Add(t, flowJob("long", stepsOf(custom("a", `"retryPolicy": {"maxAttempts": 3}`), c.second), nil))
			root := fire(t, n, job)
			if !c.fails {
				follow(t, n, root, entity.StatusSuccess)
				return
			}
			follow(t, n, root, entity.StatusFailed)
			a := stepRow(t, n, root, job.ID, "a")
			require.Equal(t, entity.ReasonOutputTooLarge, a.Reason)
			require.Equal(t, 1, a.Attempt, "another attempt would return as much")
			require.NotEmpty(t, a.ErrorMessage)
			require.Equal(t, entity.ReasonUpstreamFailed, stepRow(t, n, root, job.ID, "b").Reason)
		})
	}
}
