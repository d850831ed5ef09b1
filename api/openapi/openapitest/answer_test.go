package openapitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
)

func TestAnswersAreHeldToTheDocument(t *testing.T) {
	doc, err := openapitest.Load()
	require.NoError(t, err)
	const (
		health  = `{"status":"ok"}`
		problem = `{"type":"t","title":"t","status":404,"detail":"d","code":"c","requestId":"r"}`
		user    = `{"id":"1","username":"ann","role":"admin","permissions":["self"],"groups":null,"commands":true,"secrets":false,` +
			`"mustChangePassword":false}`
		page = `{"items":[],"nextCursor":null}`
	)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		mediaType, answer, wrong string
	}{
		{"a good answer", "GET", "/healthz", "", 200, "application/json", health, ""},
		{"an answer with its charset", "GET", "/healthz", "", 200, "application/json; charset=utf-8", health, ""},
		{"no body to HEAD", "HEAD", "/healthz", "", 200, "application/json", "", ""},
		{"what may be null", "GET", "/api/v1/auth/me", "", 200, "application/json", user, ""},
		{"a problem", "GET", "/api/v1/jobs/x", "", 404, "application/problem+json", problem, ""},
		{"a problem at no address", "GET", "/nothing", "", 404, "application/problem+json", problem, ""},
		{
			"a literal goes before a parameter", "POST", "/api/v1/jobs/pause", "", 404, "application/problem+json", problem,
			"answers 404",
		},
		{"an unknown field", "GET", "/healthz", "", 200, "application/json", `{"status":"ok","more":1}`, "more"},
		{
			"an unknown field inside", "GET", "/api/v1/jobs", "", 200, "application/json",
			`{"items":[{"x":1}],"nextCursor":null}`, "/items/0",
		},
		{"a missing field", "GET", "/healthz", "", 200, "application/json", `{}`, "status"},
		{"a wrong type", "GET", "/healthz", "", 200, "application/json", `{"status":1}`, "status"},
		{"what may not be null", "GET", "/healthz", "", 200, "application/json", `{"status":null}`, "status"},
		{"no JSON", "GET", "/healthz", "", 200, "application/json", `<p>`, "not JSON"},
		{"another media type", "GET", "/healthz", "", 200, "text/html", health, "text/html is not documented"},
		{"a problem as plain JSON", "GET", "/api/v1/jobs/x", "", 404, "application/json", problem, "not documented"},
		{"an undocumented status", "GET", "/api/v1/jobs", "", 418, "application/problem+json", problem, "answers 418"},
		{"a success at no address", "GET", "/nothing", "", 200, "application/json", health, "no operation"},
		{"a body where none is documented", "DELETE", "/api/v1/jobs/x", "", 204, "application/json", health, "a body"},
		{
			"a body that was accepted", "POST", "/api/v1/bulk/jobs/pause", `{"ids":["a"],"all":true}`, 200, "application/json",
			`{"items":[],"succeeded":0,"failed":0,"more":false}`, "accepted a body",
		},
		{
			"a body that was refused", "POST", "/api/v1/bulk/jobs/pause", `{"all":true}`, 422, "application/problem+json",
			problem, "",
		},
		{"an empty page", "GET", "/api/v1/jobs", "", 200, "application/json", page, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := doc.Check(openapitest.Call{
				Method: c.method, Path: c.path, Body: []byte(c.body), Status: c.status,
				Header: http.Header{"Content-Type": {c.mediaType}}, Answer: []byte(c.answer),
			})
			if c.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.wrong)
		})
	}
}
