package openapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
)

// TestAnEmptyTextIsNoWordOfAList sends the example of each body once for each field that has a list of words, or that
// names something, with an empty text there. A program that sends one forgot to fill the field in: it is refused, or
// the document allows it.
func TestAnEmptyTextIsNoWordOfAList(t *testing.T) {
	w := newWorld(t)
	d := &drawer{nil, w}
	sent := 0
	for _, op := range w.doc.Operations() {
		if op.RequestBody == nil || strings.Contains(op.Path, "/auth/") {
			continue
		}
		content := op.RequestBody.Value.Content[openapitest.JSON]
		example := content.Example.(map[string]any)
		for _, path := range enumsOf(openapitest.Variant(content.Schema.Value, example), example) {
			body := copyOf(t, example)
			w.fresh(op.Path, body)
			body["name"] = "empty-" + strings.ToLower(strings.Join(path, "-"))
			set(body, path)
			raw, err := json.Marshal(body)
			require.NoError(t, err)
			c := call{method: op.Method, path: op.Path, header: http.Header{"Content-Type": {openapitest.JSON}}, body: raw}
			c.path = d.filled(op)
			got := w.send(w.admin, c)
			sent++
			if err := w.doc.Check(got); err != nil {
				t.Errorf("%v", err)
			}
		}
	}
	require.Greater(t, sent, 20)
}

// enumsOf lists the fields with a list of words, and those that cannot be empty, in the body and in objects that its
// example has.
func enumsOf(schema *openapi3.Schema, example map[string]any) (paths [][]string) {
	for _, part := range schema.AllOf {
		paths = append(paths, enumsOf(part.Value, example)...)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name].Value
		inner, _ := example[name].(map[string]any)
		switch {
		case p.ReadOnly:
		case len(p.Enum) > 0, p.MinLength == 1:
			paths = append(paths, []string{name})
		case inner != nil || p.Type.Is("object") || len(p.AllOf) > 0:
			for _, rest := range enumsOf(openapitest.Variant(p, inner), inner) {
				paths = append(paths, append([]string{name}, rest...))
			}
		}
	}
	return paths
}

func copyOf(t *testing.T, example map[string]any) (out map[string]any) {
	t.Helper()
	raw, err := json.Marshal(example)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

func set(body map[string]any, path []string) {
	for _, name := range path[:len(path)-1] {
		inner, _ := body[name].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			body[name] = inner
		}
		body = inner
	}
	body[path[len(path)-1]] = ""
}
