package openapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
)

// problems are the refusals that follow from what a route is: nobody has to
// annotate them.
var problems = map[int]string{
	400: "not JSON, or malformed, or a bad Idempotency-Key",
	401: "not signed in",
	403: "the permission is missing, here or for this object",
	404: "no such object, or none that the caller may see",
	409: "a call with the same Idempotency-Key is in progress, or its outcome is unknown",
	412: "If-Match does not hold",
	413: "the body is over 1 MiB",
	415: "the body is not JSON in UTF-8, or compressed",
	422: "wrong fields or parameters, all of them in errors",
	503: "the store is away, the call took too long, or the commit was not confirmed",
}

// complete adds to what the annotations say what the table of routes knows:
// permissions, the header Idempotency-Key, and the problems above.
func complete(doc *openapi2.T, routes []api.Route) error {
	for _, op := range operations(doc) {
		completeAnswers(doc, op)
	}
	if err := completeSettings(doc); err != nil {
		return err
	}
	doc.Responses = map[string]*openapi2.Response{}
	for status, text := range problems {
		doc.Responses[responseName(status)] = &openapi2.Response{
			Description: text,
			Schema:      &openapi2.SchemaRef{Ref: "#/definitions/Problem"},
		}
	}
	for _, r := range routes {
		if !openapitest.Documented(r.Path) {
			continue
		}
		op := operation(doc, r)
		if op == nil {
			return fmt.Errorf("%s %s is served but not documented: annotate its action and run make docs", r.Method, r.Path)
		}
		completeOperation(op, r)
	}
	for field, values := range map[string][]any{
		"Explanation.code": texts(explain.Codes()), "ExplanationFact.code": texts(explain.FactCodes()),
		"ChannelBody.type":                texts(notify.Types()),
		"TemplatePreviewBody.channelType": texts(notify.Types()),
	} {
		of, name, _ := strings.Cut(field, ".")
		doc.Definitions[of].Value.Properties[name].Value.Enum = values
	}
	doc.Definitions["alert.ChannelType"].Value.Enum = texts(notify.Types())
	for _, name := range []string{"ParameterBody", "JobParameter"} {
		doc.Definitions[name].Value.Properties["default"].Value.Type = nil // of any type
	}
	for _, op := range operations(doc) {
		for _, p := range op.Parameters {
			if p.In == "body" {
				describeBody(doc, p.Schema, false)
			}
		}
	}
	for _, s := range doc.Definitions {
		describeFields(s.Value)
	}
	for _, name := range openBodies {
		doc.Definitions[name].Value.AdditionalProperties = openapi3.AdditionalProperties{Has: new(true)}
	}
	return nil
}

// texts are the values of an enumeration.
func texts[T ~string](all []T) []any {
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = string(one)
	}
	return out
}

func responseName(status int) string { return "Problem" + strconv.Itoa(status) }

func operation(doc *openapi2.T, r api.Route) *openapi2.Operation {
	item := doc.Paths[openapitest.Template(r.Path)]
	if item == nil {
		return nil
	}
	return item.GetOperation(r.Method)
}

func operations(doc *openapi2.T) (ops []*openapi2.Operation) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, op := range doc.Paths[path].Operations() {
			ops = append(ops, op)
		}
	}
	return ops
}

func completeOperation(op *openapi2.Operation, r api.Route) {
	if op.Extensions == nil {
		op.Extensions = map[string]any{}
	}
	op.Extensions["x-permission"] = string(r.Permission)
	op.Security = &openapi2.SecurityRequirements{}
	if r.Permission != permission.Public {
		*op.Security = append(*op.Security, map[string][]string{"BearerAuth": {}}, map[string][]string{"CookieAuth": {}})
	}
	completePath(op, r)
	if op.OperationID == "" {
		op.OperationID = operationID(r)
	}
	if r.Idempotent {
		op.Parameters = append(op.Parameters, &openapi2.Parameter{
			In: "header", Name: "Idempotency-Key", Type: &openapi3.Types{"string"}, MinLength: 1, MaxLength: new(uint64(255)),
			Description: "1 to 255 visible ASCII characters; for 24 hours the same call under it gets the first answer again, " +
				"marked Idempotent-Replayed: true",
		})
	}
	for _, status := range refusals(op, r) {
		if op.Responses.Value(strconv.Itoa(status)) == nil {
			op.Responses.Set(strconv.Itoa(status), &openapi2.Response{Ref: "#/responses/" + responseName(status)})
		}
	}
	if len(op.Produces) == 0 {
		op.Produces = []string{openapitest.JSON}
	}
	op.Produces = append(op.Produces, problem.ContentType)
}

// refusals are the problems that a route can answer whatever its action does.
func refusals(op *openapi2.Operation, r api.Route) (statuses []int) {
	in := map[string]bool{}
	for _, p := range op.Parameters {
		in[p.In] = true
		if p.Name == "If-Match" {
			statuses = append(statuses, 412)
		}
	}
	if r.Permission != permission.Public {
		statuses = append(statuses, 401, 403, 503)
	}
	if in["path"] || r.Object == middleware.Group {
		statuses = append(statuses, 404)
	}
	if in["query"] || isWhole(r) && r.Method == http.MethodGet {
		statuses = append(statuses, 422)
	}
	if in["body"] || r.Idempotent {
		statuses = append(statuses, 400, 413, 415, 422, 503)
	}
	if r.Idempotent {
		statuses = append(statuses, 409)
	}
	return statuses
}

// operationID makes a name for generated clients: GET /api/v1/jobs/:id is getJobsById.
func operationID(r api.Route) string {
	var b strings.Builder
	b.WriteString(strings.ToLower(r.Method))
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Path, "/api/v1"), "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			part = "by-" + name
		}
		for word := range strings.SplitSeq(part, "-") {
			if word != "" {
				b.WriteString(strings.ToUpper(word[:1]) + word[1:])
			}
		}
	}
	return b.String()
}

// describeBody says of what callers send which fields are refused, and that null
// is the same as absent. An object that takes any field must say so, because
// generators of types take it for an empty one otherwise.
func describeBody(doc *openapi2.T, ref *openapi2.SchemaRef, mayBeNull bool) {
	s := ref.Value
	if name, named := strings.CutPrefix(ref.Ref, "#/definitions/"); named {
		s = doc.Definitions[name].Value
		if len(s.Properties) == 0 { // a list of values, which answers share
			return
		}
	}
	if mayBeNull {
		setExtension(s, "x-nullable", true)
	}
	for _, part := range s.AllOf {
		describeBody(doc, part, true)
	}
	switch {
	case len(s.Properties) > 0:
		s.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
	case takesAnyField(s):
		s.AdditionalProperties = openapi3.AdditionalProperties{Has: new(true)}
	}
	for field, p := range s.Properties {
		describeBody(doc, p, !slices.Contains(s.Required, field))
	}
}

// openBodies are what workers send: fields that the server does not know are passed over.
var openBodies = []string{
	"WorkerRegistrationBody", "WorkerPollBody", "WorkerReportBody", "WorkerItemBody", "WorkerEndBody", "WorkerLeaveBody",
}

// takesAnyField says whether the schema is an object without a word about its fields.
func takesAnyField(s *openapi2.Schema) bool {
	return s.Type.Is("object") && len(s.Properties) == 0 && len(s.AllOf) == 0 &&
		s.AdditionalProperties.Has == nil && s.AdditionalProperties.Schema == nil
}

func setExtension(s *openapi2.Schema, name string, value any) {
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions[name] = value
}

// describeFields drops what speaks of Go alone: names of constants, and fields
// under their names in the source.
func describeFields(s *openapi2.Schema) {
	for name := range s.Extensions {
		if strings.HasPrefix(name, "x-enum") {
			delete(s.Extensions, name)
		}
	}
	for field, p := range s.Properties {
		if p.Value == nil {
			continue
		}
		if word, rest, ok := strings.Cut(p.Value.Description, " "); ok && strings.EqualFold(word, field) {
			p.Value.Description = field + " " + rest
		}
		p.Value.Description = strings.ReplaceAll(p.Value.Description, "\n", " ")
		describeFields(p.Value)
	}
}
