// Package apitest is the catalogue of input that the API refuses, as tables
// that run against the edge alone and against a whole server.
package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The identifiers that paths of cases hold; whoever has real ones puts them in
// their place.
const (
	JobID    = "JOB"
	RunID    = "RUN"
	LetterID = "LETTER"
)

// The addresses of most cases.
const (
	jobs         = "/api/v1/jobs"
	executions   = "/api/v1/executions"
	workflowRuns = "/api/v1/workflow-runs"
	letters      = "/api/v1/dead-letters"
	login        = "/api/v1/auth/login"
	password     = "/api/v1/auth/password"
	preview      = "/api/v1/schedules/preview"
	trigger      = jobs + "/" + JobID + "/trigger"
	backfill     = jobs + "/" + JobID + "/backfill"
	fires        = jobs + "/" + JobID + "/fires"
	why          = jobs + "/" + JobID + "/why"
	fireTimes    = jobs + "/" + JobID + "/next-fire-times"
	logs         = executions + "/" + RunID + "/logs"
)

// Case is one request and the refusal that it earns.
type Case struct {
	// Row is the number in the catalogue of bad input, with words where one
	// number has several cases.
	Row string
	// Method and Path say where; a Body goes out as JSON.
	Method, Path, Body string
	// Headers are pairs that are set; an empty value removes a header.
	Headers []string
	// Status is that of the answer.
	Status int
	// Field is the one that the problem must name; empty is none.
	Field string
	// Code is that of the field, or of the problem without one; empty is any.
	Code string
}

// Name is that of a subtest.
func (c Case) Name() string { return fmt.Sprintf("%s %s %s %s", c.Row, c.Method, c.Path, c.Field) }

// maxAnswer is what a refusal may weigh: whatever was sent, it stays readable.
const maxAnswer = 64 << 10

// Check checks that the answer is the refusal: a complete problem that names
// the field, and a remedy for everything that is wrong.
func (c Case) Check(t testing.TB, status int, header http.Header, body string) {
	t.Helper()
	require.Equal(t, c.Status, status, shorten(body))
	require.NotContains(t, body, given, "a refusal repeats no secret")
	require.Less(t, len(body), maxAnswer, "a refusal of %d bytes", len(body))
	require.Equal(t, "application/problem+json", header.Get("Content-Type"))
	var p struct {
		Type, Title, Detail, Code, RequestID string
		Status                               int
		Errors                               []struct{ Field, Code, Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &p), shorten(body))
	for _, text := range []string{p.Type, p.Title, p.Detail, p.Code, p.RequestID} {
		require.NotEmpty(t, text, shorten(body))
	}
	require.Equal(t, status, p.Status)
	codes := map[string]string{}
	for _, e := range p.Errors {
		require.NotEmpty(t, e.Message, "a field without a remedy: %s", shorten(body))
		require.NotContains(t, codes, e.Field, "a field is named twice: %s", shorten(body))
		codes[e.Field] = e.Code
	}
	got := p.Code
	if c.Field != "" {
		require.Contains(t, slices.Collect(maps.Keys(codes)), c.Field, shorten(body))
		got = codes[c.Field]
	}
	if c.Code != "" {
		require.Equal(t, c.Code, got, shorten(body))
	}
}

func shorten(body string) string { return body[:min(len(body), 2000)] }

// fields of a JSON object under construction.
type fields map[string]any

func (f fields) with(more fields) fields {
	out := maps.Clone(f)
	maps.Copy(out, more)
	return out
}

func (f fields) String() string {
	raw, err := json.Marshal(map[string]any(f))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func minimal() fields {
	return fields{"name": "settle orders", "jobType": "CUSTOM", "jobClass": "noop"}
}

// raw is a minimal job with one field as literal JSON.
func raw(field, literal string) string {
	return fmt.Sprintf(`{"name":"n","jobType":"CUSTOM","jobClass":"noop",%q:%s}`, field, literal)
}

func scheduled(field, literal string) string {
	return raw("schedule", fmt.Sprintf(`{"kind":"CRON","cronExpression":"0 0 0 * * ?",%q:%s}`, field, literal))
}

// wrong is a body that is understood and refused for a field.
func wrong(row, path, body, field, code string) Case {
	return Case{
		Row: row, Method: http.MethodPost, Path: path, Body: body, Status: http.StatusUnprocessableEntity,
		Field: field, Code: code,
	}
}

// Edge are the cases that the edge refuses by itself.
func Edge() []Case {
	return slices.Concat(expressions(), times(), numbers(), texts(), enumerations(), unknownFields(), syntax(),
		mediaTypes(),
		previews(), triggers(), backfills(), credentials(), queries(), addresses(), headers(), alerting(), workers(), votes(),
		workflowRetries())
}

// Deep are the cases that only the services, the executors or the store can
// refuse.
func Deep() []Case {
	return slices.Concat(definitions(), targets(), cursors(), missing(), people())
}
