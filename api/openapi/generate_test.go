package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
	"github.com/platform-scheduler/platform-scheduler/api/problem"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

var update = flag.Bool("update", false, "write the documents anew")

const (
	root = "../.."
	// routesPage is where people look routes up.
	routesPage = root + "/docs/routes.md"
)

// TestTheDocumentsAreCurrent makes the documents from the annotations and the
// routes and compares them with the committed ones; with -update it writes them.
func TestTheDocumentsAreCurrent(t *testing.T) {
	routes := served(t)
	doc := annotated(t)
	require.NoError(t, complete(doc, routes))
	forms := takeForms(doc)
	modern, err := convert(doc)
	require.NoError(t, err)
	require.NoError(t, splitJobs(modern))
	require.NoError(t, modern.Validate(t.Context()))
	schema, err := fileSchema(modern)
	require.NoError(t, err)
	for name, made := range map[string][]byte{
		"openapi.json": indented(t, modern), routesPage: []byte(page(routes)),
		root + "/docs/why-codes.md": []byte(codesPage()),
		root + "/docs/jobs.md":      []byte(jobsPage(t, doc, forms)), root + "/docs/job.schema.json": indented(t, schema),
	} {
		if *update {
			require.NoError(t, os.WriteFile(name, made, 0o644))
			continue
		}
		committed, err := os.ReadFile(name)
		require.NoError(t, err)
		if !bytes.Equal(committed, made) {
			t.Errorf("%s is older than the annotations of the controllers or the table of routes: run make docs",
				filepath.Base(name))
		}
	}
}

// served lists the routes; no call is made, so that no service is needed.
func served(t *testing.T) []api.Route {
	t.Helper()
	router, err := api.NewRouter(api.Deps{Logger: slog.New(slog.DiscardHandler), Clock: clocktest.NewShifted()})
	require.NoError(t, err)
	return router.Routes()
}

// annotated reads the comments above the controllers.
func annotated(t *testing.T) *openapi2.T {
	t.Helper()
	sources := []string{"api", "domain/entity", "application/service"}
	for _, dir := range sources {
		// A comment does not change the binary of this test: only what the test
		// itself has looked at keeps go test from repeating an old verdict.
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(_ string, _ fs.DirEntry, err error) error {
			return err
		}))
	}
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/go.mod", "swag", "init", "--quiet",
		"--dir", strings.Join(sources, ","), "--generalInfo", "doc.go", "--requiredByDefault", "--outputTypes", "json",
		"--output", out)
	cmd.Dir = root
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	raw, err := os.ReadFile(filepath.Join(out, "swagger.json"))
	require.NoError(t, err)
	var doc openapi2.T
	require.NoError(t, json.Unmarshal(renamed(t, raw), &doc))
	return &doc
}

// goName is a type as swag names it.
var goName = regexp.MustCompile(`"(#/definitions/)?(vo|entity|request|problem|permission|definition)\.([\w-]+)"`)

// renamed gives the types names for people who do not know the packages.
func renamed(t *testing.T, raw []byte) []byte {
	t.Helper()
	origin := map[string]string{}
	return goName.ReplaceAllFunc(raw, func(found []byte) []byte {
		m := goName.FindSubmatch(found)
		pkg, name := string(m[2]), string(m[3])
		item, isPage := strings.CutPrefix(name, "Page-vo_")
		switch {
		case isPage:
			name = item + "Page"
		case pkg == "request" && !strings.HasSuffix(name, "Body"):
			name += "Body"
		case pkg == "problem" && name == "Error":
			name = "FieldError"
		}
		was := pkg + "." + string(m[3])
		if origin[name] == "" {
			origin[name] = was
		}
		require.Equal(t, origin[name], was, "two types have the name %s in the document: rename one", name)
		return []byte(`"` + string(m[1]) + name + `"`)
	})
}

// takeScalars says of objects and lists of texts, and of the expected statuses, that
// they take numbers and booleans too, which Swagger 2.0 cannot say.
func takeScalars(form *openapi3.SchemaRef) {
	if form == nil {
		return
	}
	widened := func(s *openapi3.SchemaRef) *openapi3.SchemaRef {
		if s == nil || s.Value == nil || !s.Value.Type.Is("string") {
			return s
		}
		return &openapi3.SchemaRef{Value: &openapi3.Schema{AnyOf: openapi3.SchemaRefs{
			s,
			{Value: openapi3.NewFloat64Schema()},
			{Value: openapi3.NewBoolSchema()},
		}}}
	}
	for name, p := range form.Value.Properties {
		if p.Value == nil {
			continue
		}
		if name == "expectedStatus" {
			described := *p.Value
			description, standard := described.Description, described.Default
			described.Description, described.Default = "", nil
			form.Value.Properties[name] = &openapi3.SchemaRef{Value: &openapi3.Schema{
				Description: description, Default: standard,
				AnyOf: openapi3.SchemaRefs{{Value: &described}, {Value: openapi3.NewInt64Schema()}},
			}}
			continue
		}
		p.Value.AdditionalProperties.Schema = widened(p.Value.AdditionalProperties.Schema)
		if name == "command" {
			p.Value.Items = widened(p.Value.Items)
		}
	}
}

// takeNames says of jobs that follow that each may be a plain name, which Swagger 2.0 cannot say.
func takeNames(doc *openapi3.T) {
	one := doc.Components.Schemas["NextBody"].Value
	one.AdditionalProperties.Has, one.Properties["params"].Value.AdditionalProperties.Has = new(false), new(true)
	next := doc.Components.Schemas["JobBody"].Value.Properties["next"].Value
	name := openapi3.NewStringSchema().WithMinLength(1)
	next.Items = &openapi3.SchemaRef{Value: &openapi3.Schema{AnyOf: openapi3.SchemaRefs{next.Items, {Value: name}}}}
}

// convert makes the OpenAPI 3 document: problems have a media type of their
// own, and bodies the examples of the annotations.
func convert(doc *openapi2.T) (*openapi3.T, error) {
	modern, err := openapi2conv.ToV3(doc)
	if err != nil {
		return nil, err
	}
	// Swagger 2.0 knows no such scheme; here clients and the page ask for the
	// token alone.
	modern.Components.SecuritySchemes["BearerAuth"] = &openapi3.SecuritySchemeRef{
		Value: openapi3.NewSecurityScheme().WithType("http").WithScheme("bearer").
			WithDescription("The token of a session (POST /api/v1/auth/login), or an API token."),
	}
	for _, name := range []string{"HTTPDataBody", "CommandDataBody"} {
		takeScalars(modern.Components.Schemas[name])
	}
	takeNames(modern)
	takeSteps(modern)
	for name, r := range modern.Components.Responses {
		if strings.HasPrefix(name, "Problem") {
			r.Value.Content = openapi3.Content{problem.ContentType: r.Value.Content[openapitest.JSON]}
		}
	}
	for path, item := range modern.Paths.Map() {
		for method, op := range item.Operations() {
			for status, r := range op.Responses.Map() {
				if r.Ref != "" {
					continue
				}
				for mediaType := range r.Value.Content {
					if (mediaType == problem.ContentType) != (status >= "400") {
						delete(r.Value.Content, mediaType)
					}
				}
			}
			example := op.Extensions["x-example"]
			delete(op.Extensions, "x-example")
			switch {
			case op.RequestBody == nil:
			case example == nil:
				return nil, fmt.Errorf("%s %s takes a body: annotate it with @x-example", method, path)
			default:
				op.RequestBody.Value.Content[openapitest.JSON].Example = example
			}
		}
	}
	return modern, nil
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	var plain any
	require.NoError(t, json.Unmarshal(raw, &plain))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	require.NoError(t, enc.Encode(plain))
	return b.Bytes()
}

// page is the table of routes for people.
func page(routes []api.Route) string {
	var b strings.Builder
	b.WriteString("# Routes\n\nWritten by `make docs` from the table in `api/routes.go`. The object is what the path " +
		"names, by whose group\n" +
		"callers who are bound to groups are judged. ⟳ routes heed `Idempotency-Key`.\n\n| method | path | permission | " +
		"object | key |\n|---|---|---|---|---|\n")
	for _, r := range routes {
		key := ""
		if r.Idempotent {
			key = "⟳"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", r.Method, openapitest.Template(r.Path), r.Permission, r.Object, key)
	}
	return b.String()
}
