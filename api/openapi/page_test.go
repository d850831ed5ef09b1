package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/model/request"
)

// jobsHead begins the page of jobs.
const jobsHead = `# Jobs

Written by ` + "`make docs`" + ` from the types in ` + "`api/model/request`" + ` and the files in ` + "`configs/jobs`" +
	`. This is what ` + "`POST /api/v1/jobs`" + ` takes as JSON and
` + "`platform-scheduler job apply`" + ` as YAML. Only ` + "`name`, `jobType`" +
	` and what that type needs are required; what is absent or null is at its default. Unknown fields
are refused, and what GET shows may be sent back: READONLY are read and not looked at.
Where strings of jobData look like numbers (` + "`headers`, `env`, `command`, `expectedStatus`" +
	`), numbers and booleans are taken as they are written: ` + "`1.10`" + ` is the string 1.10.

Editors check and complete such files by [a JSON Schema](job.schema.json): begin one with
` + "`# yaml-language-server: $schema=`" + ` and the path or address of ` + "`job.schema.json`" + `.

The inputs of a run, how it is stopped, and what is isolated: [executors](executors.md). The meaning of the schedules: [schedules](schedules.md).
`

// parts are the objects of a definition, in the order of the page.
var parts = []struct {
	title, schema, path string
	of                  any
}{
	{"A job", "JobBody", "", request.JobSettings{}},
	{"schedule", "ScheduleBody", "schedule.", request.ScheduleBody{}},
	{"retryPolicy", "RetryBody", "retryPolicy.", request.RetryBody{}},
	{"routing", "RoutingBody", "routing.", request.RoutingBody{}},
	{"alerts", "AlertsBody", "alerts.", request.AlertsBody{}},
	{"deadline", "DeadlineBody", "deadline.", request.DeadlineBody{}},
	{"parameters", "ParameterBody", "parameters[].", request.ParameterBody{}},
	{"next", "NextBody", "next[].", request.NextBody{}},
	{"jobData of HTTP", "HTTPDataBody", "jobData.", request.HTTPData{}},
	{"jobData of COMMAND", "CommandDataBody", "jobData.", request.CommandData{}},
}

// readOnly are the names of the fields of a job that nobody writes.
func readOnly(t *testing.T, doc *openapi2.T) string {
	t.Helper()
	var names []string
	for name, p := range doc.Definitions["JobBody"].Value.Properties {
		if p.Value != nil && p.Value.ReadOnly {
			names = append(names, "`"+name+"`")
		}
	}
	require.Greater(t, len(names), 5)
	slices.Sort(names)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// jobsPage is the reference of all that a job can hold.
func jobsPage(t *testing.T, doc *openapi2.T, forms map[string]*openapi2.Schema) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.Replace(jobsHead, "READONLY", readOnly(t, doc), 1))
	b.WriteString("\n## Whole jobs\n")
	files, err := filepath.Glob(root + "/configs/jobs/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, text2, _ := strings.Cut(string(text), "\n") // the first line is for editors
		fmt.Fprintf(&b, "\n`configs/jobs/%s`:\n\n```yaml\n%s```\n", filepath.Base(file), text2)
	}
	for _, p := range parts {
		schema := forms[p.schema]
		if schema == nil {
			schema = doc.Definitions[p.schema].Value
		}
		fmt.Fprintf(&b, "\n## %s\n\n", p.title)
		writeFields(t, &b, schema, p.path, reflect.TypeOf(p.of))
	}
	b.WriteString("\nEither `command`, or `script` with `interpreter`. What a run is given beside `env` is listed under " +
		"[executors](executors.md#commands).\n")
	b.WriteString("\n## jobData of CUSTOM\n\nWhat the handler of `jobClass` takes; [handlers](handlers.md) are written " +
		"in Go. These are built in, to try things out:\n\n| jobClass | field | takes | default | meaning " +
		"|\n|---|---|---|---|---|\n")
	handlers := reflect.TypeOf(request.HandlerData{})
	for i := range handlers.NumField() {
		f := handlers.Field(i)
		schema := forms[f.Type.Name()+"Body"]
		require.NotNil(t, schema, f.Type.Name())
		names := fieldNames(f.Type)
		if len(names) == 0 {
			fmt.Fprintf(&b, "| `%s` | – | | | |\n", jsonName(f))
		}
		for _, name := range names {
			fmt.Fprintf(&b, "| `%s` | %s\n", jsonName(f), row(name, name, schema)[2:])
		}
	}
	b.WriteString("\nIn the texts of `jobData` stand [placeholders](executors.md#placeholders), such as " +
		"`${scheduledTime-1d:yyyy-MM-dd}`, `${params.day}` and `${secret.NAME}`.\n")
	return b.String()
}

func writeFields(t *testing.T, b *strings.Builder, schema *openapi2.Schema, path string, of reflect.Type) {
	t.Helper()
	b.WriteString("| field | takes | default | meaning |\n|---|---|---|---|\n")
	for _, name := range fieldNames(of) {
		p := schema.Properties[name]
		require.NotNil(t, p, name)
		if p.Value != nil && p.Value.ReadOnly {
			continue
		}
		b.WriteString(row(path+name, name, schema))
		b.WriteByte('\n')
		if name == "jobClass" {
			b.WriteString("| `enabled` | boolean | `true` | On creation, false makes a job without a plan; job apply pauses " +
				"and resumes by it. |\n")
		}
	}
}

// row is a field as a line of a table.
func row(shown, name string, schema *openapi2.Schema) string {
	p := schema.Properties[name]
	standard := "–"
	if slices.Contains(schema.Required, name) {
		standard = "required"
	}
	if p.Value == nil {
		return fmt.Sprintf("| `%s` | object | – | See [below](#%s). |", shown, strings.ToLower(name))
	}
	if p.Value.Default != nil && p.Value.Default != "" {
		standard = fmt.Sprintf("`%v`", p.Value.Default)
		if number, ok := p.Value.Default.(float64); ok {
			standard = "`" + strconv.FormatFloat(number, 'f', -1, 64) + "`"
		}
	}
	meaning := p.Value.Description
	if word, rest, ok := strings.Cut(meaning, " "); ok && word == name {
		meaning = rest
	}
	for _, verb := range []string{"is ", "are "} {
		meaning = strings.TrimPrefix(meaning, verb)
	}
	if meaning != "" {
		meaning = strings.ToUpper(meaning[:1]) + meaning[1:]
	}
	takes := takesOf(p.Value)
	if name == "jobData" {
		takes, standard, meaning = "object", "–", "What the type needs, at most 64 KiB: see below."
	}
	if len(p.Value.AllOf) > 0 {
		return fmt.Sprintf("| `%s` | object | – | %s See [below](#%s). |", shown, meaning, strings.ToLower(name))
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", shown, takes, standard, strings.ReplaceAll(meaning, "|", `\|`))
}

// takesOf says what values a field has.
func takesOf(s *openapi2.Schema) string {
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint("`", v, "`")
		}
		return strings.Join(values, " ")
	}
	switch {
	case s.Format == "date-time":
		return "RFC 3339 time"
	case is(s, "array"):
		item := "strings"
		if s.Items != nil && s.Items.Value != nil && is(s.Items.Value, "integer") {
			item = "whole numbers"
		} else if s.Items != nil && s.Items.Ref != "" {
			item = "objects"
		}
		return "array of " + item
	case is(s, "object"):
		return "object of strings"
	case is(s, "integer"), is(s, "number"):
		return span(s)
	case is(s, "boolean"):
		return "boolean"
	case s.MaxLength != nil:
		return fmt.Sprintf("string, at most %d", *s.MaxLength)
	}
	return "string"
}

func is(s *openapi2.Schema, kind string) bool { return s.Type != nil && s.Type.Is(kind) }

func span(s *openapi2.Schema) string {
	kind := "whole number"
	if is(s, "number") {
		kind = "number"
	}
	switch {
	case s.Min != nil && s.Max != nil:
		return fmt.Sprintf("%.10g to %.10g", *s.Min, *s.Max)
	case s.Min != nil:
		return fmt.Sprintf("%s from %.10g", kind, *s.Min)
	}
	return kind
}

// fieldNames are the names of a type's fields in JSON, in their order in the
// source, embedded ones in their place.
func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			names = append(names, fieldNames(f.Type)...)
			continue
		}
		names = append(names, jsonName(f))
	}
	return names
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
