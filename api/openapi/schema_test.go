package openapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// fileSchema is a JSON Schema of what job apply takes, for editors: a job, a list
// of jobs, or a document. It is draft 7, which every editor knows.
func fileSchema(doc *openapi3.T) (map[string]any, error) {
	definitions := map[string]any{}
	for _, name := range append([]string{
		"CustomJobBody", "ScheduleBody", "RetryBody", "RoutingBody", "AlertsBody", "DeadlineBody", "ParameterBody",
		"NextBody",
		"HTTPDataBody", "CommandDataBody", "DocumentBody", "DocumentGroupBody", "AlertingBody", "WorkflowBody",
	}, stepBodies...) {
		if doc.Components.Schemas[name] == nil {
			return nil, fmt.Errorf("there is no schema %s", name)
		}
		raw, err := json.Marshal(doc.Components.Schemas[name].Value)
		if err != nil {
			return nil, err
		}
		var plain map[string]any
		if err := json.Unmarshal(raw, &plain); err != nil {
			return nil, err
		}
		definitions[strings.TrimSuffix(name, "Body")] = asItComes(draft7(plain))
	}
	job, ok := definitions["CustomJob"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the schema of a job is no object")
	}
	delete(definitions, "CustomJob")
	definitions["Job"] = byType(job)
	ref := func(name string) map[string]any { return map[string]any{"$ref": "#/definitions/" + name} }
	return map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": "Jobs of platform-scheduler",
		"definitions": definitions,
		"description": "What platform-scheduler job apply takes: a job, a list of jobs, or a document with groups and jobs.",
		"if":          map[string]any{"type": "array"},
		"then":        map[string]any{"items": ref("Job")},
		"else": map[string]any{
			"if":   map[string]any{"required": []any{"version"}, "not": map[string]any{"required": []any{"name"}}},
			"then": ref("Document"), "else": ref("Job"),
		},
	}, nil
}

// asItComes lets fields that only the server sets have any value.
func asItComes(schema any) any {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	for name, p := range properties {
		if field, ok := p.(map[string]any); ok && field["readOnly"] == true {
			properties[name] = map[string]any{"readOnly": true}
		}
	}
	return schema
}

// byType is the schema of a job whose jobData depends on its type. If and then
// let an editor say what is wrong with one kind, where oneOf would say that no kind fits.
func byType(job map[string]any) map[string]any {
	properties, ok := job["properties"].(map[string]any)
	if !ok {
		return job
	}
	var types, cases []any
	for _, v := range variants {
		types = append(types, v.types...)
		then := map[string]any{"required": []any{"jobClass"}}
		if v.data != "" {
			then = map[string]any{
				"required": []any{"jobData"},
				"properties": map[string]any{"jobData": map[string]any{"$ref": "#/definitions/" + strings.TrimSuffix(v.data,
					"Body")}},
			}
		}
		cases = append(cases, map[string]any{
			"if": map[string]any{
				"required":   []any{"jobType"},
				"properties": map[string]any{"jobType": map[string]any{"enum": v.types}},
			},
			"then": then,
		})
	}
	if jobType, ok := properties["jobType"].(map[string]any); ok {
		jobType["enum"] = types
	}
	properties["jobData"] = map[string]any{"type": "object"}
	job["allOf"] = cases
	return job
}

// draft7 turns a schema of OpenAPI 3.0 into one of JSON Schema.
func draft7(schema map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range schema {
		out[name] = inDraft7(value)
	}
	if ref, ok := out["$ref"].(string); ok {
		return map[string]any{"$ref": "#/definitions/" + strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(ref,
			"#/components/schemas/"), "JobBody", "Job"), "Body")}
	}
	nullable, _ := out["nullable"].(bool)
	delete(out, "nullable")
	kind, typed := out["type"].(string)
	if nullable && typed {
		out["type"] = []any{kind, "null"}
		if values, ok := out["enum"].([]any); ok {
			out["enum"] = append(values, nil)
		}
	}
	return out
}

func inDraft7(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return draft7(maps.Clone(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = inDraft7(v[i])
		}
		return out
	}
	return value
}
