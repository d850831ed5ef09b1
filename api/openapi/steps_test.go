package openapi_test

import "github.com/getkin/kin-openapi/openapi3"

// stepBodies are the objects that steps are made of.
var stepBodies = []string{
	"StepsBody", "StepBody", "NeedBody", "ForEachBody", "TolerateBody", "CustomBody", "NamedJobBody", "ApprovalBody",
	"WaitBody",
}

// takeSteps says of the steps of workflows what Swagger 2.0 cannot: values of several types, and work that is described
// as that of a job is.
func takeSteps(doc *openapi3.T) {
	schemas := doc.Components.Schemas
	text, object := openapi3.NewStringSchema(), openapi3.NewObjectSchema().WithAnyAdditionalProperties()
	either := func(description string, of ...*openapi3.SchemaRef) *openapi3.SchemaRef {
		return &openapi3.SchemaRef{Value: &openapi3.Schema{Description: description, AnyOf: of}}
	}
	list := func(of *openapi3.Schema) *openapi3.SchemaRef {
		return openapi3.NewArraySchema().WithItems(of).NewRef()
	}
	step := schemas["StepBody"].Value.Properties
	step["http"] = &openapi3.SchemaRef{Ref: "#/components/schemas/HTTPDataBody", Value: schemas["HTTPDataBody"].Value}
	step["command"] = &openapi3.SchemaRef{
		Ref: "#/components/schemas/CommandDataBody", Value: schemas["CommandDataBody"].Value,
	}
	needs := step["needs"].Value
	needs.Items = either("", needs.Items, text.WithMinLength(1).NewRef())
	need := schemas["NeedBody"].Value.Properties
	need["on"] = either(need["on"].Value.Description, openapi3.NewStringSchema().NewRef(),
		list(openapi3.NewStringSchema()))
	each := schemas["ForEachBody"].Value.Properties
	each["items"] = either(each["items"].Value.Description, openapi3.NewStringSchema().NewRef(),
		list(openapi3.NewSchema()))
	schemas["CustomBody"].Value.Properties["data"] = object.NewRef()
	schemas["NamedJobBody"].Value.Properties["params"] = object.NewRef()
	for _, name := range stepBodies {
		schemas[name].Value.AdditionalProperties.Has = new(false)
	}
	for _, name := range []string{
		"listOrTextBody", "stepWork-request_HTTPDataBody", "stepWork-request_CommandDataBody",
	} {
		delete(schemas, name)
	}
}
