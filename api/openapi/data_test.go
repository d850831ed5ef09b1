package openapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/api/openapi"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

// The fields of jobData that are documented are those that the executors read: an
// executor answers a field that it does not know with all that it knows.
func TestEveryFieldOfJobDataIsDocumented(t *testing.T) {
	c := clocktest.NewShifted()
	handlers, calls, commands := custom.New(c), httpcall.New(c, httpcall.Settings{}),
		command.New(c, nil, command.Settings{})
	known := func(check func(*entity.Job) []apperror.Field, class string) []string {
		for _, f := range check(&entity.Job{Class: class, Data: `{"0123456789":1}`}) {
			if _, names, ok := strings.Cut(f.Message, "; there are "); ok {
				return strings.Split(names, ", ")
			}
		}
		return []string{}
	}
	of := func(v any) []string {
		names := append([]string{}, fieldNames(reflect.TypeOf(v))...)
		slices.Sort(names)
		return names
	}
	require.Equal(t, of(request.HTTPData{}), known(calls.Check, ""))
	require.Equal(t, of(request.CommandData{}), known(commands.Check, ""))
	built := reflect.TypeOf(request.HandlerData{})
	for i := range built.NumField() {
		class := jsonName(built.Field(i))
		require.Equal(t, of(reflect.New(built.Field(i).Type).Elem().Interface()), known(handlers.Check, class), class)
	}
	var documented []string
	for i := range built.NumField() {
		documented = append(documented, jsonName(built.Field(i)))
	}
	require.ElementsMatch(t, entity.BuiltInHandlers(), documented)
}

// Every entry of the page of jobs has a meaning.
func TestEveryFieldOfAJobIsExplained(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/jobs.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| `") || strings.HasPrefix(line, "| `noop`") {
			continue
		}
		rows++
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, ""), "|")
		require.NotEmpty(t, strings.TrimSpace(cells[len(cells)-2]),
			"%s: write a comment above the field in api/model/request", line)
	}
	require.Greater(t, rows, 60)
}

// definitions are jobs as they stand in files: those of configs, and some that
// are wrong.
func definitions(t *testing.T) (good map[string]any, bad map[string]any) {
	t.Helper()
	good, bad = map[string]any{}, map[string]any{}
	for _, folder := range []string{"jobs", "examples"} {
		files, err := filepath.Glob(root + "/configs/" + folder + "/*.yaml")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			good[file] = fromYAML(t, string(text))
		}
	}
	good["a chain"] = fromYAML(t, "name: a\njobType: CUSTOM\njobClass: noop\n"+
		"next: [b, {job: g/c, on: END, params: {a: 1}}]\n")
	good["a workflow"] = fromYAML(t, "name: a\njobType: WORKFLOW\njobData: {steps: [{name: x, http: {url: 'http://x'}}, "+
		"{name: y, needs: [x, {step: x, on: failure}], forEach: {items: '${steps.x.output.list}'}, "+
		"custom: {jobClass: noop, data: {a: 1}}}, {name: z, forEach: {items: [1]}, job: {name: b, params: {c: 1}}}]}\n")
	good["workflows of a document"] = fromYAML(t,
		"version: 1\nworkflows: [{name: a, steps: [{name: x, wait: {forSec: 1}}]}]\n")
	good["a list"] = []any{good[root+"/configs/jobs/once.yaml"]}
	good["numbers for texts"] = fromYAML(t,
		"- {name: a, jobType: HTTP, jobData: {url: 'http://x', headers: {X-Version: 1.10}, expectedStatus: 200}}\n"+
			"- {name: b, jobType: COMMAND, jobData: {command: [sleep, 5], env: {DEPTH: 3, DRY: true}}}\n")
	good["a document"] = fromYAML(t,
		"version: 1\ngroups: [{name: g, maxConcurrency: 2}]\njobs: [{name: a, jobType: CRON, jobData: {command: [ls]}, "+
			"enabled: false}]\n")
	for name, text := range map[string]string{
		"no type":                      "name: a\n",
		"an unknown type":              "name: a\njobType: HTPP\n",
		"an unknown field":             "name: a\njobType: CUSTOM\njobClass: noop\ncolour: red\n",
		"a call without a url":         "name: a\njobType: HTTP\njobData: {method: GET}\n",
		"a command as a text":          "name: a\njobType: COMMAND\njobData: {command: ls -l}\n",
		"argv":                         "name: a\njobType: COMMAND\njobData: {argv: [ls]}\n",
		"a field of another type":      "name: a\njobType: HTTP\njobData: {url: 'http://x', script: ls}\n",
		"a handler without its class":  "name: a\njobType: CUSTOM\n",
		"an unknown field of a next":   "name: a\njobType: CUSTOM\njobClass: noop\nnext: [{job: b, when: END}]\n",
		"a step that is misspelt":      "name: a\njobType: WORKFLOW\njobData: {steps: [{name: x, htpp: {url: 'x'}}]}\n",
		"a workflow without steps":     "name: a\njobType: WORKFLOW\n",
		"a number as what follows":     "name: a\njobType: CUSTOM\njobClass: noop\nnext: [1]\n",
		"an end that is none":          "name: a\njobType: CUSTOM\njobClass: noop\nnext: [{job: b, on: LATER}]\n",
		"what follows without a name":  "name: a\njobType: CUSTOM\njobClass: noop\nnext: [{on: END}]\n",
		"a list for a header":          "name: a\njobType: HTTP\njobData: {url: 'http://x', headers: {X-A: [1]}}\n",
		"a priority beyond ten":        "name: a\njobType: CUSTOM\njobClass: noop\npriority: 11\n",
		"a document of another form":   "version: 2\njobs: []\n",
		"a list that holds a document": "- {version: 1, jobs: []}\n",
	} {
		bad[name] = fromYAML(t, text)
	}
	return good, bad
}

func fromYAML(t *testing.T, text string) (v any) {
	t.Helper()
	all, err := yamljson.AllFromYAML([]byte(text))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, json.Unmarshal(all[0], &v))
	return v
}

// The schema for editors takes what the server takes, and says what is wrong.
func TestTheSchemaForEditorsTellsGoodFromBad(t *testing.T) {
	raw, err := os.ReadFile(root + "/docs/job.schema.json")
	require.NoError(t, err)
	var text any
	require.NoError(t, json.Unmarshal(raw, &text))
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("job.schema.json", text))
	schema, err := compiler.Compile("job.schema.json")
	require.NoError(t, err)
	good, bad := definitions(t)
	for name, v := range good {
		require.NoError(t, schema.Validate(v), name)
	}
	for name, v := range bad {
		require.Error(t, schema.Validate(v), name)
	}
}

// The schema of a job in OpenAPI depends on its type.
func TestTheDocumentKnowsJobDataByType(t *testing.T) {
	raw, _, err := openapi.Read("openapi.json")
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	require.NoError(t, err)
	body := doc.Components.Schemas["JobBody"].Value
	good, bad := definitions(t)
	for name, v := range good {
		if job, ok := v.(map[string]any); ok && job["name"] != nil {
			require.NoError(t, body.VisitJSON(v), name)
		}
	}
	for name, v := range bad {
		if job, ok := v.(map[string]any); ok && job["name"] != nil && name != "a handler without its class" {
			require.Error(t, body.VisitJSON(v), name)
		}
	}
	require.Len(t, body.OneOf, 4, fmt.Sprint(body))
	for _, change := range doc.Components.Schemas["JobChangeBody"].Value.OneOf {
		require.Contains(t, change.Value.Properties, "version")
	}
}

// Generators of types take an object that says nothing of its fields for an empty one.
func TestThePublishedTriggerTakesParametersOfAnyName(t *testing.T) {
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]map[string]any
			}
		}
	}
	content, _, err := openapi.Read("openapi.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &document))
	params := document.Components.Schemas["TriggerBody"].Properties["params"]
	require.Equal(t, "object", params["type"])
	require.Equal(t, true, params["additionalProperties"])
}
