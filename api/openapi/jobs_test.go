package openapi_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi3"
)

// jobForms are the bodies that hold the definition of a job.
var jobForms = []string{"JobBody", "JobChangeBody", "TrialBody"}

// variant is a kind of job: the names of its type, and what describes its jobData.
type variant struct {
	name  string
	types []any
	// data is the name of a schema; "" is any object.
	data string
}

var variants = []variant{
	{"HTTP", []any{"HTTP"}, "HTTPDataBody"},
	{"Command", []any{"COMMAND", "CRON"}, "CommandDataBody"},
	{"Custom", []any{"CUSTOM"}, ""},
	{"Workflow", []any{"WORKFLOW"}, "StepsBody"},
}

const anyData = "what the handler of jobClass takes; see docs/jobs.md for those that are built in"

// takeForms takes what documents jobData alone out of the definitions, and returns
// it. Swagger 2.0 cannot say that jobData depends on jobType: there it is an object.
func takeForms(doc *openapi2.T) map[string]*openapi2.Schema {
	taken := map[string]*openapi2.Schema{}
	forms := doc.Definitions["DataFormsBody"].Value
	handlers := doc.Definitions["HandlerDataBody"].Value
	for name := range maps.Keys(doc.Definitions) {
		built := slices.ContainsFunc(slices.Collect(maps.Values(handlers.Properties)), func(p *openapi2.SchemaRef) bool {
			return refersTo(p, name)
		})
		if built || name == "DataFormsBody" || name == "HandlerDataBody" {
			taken[name] = doc.Definitions[name].Value
			delete(doc.Definitions, name)
		}
	}
	for _, p := range forms.Properties {
		for _, v := range variants {
			if v.data != "" && refersTo(p, v.data) {
				taken[v.data] = doc.Definitions[v.data].Value
				delete(doc.Definitions[v.data].Value.Extensions, "x-nullable")
			}
		}
	}
	for _, form := range jobForms {
		data := doc.Definitions[form].Value.Properties["jobData"]
		description := "what the type needs: see HTTPDataBody, CommandDataBody, StepsBody for WORKFLOW, and for CUSTOM the " +
			"handler. At most 64 KiB; of a WORKFLOW 512 KiB."
		data.Ref = ""
		data.Value = &openapi2.Schema{
			Type: &openapi3.Types{"object"}, Description: "jobData is " + description,
			AdditionalProperties: openapi3.AdditionalProperties{Has: new(true)},
			Extensions:           map[string]any{"x-nullable": true},
		}
	}
	stepped(doc.Definitions["WorkflowBody"].Value)
	return taken
}

// stepped makes the body of a workflow whose steps stand beside the fields of a job: it has no jobData, and its type
// may be left out.
func stepped(body *openapi2.Schema) {
	delete(body.Properties, "jobData")
	body.Required = slices.DeleteFunc(body.Required, func(name string) bool { return name == "jobType" })
	body.Properties["jobType"].Value.Enum = []any{"WORKFLOW"}
}

func refersTo(p *openapi2.SchemaRef, name string) bool {
	const prefix = "#/definitions/"
	if p.Ref == prefix+name {
		return true
	}
	return p.Value != nil && slices.ContainsFunc(p.Value.AllOf, func(part *openapi2.SchemaRef) bool {
		return part.Ref == prefix+name
	})
}

// splitJobs says in OpenAPI 3 what jobData holds by the type of the job.
func splitJobs(doc *openapi3.T) error {
	schemas := doc.Components.Schemas
	for _, name := range append([]string{"HTTPDataBody", "CommandDataBody", "StepsBody"}, jobForms...) {
		if schemas[name] == nil {
			return fmt.Errorf("there is no schema %s", name)
		}
	}
	for _, form := range jobForms {
		whole := schemas[form]
		union := &openapi3.Schema{Discriminator: &openapi3.Discriminator{
			PropertyName: "jobType",
			Mapping:      map[string]openapi3.MappingRef{},
		}}
		for _, v := range variants {
			name := v.name + form
			schemas[name] = &openapi3.SchemaRef{Value: v.of(schemas, whole.Value)}
			ref := "#/components/schemas/" + name
			union.OneOf = append(union.OneOf, &openapi3.SchemaRef{Ref: ref, Value: schemas[name].Value})
			for _, t := range v.types {
				union.Discriminator.Mapping[fmt.Sprint(t)] = openapi3.MappingRef{Ref: ref}
			}
		}
		*whole.Value = *union
	}
	return nil
}

// of is the schema of a job narrowed to a kind.
func (v variant) of(schemas openapi3.Schemas, job *openapi3.Schema) *openapi3.Schema {
	one := *job
	one.Properties = maps.Clone(job.Properties)
	jobType := *job.Properties["jobType"].Value
	jobType.Enum = v.types
	one.Properties["jobType"] = &openapi3.SchemaRef{Value: &jobType}
	if v.data == "" {
		data := *job.Properties["jobData"].Value
		data.Description = "jobData is " + anyData
		one.Properties["jobData"] = &openapi3.SchemaRef{Value: &data}
		return &one
	}
	one.Properties["jobData"] = &openapi3.SchemaRef{Ref: "#/components/schemas/" + v.data, Value: schemas[v.data].Value}
	one.Required = append(slices.Clone(job.Required), "jobData")
	slices.Sort(one.Required)
	return &one
}
