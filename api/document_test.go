package api_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/openapi"
	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
)

var apiDocument = sync.OnceValues(openapitest.Load)

// conforms holds an answer to the document of the API. Every call of the tests
// of this package passes here.
func conforms(t *testing.T, req *http.Request, body string, rec *httptest.ResponseRecorder) {
	t.Helper()
	doc, err := apiDocument()
	require.NoError(t, err)
	assert.NoError(t, doc.Check(openapitest.Call{
		Method: req.Method, Path: req.URL.Path, Body: []byte(body), Status: rec.Code, Header: rec.Header(),
		Answer: rec.Body.Bytes(),
	}))
}

func TestRoutesAndDocumentAgree(t *testing.T) {
	doc, err := apiDocument()
	require.NoError(t, err)
	documented := map[string]openapitest.Operation{}
	for _, op := range doc.Operations() {
		documented[op.Method+" "+op.Path] = op
	}
	for _, r := range newEdge(t).router.Routes() {
		if !openapitest.Documented(r.Path) {
			continue
		}
		name := r.Method + " " + openapitest.Template(r.Path)
		op, known := documented[name]
		delete(documented, name)
		if !known {
			t.Errorf("%s is served but not documented: annotate its action and run make docs", name)
			continue
		}
		assert.Equal(t, string(r.Permission), op.Permission(), "%s: the permission is not that of the route: run make docs",
			name)
		require.NotNil(t, op.Security, name)
		assert.Equal(t, r.Permission == permission.Public, len(*op.Security) == 0,
			"%s: public routes alone need no sign-in: run make docs", name)
		assert.Equal(t, r.Idempotent, op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil,
			"%s: Idempotency-Key: run make docs", name)
		assert.NotEmpty(t, op.Summary, "%s: annotate its action with @Summary", name)
		assert.NotEmpty(t, op.Tags, "%s: annotate its action with @Tags", name)
	}
	for name := range documented {
		t.Errorf("%s is documented but not served: mend the @Router of its action and run make docs", name)
	}
}

func TestThePageOfTheDocumentNeedsNothingElse(t *testing.T) {
	e := newEdge(t)
	page := e.call("GET", "/swagger/index.html", "", "Authorization", "").want(200)
	require.Equal(t, "text/html; charset=utf-8", page.header.Get("Content-Type"))
	require.NotRegexp(t, `(src|href)="(https?:)?//`, page.body)
	for path := range openapi.Paths() {
		a := e.call("GET", path, "", "Authorization", "").want(200)
		require.Equal(t, openapi.Policy, a.header.Get("Content-Security-Policy"))
		require.NotEmpty(t, a.body)
		e.call("POST", path, "").wantCode(405, "method_not_allowed")
	}
	modern := e.call("GET", "/openapi.json", "").json()
	require.Equal(t, "3.0.3", modern["openapi"])
	bearer := modern["components"].(map[string]any)["securitySchemes"].(map[string]any)["BearerAuth"].(map[string]any)
	require.Equal(t, []any{"http", "bearer"}, []any{bearer["type"], bearer["scheme"]},
		"clients put the word Bearer before the token themselves")
	require.Empty(t, e.call("GET", "/openapi.json", "").header.Get("Deprecation"))
	former := e.call("GET", "/swagger/doc.json", "")
	require.Equal(t, modern, former.json(), "one document is served, for one release at its former address, too")
	require.Equal(t, "@1795392000", former.header.Get("Deprecation"))
	require.Equal(t, `</openapi.json>; rel="successor-version"`, former.header.Get("Link"))
	require.Contains(t, e.call("GET", "/version", "").header.Get("Content-Security-Policy"),
		"default-src 'none'; frame-ancestors")
}
