package openapi_test

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/model/request"
	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
)

// tags are those of paths that do not begin with them.
var tags = map[string]string{
	"audit-logs": "audit", "export": "definitions", "import": "definitions", "handlers": "nodes", "live": "monitor",
	"settings": "monitor", "contacts": "alerts", "on-call": "alerts", "teams": "alerts",
}

// nouns are what paths name that do not begin with its plural.
var nouns = map[string]string{"dead-letters": "execution", "alert-channels": "channel"}

// wholeLists are lists that have no pages.
var wholeLists = []string{
	"nodes", "handlers", "auth/sessions", "executions/{id}/attempts", "dead-letters/causes", "worker-groups",
	"worker-groups/{name}/tokens",
}

// isWhole: the route's list has no pages. It refuses parameters that it does not know, as all lists do.
func isWhole(r api.Route) bool {
	return slices.Contains(wholeLists, strings.TrimPrefix(openapitest.Template(r.Path), "/api/v1/"))
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// completePath adds what the path of a route says: the tag, and the parameters in it. It adds the parameters of pages,
// and that callers are told 304 where the answers of the route are kept. An annotation that says one of these stays.
func completePath(op *openapi2.Operation, r api.Route) {
	path, versioned := strings.CutPrefix(openapitest.Template(r.Path), "/api/v1/")
	room, _, _ := strings.Cut(path, "/")
	if len(op.Tags) == 0 {
		tag := cmp.Or(tags[room], strings.ReplaceAll(room, "-", " "))
		switch {
		case !versioned:
			tag = "server"
		case strings.HasPrefix(room, "alert-"):
			tag = "alerts"
		}
		op.Tags = []string{tag}
	}
	var missing openapi2.Parameters
	for _, found := range pathParameter.FindAllStringSubmatch(path, -1) {
		name, says := found[1], found[1]+" of the "+cmp.Or(nouns[room], strings.TrimSuffix(room, "s"))
		if noun, inner := strings.CutSuffix(name, "Id"); inner {
			says = "id of the " + noun
		}
		if !slices.ContainsFunc(op.Parameters, func(p *openapi2.Parameter) bool { return p.Name == name }) {
			missing = append(missing, &openapi2.Parameter{
				In: "path", Name: name, Type: &openapi3.Types{"string"}, Required: true, Description: says,
			})
		}
	}
	op.Parameters = append(missing, op.Parameters...)
	if answersPage(op) && !isWhole(r) {
		op.Parameters = append(op.Parameters, &openapi2.Parameter{
			In: "query", Name: "limit", Type: &openapi3.Types{"integer"}, Description: "most items of the page",
			Minimum: new(1.0), Maximum: new(float64(request.MaxLimit)), Default: request.DefaultLimit,
		}, &openapi2.Parameter{
			In: "query", Name: "cursor", Type: &openapi3.Types{"string"}, Description: "nextCursor of the page before",
			MaxLength: new(uint64(512)),
		})
	}
	if _, kept := api.Freshness(r); kept {
		op.Responses.Set("304", &openapi2.Response{Description: "If-None-Match names this answer"})
	}
}

func answersPage(op *openapi2.Operation) bool {
	answer := op.Responses.Value("200")
	return answer != nil && answer.Schema != nil && strings.HasSuffix(answer.Schema.Ref, "Page")
}

// completeAnswers adds the headers of a success: the address of an object that was made, and the version of one that
// has versions. An operation without a success answers with no body.
func completeAnswers(doc *openapi2.T, op *openapi2.Operation) {
	if op.Responses == nil {
		op.Responses = openapi2.NewResponsesWithCapacity(1)
	}
	succeeds := false
	for status, answer := range op.Responses.Map() {
		if status >= "300" {
			continue
		}
		succeeds = true
		says := map[string]string{}
		if status == "201" {
			says["Location"] = "address of what was made"
		}
		if answer.Schema != nil && hasVersion(doc.Definitions[refName(answer.Schema.Ref)]) {
			says["ETag"] = "the version, for If-Match"
		}
		for name, text := range says {
			if answer.Headers == nil {
				answer.Headers = map[string]*openapi2.Header{}
			}
			answer.Headers[name] = &openapi2.Header{Parameter: openapi2.Parameter{
				Type: &openapi3.Types{"string"}, Description: text,
			}}
		}
	}
	if !succeeds {
		op.Responses.Set("204", &openapi2.Response{Description: "done, no body"})
	}
}

// hasVersion reports whether objects of a schema have a version that counts their edits. That of a document names
// its form.
func hasVersion(schema *openapi2.SchemaRef) bool {
	if schema == nil || schema.Value.Properties["version"] == nil {
		return false
	}
	version := schema.Value.Properties["version"].Value
	return version.Type.Is("integer") && len(version.Enum) == 0
}
