package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/openapi/openapitest"
	"github.com/platform-scheduler/platform-scheduler/test/randtest"
)

// secondsVariable asks for more calls; 12 seconds unless it says otherwise.
const secondsVariable = "PS_OPENAPI_SECONDS"

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, variable)
	return n
}

// TestCallsDrawnFromTheDocument sends valid and spoilt calls as everybody. No
// answer is a failure of the server, each is what the document says, and
// nobody does what they have no right to.
func TestCallsDrawnFromTheDocument(t *testing.T) {
	w := newWorld(t)
	d := &drawer{randtest.New(t), w}
	ends := time.Now().Add(time.Duration(number(t, secondsVariable, 12)) * time.Second)
	ops := w.doc.Operations()
	calls, good := 0, 0
	accepted := map[string]bool{}
	for time.Now().Before(ends) && !t.Failed() {
		op, who := pick(d, ops...), pick(d, w.callers...)
		if d.one(3) { // else what few may do is hardly ever done
			who = w.admin
		}
		if skipped(d, op, who) {
			continue
		}
		c := d.call(op)
		if slices.ContainsFunc(c.objects, func(id string) bool { return w.protected[id] }) && op.Method != http.MethodGet {
			continue // the callers of this test stand on these users and tokens
		}
		calls++
		if w.judge(op, who, c) < 300 {
			good++
			accepted[op.Method+" "+op.Path] = true
		}
		w.repair(op)
	}
	t.Logf("%d calls, %d of them accepted", calls, good)
	require.Greater(t, good, calls/10, "hardly any call was accepted: the drawing is worth little")
	for _, op := range ops {
		if !accepted[op.Method+" "+op.Path] {
			t.Logf("never accepted: %s %s", op.Method, op.Path)
		}
	}
}

// TestExamplesWorkWhenPasted sends the example of each body.
func TestExamplesWorkWhenPasted(t *testing.T) {
	w := newWorld(t)
	d := &drawer{rand.New(rand.NewPCG(1, 1)), w}
	for _, op := range w.doc.Operations() {
		if op.RequestBody == nil {
			continue
		}
		switch op.Path {
		case "/api/v1/auth/login", "/api/v1/auth/password",
			"/api/v1/executions/{id}/report", "/api/v1/workers", "/api/v1/workers/{id}/poll", "/api/v1/workers/{id}/report",
			"/api/v1/workers/{id}/leave", "/api/v1/workers/{id}/jobs": // hold passwords and tokens that nobody has
			continue
		case "/api/v1/approvals/{id}", "/api/v1/workflow-runs/{id}/retry": // no workflow run is here; others vote and retry
			continue
		}
		t.Run(op.Method+" "+op.Path, func(t *testing.T) {
			example := maps.Clone(op.RequestBody.Value.Content[openapitest.JSON].Example.(map[string]any))
			w.fresh(op.Path, example)
			raw, err := json.Marshal(example)
			require.NoError(t, err)
			c := call{method: op.Method, path: op.Path, header: http.Header{"Content-Type": {openapitest.JSON}}, body: raw}
			c.path = d.filled(op)
			got := w.send(w.admin, c)
			require.NoError(t, w.doc.Check(got))
			// An example may speak of another version than there is, not of wrong fields.
			require.Contains(t, []int{200, 201, 202, 204, 409}, got.Status, "%s", got.Answer)
		})
	}
}

// filled is the path of an operation about the last object that there is.
func (d *drawer) filled(op openapitest.Operation) string {
	path := op.Path
	for _, p := range op.Parameters {
		switch {
		case p.Value.In != "path":
		case p.Value.Name == "version":
			path = strings.Replace(path, "{version}", "1", 1)
		default:
			name := "shop" // PUT makes it
			if known := d.w.objects[kindOf(op.Path)]; len(known) > 0 {
				name = known[len(known)-1]
			}
			path = strings.Replace(path, "{"+p.Value.Name+"}", name, 1)
		}
	}
	return path
}

// fresh replaces what an example cannot know: what is to come, and ids of users and teams.
func (w *world) fresh(path string, example map[string]any) {
	if _, ends := example["expiresAt"]; ends {
		example["expiresAt"] = time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339)
	}
	if strings.HasPrefix(path, "/api/v1/alert-silences") {
		example["to"] = inAnHour()
	}
	if path == "/api/v1/alert-rules/dry-run" {
		example["from"] = time.Now().AddDate(0, 0, -1).UTC().Format(time.RFC3339)
		example["to"] = time.Now().UTC().Format(time.RFC3339)
	}
	if _, named := example["userId"]; named {
		example["userId"] = w.objects["user"][0]
	}
	if _, named := example["members"]; named {
		example["members"] = []any{w.objects["user"][0]}
	}
	if shifts, named := example["shifts"].([]any); named {
		shift := maps.Clone(shifts[0].(map[string]any))
		shift["teamId"] = w.objects["teams"][0]
		example["shifts"] = []any{shift}
	}
}

// skipped are calls that would end the test itself.
func skipped(d *drawer, op openapitest.Operation, who caller) bool {
	switch op.Path {
	case "/api/v1/auth/logout": // ends the caller's session
		return who.who != nil
	case "/api/v1/auth/password", "/api/v1/auth/login": // hash slowly by design, and back off
		return !d.one(20)
	case "/api/v1/alert-channels/{id}/test": // waits for what is not on this machine
		return !d.one(5)
	}
	return false
}

// repair undoes what would hold all later calls up.
func (w *world) repair(op openapitest.Operation) {
	if op.Path == "/api/v1/jobs/pause" {
		w.send(w.admin, call{method: http.MethodPost, path: "/api/v1/jobs/resume"})
	}
}

func (w *world) send(who caller, c call) openapitest.Call {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	streams := strings.HasSuffix(c.path, "/stream")
	req, err := http.NewRequestWithContext(ctx, c.method, w.url, bytes.NewReader(c.body))
	require.NoError(w.t, err)
	req.URL.Opaque, req.URL.RawQuery = c.path, c.query
	if c.header != nil {
		req.Header = c.header.Clone()
	}
	if who.token != "" {
		req.Header.Set("Authorization", "Bearer "+who.token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err, "%s %s as %s", c.method, c.path, who.name)
	defer func() { _ = res.Body.Close() }()
	if streams { // that of a run which is not over lasts for minutes
		defer time.AfterFunc(300*time.Millisecond, cancel).Stop()
	}
	answer, err := io.ReadAll(res.Body)
	if !streams {
		require.NoError(w.t, err)
	}
	return openapitest.Call{
		Method: c.method, Path: c.path, Body: c.body, Status: res.StatusCode, Header: res.Header,
		Answer: answer,
	}
}

// judge sends a call and holds the answer to the document and to the rights of
// the caller.
func (w *world) judge(op openapitest.Operation, who caller, c call) int {
	w.t.Helper()
	groups := w.groupsOf(op, c)
	got := w.send(who, c)
	wrong := func(format string, args ...any) {
		w.t.Helper()
		w.t.Errorf("%s %s?%s as %s\nbody %.2000s\nanswer %d %.2000s", c.method, c.path, c.query, who.name, c.body, got.Status,
			got.Answer)
		w.t.Errorf(format, args...)
	}
	if got.Status >= 500 && got.Status != 503 {
		wrong("the server failed")
	}
	if err := w.doc.Check(got); err != nil {
		wrong("%v", err)
	}
	if got.Status >= 400 && c.method != http.MethodHead {
		w.judgeProblem(c, got, wrong)
	}
	w.judgeRights(op, who, c, groups, got, wrong)
	w.learn(op, got)
	return got.Status
}

// learn remembers what a call made, so that later calls are about it.
func (w *world) learn(op openapitest.Operation, got openapitest.Call) {
	var made struct {
		ID, Name     string
		ExecutionIDs []string `json:"executionIds"`
	}
	if got.Status >= 300 || op.Method != http.MethodPost || json.Unmarshal(got.Answer, &made) != nil {
		return
	}
	for _, id := range made.ExecutionIDs {
		w.remember("run", id)
	}
	switch kind := kindOf(op.Path + "/"); {
	case got.Status != http.StatusCreated:
	case made.ID != "":
		w.remember(kind, made.ID)
	default:
		w.remember(kind, made.Name)
	}
}

// judgeProblem looks into what a problem says.
func (w *world) judgeProblem(c call, got openapitest.Call, wrong func(string, ...any)) {
	w.t.Helper()
	var p struct {
		Status          int
		Code, RequestID string
		Errors          []struct{ Field, Code string }
	}
	require.NoError(w.t, json.Unmarshal(got.Answer, &p))
	if p.Code == "" || p.RequestID == "" || p.Status != got.Status || got.Header.Get("X-Request-Id") != p.RequestID {
		wrong("the problem is not complete")
	}
	for _, e := range p.Errors {
		if strings.HasPrefix(e.Field, "config.") { // of a channel: its type says which there are
			continue
		}
		if c.good && slices.Contains([]string{"unknown_field", "wrong_type", "not_an_integer", "unknown_parameter"}, e.Code) {
			wrong("the document allows %s, the server does not know it so (%s): mend what the action's body or parameters are "+
				"documented as", e.Field, e.Code)
		}
	}
}
