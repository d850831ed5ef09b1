package request_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow/validate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

func workflows() request.WorkflowReader {
	return request.WorkflowReader{JobReader: request.JobReader{
		TimeZone: "Asia/Shanghai", Now: time.Now,
		Checker: validate.Checker{Ports: validate.Ports{Conditions: expression.Whens{}}},
	}}
}

func faultsOf(t *testing.T, text string) (faults []string) {
	t.Helper()
	all, err := workflows().Read(t.Context(), []byte(text))
	require.NoError(t, err, text)
	for _, w := range all {
		for _, f := range w.Faults {
			require.NotEmpty(t, f.Code)
			faults = append(faults, f.Field+": "+f.Message)
		}
	}
	return faults
}

// The documents of the page are read without a fault, and come back from their canonical form unchanged.
func TestTheDocumentsOfThePage(t *testing.T) {
	files, err := filepath.Glob("../../../docs/workflows/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all, err := workflows().Read(t.Context(), text)
		require.NoError(t, err, file)
		require.Len(t, all, 1)
		w := all[0]
		require.Empty(t, w.Faults, file)
		require.Empty(t, w.Warnings, file)

		canonical, err := json.Marshal(w.Definition)
		require.NoError(t, err)
		yaml, err := yamljson.ToYAML(canonical)
		require.NoError(t, err)
		again, err := workflows().Read(t.Context(), []byte("name: x\n"+string(yaml)))
		require.NoError(t, err)
		back := again[0].Definition
		back.TimeoutSec = w.Definition.TimeoutSec // it is a field of the job
		twice, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(canonical), string(twice), file)
	}
}

// Each field arrives where the entity has it; what is not said, and what is said as its default, is left out.
func TestASteppedDefinition(t *testing.T) {
	all, err := workflows().Read(t.Context(), []byte(`
name: n
timeoutSec: 60
onStepFailure: HOLD
holdSec: 5
steps:
- name: a
  command: {command: [x], successExitCodes: [0, 3]}
  tolerate: true
  timeoutSec: 7
  startDeadlineSec: 8
  priority: 9
- {name: b, http: {url: "http://h/${params.x:-1}"}, output: {r: "${result.r}"}, join: ALL}
- {name: c, needs: [a, {step: b}, {step: e, on: OK}], minSuccess: 1, job: {name: g/j, params: {p: 1}}}
- {name: d, needs: [{step: a, on: [success]}, {step: b, on: [failure, blocked]}], join: ANY, wait: {forSec: 3}}
- name: e
  forEach: {items: [1, "x", {y: 2}], maxParallel: 4, tolerate: {count: 1}}
  custom: {jobClass: k, data: {i: "${item}"}}
- name: f
  needs: [a]
  approval: {users: [u], teams: [t], need: 2, timeoutSec: 9, onTimeout: APPROVE, notBy: TRIGGERER, text: why}
- {name: g, wait: {until: "2026-11-20T12:00:00+08:00"}}
- {name: h, finally: true, custom: {jobClass: k}, retryPolicy: {maxRetries: 2}}
`))
	require.NoError(t, err)
	require.Empty(t, all[0].Faults)
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	require.Equal(t, &wf.Definition{
		OnStepFailure: wf.Hold, HoldSec: 5, TimeoutSec: 60,
		Steps: []wf.Step{
			{
				Name: "a", Command: raw(`{"command":["x"],"successExitCodes":[0,3]}`), Tolerate: true, TimeoutSec: 7,
				StartDeadlineSec: 8, Priority: 9,
			},
			{Name: "b", HTTP: raw(`{"url":"http://h/${params.x:-1}"}`), Output: map[string]string{"r": "${result.r}"}},
			{
				Name: "c", Needs: []wf.Need{{Step: "a"}, {Step: "b"}, {Step: "e", On: []wf.Word{"ok"}}}, MinSuccess: 1,
				Job: &wf.NamedJob{Name: "g/j", Params: raw(`{"p":1}`)},
			},
			{
				Name: "d", Needs: []wf.Need{{Step: "a"}, {Step: "b", On: []wf.Word{"failure", "blocked"}}}, Join: wf.JoinAny,
				Wait: &wf.Wait{ForSec: 3},
			},
			{
				Name: "e", ForEach: &wf.ForEach{
					Items: raw(`[1,"x",{"y":2}]`), MaxParallel: 4, Tolerate: &wf.Tolerate{Count: 1},
				},
				Custom: &wf.Custom{JobClass: "k", Data: raw(`{"i":"${item}"}`)},
			},
			{Name: "f", Needs: []wf.Need{{Step: "a"}}, Approval: &wf.Approval{
				Users: []string{"u"}, Teams: []string{"t"}, Need: 2, TimeoutSec: 9, OnTimeout: wf.TimeoutApproves,
				NotBy: wf.NotByTriggerer, Text: "why",
			}},
			{Name: "g", Wait: &wf.Wait{Until: "2026-11-20T12:00:00+08:00"}},
			{Name: "h", Finally: true, Custom: &wf.Custom{JobClass: "k"}, RetryPolicy: &entity.RetryPolicy{
				MaxRetries: 2, Backoff: entity.BackoffFixed, IntervalMs: 1000, MaxIntervalMs: 60_000, Jitter: 0.1,
			}},
		},
	}, all[0].Definition)
}

// A field that nobody reads, and one of a wrong type, is named with its place and a remedy; all of them at once.
func TestFaultsOfDocuments(t *testing.T) {
	faults := faultsOf(t, `
version: 1
workflows:
- name: n
  jobData: {}
  retryPolicy: {maxRetries: 1}
  onFailure: HOLD
  steps:
  - {name: a, need: [b], http: {URL: "http://h", metod: GET, url: "http://h"}}
  - {name: b, needs: [{step: a, when: x}], command: {script: x}, forEach: {items: 3}}
  - {name: c, needs: [a], custom: {jobClass: k, dta: {}}, expectedStatus: "200", timeoutSec: "9"}
  - {name: Load, wait: {forSec: 1}, needs: [extrct]}
  - {name: d, needs: [{step: a, on: 1}], http: {}}
`)
	for _, want := range []string{
		"workflows[0].jobData: the data of a workflow stand in its steps",
		"workflows[0].retryPolicy: put it on the steps",
		"workflows[0].onFailure: is not a field here",
		"workflows[0].steps[0].need: is not a field here; it belongs under workflows[0].steps[].approval, or did you mean needs?",
		"workflows[0].steps[0].http.URL: is not a field here; did you mean url?",
		"workflows[0].steps[0].http.metod: is not a field here; did you mean method?",
		"workflows[0].steps[1].needs[0].when: is not a field here; it belongs under workflows[0].steps[]",
		"workflows[0].steps[1].command.interpreter: is required",
		"workflows[0].steps[1].forEach.items: must be a list, or a text with the placeholder of one, not a number",
		"workflows[0].steps[2].custom.dta: is not a field here",
		"workflows[0].steps[2].expectedStatus: is not a field here; it belongs under workflows[0].steps[].http",
		"workflows[0].steps[2].timeoutSec: must be a whole number, not a string",
		`workflows[0].steps[3].name: "Load" must be 1–40 of a–z, 0–9, - and _`,
		`workflows[0].steps[3].needs[0]: "extrct" is no step here`,
		"workflows[0].steps[4].needs[0].on: must be a word, or a list of words, not a number",
		"workflows[0].steps[4].http.url: is required",
	} {
		found := false
		for _, f := range faults {
			found = found || strings.HasPrefix(f, want)
		}
		require.True(t, found, "%s\nis not in\n%s", want, strings.Join(faults, "\n"))
	}
	require.Len(t, faults, 16, strings.Join(faults, "\n"))
	for text, want := range map[string]string{
		`{name: n, steps: []}`:                                                              "steps: give the workflow at least one step",
		`{name: n, steps: [{name: a, wait: {forSec: 1}}, 5]}`:                               "steps[1]: must be an object, not a number",
		`{name: n, steps: [{name: a, wait: {forSec: 1}}], jobType: HTTP}`:                   "jobType: must be WORKFLOW for a job with steps",
		`{name: n, steps: [{name: a, wait: {forSec: 1}}], schedule: {cronExpression: "x"}}`: "schedule.cronExpression: ",
		`{name: n, steps: [{name: a, wait: {forSec: 1}}], onStepFailure: ""}`:               "onStepFailure: must be one of GO_ON, STOP, HOLD",
		`{name: n, steps: [{name: a, wait: {forSec: 1}}], onStepFailure: hold}`:             "onStepFailure: choose one of GO_ON, STOP, HOLD",
		// Those behind a wrong entry are not judged: they would be counted wrongly.
		`{name: n, steps: [5, {name: a, needs: [b], wait: {forSec: 1}}]}`:                    "steps[0]: must be an object, not a number",
		`{steps: [{name: a, wait: {forSec: 1}}]}`:                                            "name: give the job a name",
		`{name: n, steps: [{name: a, wait: {forSec: 1}, when: "rows > 1"}]}`:                 "steps[0].when: 1:1 unknown name rows",
		`{name: n, steps: [{name: a, command: {command: [x], script: y, interpreter: sh}}]}`: "steps[0].command: give one of command",
		`{name: n, steps: [{name: a, command: {command: [x], successExitCodes: [1, "x"]}}]}`: "steps[0].command.successExitCodes[1]: must be a whole number",
		`{version: 1, jobs: [{name: n, jobType: WORKFLOW}]}`:                                 "jobs[0].jobData.steps: give the workflow at least one step",
		"{version: 1, jobs: [{name: n, jobType: HTTP}], workflows: [{name: n, steps: [{name: a, wait: {forSec: 1}}]}, " +
			"{name: n, steps: [{name: a, wait: {forSec: 1}}]}]}": "workflows[1].name: is that of workflows[0] too",
	} {
		faults := faultsOf(t, text)
		require.Len(t, faults, 1, "%s\n%v", text, faults)
		require.Contains(t, faults[0], want, text)
	}
}

// A text without a workflow, and one that is no document, is refused as a whole.
func TestTextsWithoutAWorkflow(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "it holds no workflow",
		"version: 1":                    "it holds no workflow",
		"version: 1\njobs: [{name: n}]": "it holds no workflow",
		"- 1":                           "must be a JSON object",
		"a: [":                          "it is no YAML as it is read here",
		"{version: 2, workflows: [{name: n, steps: []}]}": "version",
		"{version: 1, workflow: []}":                      "workflow",
		"{workflows: []}":                                 "version",
		"{version: 1, workflows: [3]}":                    "workflows[0]",
		"{name: n, steps: [], steps: []}":                 "given twice",
	} {
		_, err := workflows().Read(t.Context(), []byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// Each document of the page of patterns is good, and the page answers each of the 43 patterns once.
func TestTheDocumentsOfThePatterns(t *testing.T) {
	page, err := os.ReadFile("../../../docs/workflow-patterns.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	require.Len(t, blocks, 3)
	for _, b := range blocks {
		all, err := workflows().Read(t.Context(), b[1])
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Empty(t, all[0].Faults, all[0].Job.Name)
		require.Empty(t, all[0].Warnings, all[0].Job.Name)
	}
	answered := map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| (direct|by construction|refused) \| [^|]{5,} \|$`).
		FindAllSubmatch(page, -1) {
		answered[string(row[1])]++
	}
	for n := range 43 {
		require.Equal(t, 1, answered[fmt.Sprint(n+1)], "WCP-%d", n+1)
	}
	require.Len(t, answered, 43)
}
