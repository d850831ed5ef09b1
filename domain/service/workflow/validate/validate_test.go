package validate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
)

// words reads the steps of a condition by their spelling alone.
type words struct{}

func (words) Check(when string) (steps, problems []string) {
	for _, m := range regexp.MustCompile(`steps\.([a-z0-9_-]+)`).FindAllStringSubmatch(when, -1) {
		steps = append(steps, m[1])
	}
	if strings.Contains(when, "==") == strings.Contains(when, ">") {
		problems = append(problems, "1:1 it compares nothing")
	}
	return steps, problems
}

// noURL asks each call for a URL.
type noURL struct{}

func (noURL) Check(step *wf.Step) []apperror.Field {
	if step.HTTP != nil && !strings.Contains(string(step.HTTP), "url") {
		return []apperror.Field{{Field: "http.url", Code: "required", Message: "give a URL"}}
	}
	return nil
}

func check(t *testing.T, text string) (faults, warnings []string) {
	t.Helper()
	var d wf.Definition
	require.NoError(t, json.Unmarshal([]byte(text), &d), text)
	r := validate.Definition(&d, validate.Ports{Conditions: words{}, Work: noURL{}})
	for _, f := range r.Faults {
		require.NotEmpty(t, f.Code)
		faults = append(faults, f.Field+": "+f.Message)
	}
	for _, f := range r.Warnings {
		warnings = append(warnings, f.Field+": "+f.Message)
	}
	_, err := workflow.NewGraph(&d)
	if len(faults) == 0 {
		require.NoError(t, err, "a definition that passes can be decided")
	}
	return faults, warnings
}

// The documents of the design: a chain, a map, and an approval with a way back.
func TestGoodDefinitions(t *testing.T) {
	for _, text := range []string{
		`{"steps": [
		 {"name": "extract", "http": {"method": "POST", "url": "http://orders/export?day=${scheduledTime-1d:yyyyMMdd}"},
		  "output": {"rows": "${result.count}", "file": "${result.path}"}},
		 {"name": "settle", "needs": ["extract"], "when": "steps.extract.output.rows > 0",
		  "custom": {"jobClass": "settle", "data": {"file": "${steps.extract.output.file}", "currency": "${params.currency:-CNY}"}},
		  "retryPolicy": {"maxRetries": 3, "backoff": "EXPONENTIAL"}},
		 {"name": "report", "needs": ["settle"],
		  "command": {"command": ["/opt/bin/report", "--run", "${run.id}", "--booked", "${steps.settle.output.booked:-0}"]}}]}`,
		`{"steps": [
		 {"name": "list", "http": {"url": "http://crm/segments/${params.segment}"}, "output": {"ids": "${result.ids}"}},
		 {"name": "score", "needs": ["list"],
		  "forEach": {"items": "${steps.list.output.ids}", "maxParallel": 64, "maxItems": 10000, "tolerate": {"percent": 1}},
		  "custom": {"jobClass": "score", "data": {"customer": "${item}", "n": "${index}"}}, "timeoutSec": 30},
		 {"name": "publish", "needs": ["score"],
		  "custom": {"jobClass": "publish", "data": {"scored": "${steps.score.count.success}", "from": "${run.id}"}}}]}`,
		`{"onStepFailure": "HOLD", "holdSec": 14400, "steps": [
		 {"name": "build", "command": {"script": "./build.sh"}, "output": {"changed": "${result.changed}"}},
		 {"name": "approve", "needs": ["build"], "when": "steps.build.output.changed > 100",
		  "approval": {"teams": ["pricing-leads"], "need": 2, "notBy": "TRIGGERER", "timeoutSec": 7200, "onTimeout": "REJECT"}},
		 {"name": "publish", "needs": ["build", {"step": "approve", "on": ["success", "skipped"]}],
		  "http": {"url": "http://shop/publish", "body": "{\"run\":\"${run.id}\"}"}},
		 {"name": "roll-back", "needs": [{"step": "publish", "on": ["failure"]}], "http": {"url": "http://shop/rollback"}},
		 {"name": "tell", "finally": true,
		  "custom": {"jobClass": "notify", "data": {"o": "${run.outcome}", "c": "${steps.approve.output.comment:-}"}}}]}`,
	} {
		faults, warnings := check(t, text)
		require.Empty(t, faults)
		require.Empty(t, warnings)
	}
}

// Each fault names its field and a remedy; the file has a definition and its fault by turns.
func TestFaults(t *testing.T) {
	text, err := os.ReadFile("testdata/faults.txt")
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Greater(t, len(lines), 80)
	for i := 0; i < len(lines); i += 2 {
		text, want := lines[i], strings.TrimSpace(lines[i+1])
		faults, _ := check(t, text)
		require.Len(t, faults, 1, text)
		require.Contains(t, faults[0], want, text)
	}
}

// A text reads only what is there when its step starts, or has a default.
func TestReadsOfOtherSteps(t *testing.T) {
	steps := `{"steps": [{"name": "a", "custom": {"jobClass": "x"}}, {"name": "b", "needs": ["a"], "custom": {"jobClass": "x"}},
		{"name": "m", "needs": ["a"], "custom": {"jobClass": "x"}, "forEach": {"items": [1]}},
		{"name": "c", %s "custom": {"jobClass": "x", "data": {"v": ["%s"]}}}]}`
	for _, c := range []struct{ attributes, text, want string }{
		{`"needs": ["b"],`, "${steps.b.output.x} ${steps.a.output.x} ${steps.a.status}", ""},
		{`"needs": ["m"],`, "${steps.m.outputs} ${steps.m.count.failed}", ""},
		{``, "${run.id}", ""},
		{``, "${steps.a.status}", "reads steps.a, which may not have ended by then; add it to needs"},
		{``, "${steps.a.output.x:-1}", "reads steps.a, which may not have ended by then"},
		{`"needs": [{"step": "b", "on": "done"}],`, "${steps.b.output.x:-1} ${steps.a.status} ${steps.b.reason}", ""},
		{`"needs": [{"step": "b", "on": "done"}],`, "${steps.b.output.x}", "b may be skipped or fail; give a default"},
		{`"needs": [{"step": "b", "on": "done"}],`, "${steps.a.output.x}", "a may be skipped or fail; give a default"},
		{`"needs": ["b", "m"], "join": "ANY",`, "${steps.a.output.x}", ""},
		{`"needs": ["b", "m"], "join": "ANY",`, "${steps.b.output.x:-1}", ""},
		{`"needs": ["b", "m"], "join": "ANY",`, "${steps.b.status}", "b may still be live, as join is ANY; give a default"},
		{`"needs": ["b"],`, "${steps.m.output.x}", "m has forEach; read its outputs or count"},
		{`"needs": ["b"],`, "${steps.b.outputs}", "b has no forEach; read its output"},
		{`"needs": ["b"],`, "${steps.bb.status}", `"bb" is no step here; did you mean "b"?`},
		{`"needs": ["b"],`, "${item.x}", "in the work of a step with forEach alone"},
		{`"needs": ["b"],`, "${index}", "in the work of a step with forEach alone"},
		{`"forEach": {"items": [1]},`, "${item.x} ${index}", ""},
		{`"needs": ["b"],`, "${run.outcome}", "is known to steps with finally: true alone"},
		{`"finally": true,`, "${run.outcome} ${steps.b.status} ${steps.b.output.x:-}", ""},
		{`"finally": true,`, "${steps.b.output.x}", "b may be skipped or fail; give a default"},
		{`"needs": ["b"],`, "${steps.b.result}", "is no part of a step"},
	} {
		faults, _ := check(t, fmt.Sprintf(steps, c.attributes, c.text))
		if c.want == "" {
			require.Empty(t, faults, c.text)
			continue
		}
		require.Len(t, faults, 1, c.text)
		require.True(t, strings.HasPrefix(faults[0], "steps[3].custom.data.v[0]: "), faults[0])
		require.Contains(t, faults[0], c.want)
	}
}

// Everything that is wrong is said at once, and each time in the same order.
func TestAllFaultsAtOnce(t *testing.T) {
	const text = `{"onStepFailure": "x", "steps": [
		{"name": "A", "http": {}, "timeoutSec": -1}, {"name": "b", "needs": ["c", {"step": "A", "on": []}], "join": "x"},
		{"name": "b", "approval": {"need": 9, "users": ["u", "u"], "teams": [""]}, "priority": 3, "retryPolicy": {}}]}`
	faults, _ := check(t, text)
	require.Len(t, faults, 14, strings.Join(faults, "\n"))
	for range 20 {
		again, _ := check(t, text)
		require.Equal(t, faults, again)
	}
}

// The bounds are those that the page names.
func TestBounds(t *testing.T) {
	many := func(n int, change func(i int, s *wf.Step)) *wf.Definition {
		d := &wf.Definition{}
		for i := range n {
			s := wf.Step{Name: fmt.Sprintf("s%d", i), Wait: &wf.Wait{ForSec: 1}}
			if change != nil {
				change(i, &s)
			}
			d.Steps = append(d.Steps, s)
		}
		return d
	}
	back := func(most int) func(int, *wf.Step) {
		return func(i int, s *wf.Step) {
			for k := range min(i, most) {
				s.Needs = append(s.Needs, wf.Need{Step: fmt.Sprintf("s%d", i-1-k)})
			}
		}
	}
	large := func(bytes int) func(int, *wf.Step) {
		return func(i int, s *wf.Step) {
			s.Wait, s.Custom = nil, &wf.Custom{JobClass: "x", Data: json.RawMessage(`{"x": "` + strings.Repeat("x", bytes) + `"}`)}
		}
	}
	for name, c := range map[string]struct {
		d    *wf.Definition
		want string
	}{
		"200 steps":       {many(200, nil), ""},
		"201 steps":       {many(201, nil), "at most 200 steps; there are 201"},
		"1,945 needs":     {many(200, back(10)), ""},
		"2,134 needs":     {many(200, back(11)), "at most 2000 needs in all; there are 2134"},
		"500 KiB":         {many(10, large(50_000)), ""},
		"600 KiB":         {many(10, large(60_000)), "at most 512 KiB"},
		"a step too long": {many(1, large(66_000)), "at most 65536 bytes"},
	} {
		r := validate.Definition(c.d, validate.Ports{})
		if c.want == "" {
			require.Empty(t, r.Faults, name)
			continue
		}
		require.Len(t, r.Faults, 1, name)
		require.Contains(t, r.Faults[0].Message, c.want, name)
	}
}

// A step that no outcome lets run is a warning.
func TestStepsThatCanNeverRun(t *testing.T) {
	const steps = `{"steps": [{"name": "a", "custom": {"jobClass": "x"}},
		{"name": "b", "needs": [{"step": "a", "on": "%s"}], "custom": {"jobClass": "x"}},
		{"name": "c", "needs": ["b"], "custom": {"jobClass": "x"}}]}`
	_, warnings := check(t, fmt.Sprintf(steps, "blocked"))
	require.True(t, slices.ContainsFunc(warnings, func(w string) bool {
		return strings.HasPrefix(w, "steps[1].needs: can never")
	}))
	for _, on := range []string{"success", "failure", "done"} {
		_, warnings = check(t, fmt.Sprintf(steps, on))
		require.Empty(t, warnings, on)
	}
}

// No definition makes the check panic, and one that passes can be decided.
func FuzzDefinition(f *testing.F) {
	f.Add(`{"steps": [{"name": "a", "http": {"url": "${steps.a.output}"}, "needs": ["a", {"step": "b", "on": []}]}]}`)
	f.Add(`{"steps": [{"name": "a", "forEach": {"items": "${item}"}, "custom": {"data": {"x": "${index}"}}, "when": "steps.a == 1"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var d wf.Definition
		if json.Unmarshal([]byte(text), &d) != nil {
			return
		}
		if r := validate.Definition(&d, validate.Ports{Conditions: words{}, Work: noURL{}}); len(r.Faults) == 0 {
			_, err := workflow.NewGraph(&d)
			require.NoError(t, err)
		}
	})
}
