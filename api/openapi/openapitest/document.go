// Package openapitest holds answers to the document of the API. It is for
// tests.
package openapitest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/platform-scheduler/platform-scheduler/api/openapi"
)

// JSON is the media type of every success that is no text.
const JSON = "application/json"

// Documented reports whether a route belongs to the API. The document itself
// and the page that shows it do not.
func Documented(path string) bool {
	_, own := openapi.Paths()[path]
	return !own && path != "/" && !strings.HasPrefix(path, "/assets/")
}

// Template writes the path of a route as the document does: /jobs/:id is /jobs/{id}.
func Template(route string) string {
	parts := strings.Split(route, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// Document is the OpenAPI document, made strict: an object has the fields that
// its schema names and no others, unless it says that it takes others. It is immutable and safe for concurrent use.
type Document struct{ doc *openapi3.T }

// Load reads the embedded document.
func Load() (*Document, error) {
	raw, _, err := openapi.Read("openapi.json")
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("read openapi.json: %w", err)
	}
	for _, s := range doc.Components.Schemas {
		if open := s.Value.AdditionalProperties.Has; len(s.Value.Properties) > 0 && (open == nil || !*open) {
			s.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: new(false)}
		}
	}
	return &Document{doc}, nil
}

// Operation is one call that the document describes.
type Operation struct {
	Method, Path string
	*openapi3.Operation
}

// Permission is what the caller must hold, as the document says.
func (o Operation) Permission() string {
	p, _ := o.Extensions["x-permission"].(string)
	return p
}

// Operations lists all, by path and method.
func (d *Document) Operations() (all []Operation) {
	for path, item := range d.doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, Operation{method, path, op})
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return all
}

// Find returns the operation that serves a path with its values, as the router
// chooses: what is spelt out goes before what is a parameter.
func (d *Document) Find(method, path string) (Operation, bool) {
	var found Operation
	best := -1
	for template, item := range d.doc.Paths.Map() {
		if score := match(template, path); score > best && item.GetOperation(method) != nil {
			found, best = Operation{method, template, item.GetOperation(method)}, score
		}
	}
	return found, best >= 0
}

// match counts the segments that are spelt out; -1 is no match.
func match(template, path string) int {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return -1
	}
	score := 0
	for i := range want {
		switch {
		case want[i] == got[i]:
			score++
		case !strings.HasPrefix(want[i], "{") || got[i] == "":
			return -1
		}
	}
	return score
}
