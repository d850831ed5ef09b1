package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// walked is a workflow run in a group, with a step that failed. Nothing else has its marks: names, a message and ids.
type walked struct {
	group, name, job, step, root, execution string
	marks                                   []string
}

func (e *edge) walked(group string) walked {
	e.t.Helper()
	name := "ledger-of-" + group
	e.ends(map[string]entity.Outcome{"post": entity.Failed(entity.ReasonError, "message-of-"+group)})
	job, root := e.flow(name, group, `{"onStepFailure":"HOLD","steps":[`+step("post", "")+`,`+step("slow", "")+`]}`)
	at := e.stateOf(root, map[string]string{"post": "FAILED", "slow": "RUNNING"})
	w := walked{
		group: group, name: name, job: job.ID, step: wf.StepID(job.ID, "post"), root: root,
		execution: at["post"]["executionId"].(string),
	}
	e.fire(len(group), group, func(a *alert.Alert) {
		a.JobID, a.ExecutionID, a.LastExecutionID, a.Content = w.step, w.execution, w.execution, "the step of "+name+" failed"
	})
	w.marks = []string{w.name, "message-of-" + group, w.job, w.step, w.root, w.execution}
	return w
}

// shows reports whether an answer holds something of the run that the call did not name.
func (w walked) shows(call, body string) bool {
	return slices.ContainsFunc(w.marks, func(mark string) bool {
		return strings.Contains(body, mark) && !strings.Contains(call, mark)
	})
}

// withOther is a text with names and ids in the stead of those of the run that nothing has.
func (w walked) withOther(text string) string {
	for i, mark := range w.marks {
		other := fmt.Sprintf("01a1f8d3-ea00-8000-a000-%012d", i)
		if i < 2 {
			other = "nothing"
		}
		text = strings.ReplaceAll(text, mark, other)
	}
	return strings.ReplaceAll(text, w.group, "nobody")
}

// plain is an answer without what differs from one call to the next.
func plain(body string) string {
	return regexp.MustCompile(`"requestId":"[^"]*"`).ReplaceAllString(body, "")
}

// values are what a parameter of a query may say to find the run.
func (w walked) values(param string) []string {
	return map[string][]string{
		"steps": {"true"}, "runId": {w.root}, "jobId": {w.job, w.step}, "job": {w.job, w.step},
		"workflowId": {w.job}, "group": {w.group},
		"executionId": {w.execution, w.root}, "status": {"FAILED"}, "q": {w.name}, "name": {w.name},
		"topics": {"workflow-run:" + w.root, "executions", "execution:" + w.execution, "job:" + w.job},
		"from":   {now.Add(-time.Hour).Format(time.RFC3339)}, "objectId": {w.job, w.root, w.execution},
	}[param]
}

// calls are the addresses of a route that may lead to the run.
func (w walked) calls(path string, params []string) (out []string) {
	ids := []string{""}
	if strings.Contains(path, ":id") {
		ids = []string{w.job, w.step, w.root, w.execution}
	}
	for _, id := range ids {
		at := strings.NewReplacer(":id", id, ":name", w.group, ":key", "post", ":version", "1", ":backfillId", "none").
			Replace(path)
		out = append(out, at)
		for _, p := range params {
			for _, v := range w.values(p) {
				out = append(out, at+"?"+p+"="+url.QueryEscape(v))
			}
		}
	}
	return out
}

// queries are the parameters of each GET route, by its path in the router, as the document of the API says.
func (e *edge) queries() map[string][]string {
	e.t.Helper()
	out := map[string][]string{}
	for path, ops := range e.call("GET", "/openapi.json", "").want(200).json()["paths"].(map[string]any) {
		get, is := ops.(map[string]any)["get"].(map[string]any)
		if !is {
			continue
		}
		params, _ := get["parameters"].([]any)
		at := strings.NewReplacer("{", ":", "}", "").Replace(path)
		for _, p := range params {
			if p := p.(map[string]any); p["in"] == "query" {
				out[at] = append(out[at], p["name"].(string))
			}
		}
	}
	return out
}

// streams reports whether an answer of a route has no end.
func streams(path string) bool {
	return strings.HasSuffix(path, "/stream") || strings.HasSuffix(path, "/live")
}

// peek is what a caller is answered; of an event stream it is what comes within a moment.
func (e *edge) peek(path string, headers ...string) (status int, body string) {
	e.t.Helper()
	within := time.Minute
	if at, _, _ := strings.Cut(path, "?"); streams(at) {
		within = 100 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(e.t.Context(), within)
	defer cancel()
	req := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	e.router.ServeHTTP(rec, req)
	return rec.Code, rec.Body.String()
}

// A step, its run and its workflow are seen on all routes by those who see the group of the workflow, and by nobody
// else. The routes are those of the router, and their queries those of the document of the API.
func TestAStepIsSeenByThoseWhoSeeItsGroup(t *testing.T) {
	e := edgeOf(t, enginetest.Options{
		Ends: []event.EndObserver{monitoring.NewDigests(slog.New(slog.DiscardHandler))},
	})
	e.Start(t)
	for _, group := range []string{"mine", "shown", "theirs"} {
		e.call("POST", "/api/v1/groups", fmt.Sprintf(`{"name":%q}`, group)).want(201)
	}
	mine, theirs := e.walked("mine"), e.walked("theirs")
	_, err := foldOf(e).RunOnce(t.Context())
	require.NoError(t, err)
	queries, shown := e.queries(), map[string]bool{}
	for _, r := range e.router.Routes() {
		if r.Method != http.MethodGet || r.Permission == permission.Public {
			continue
		}
		for _, call := range mine.calls(r.Path, queries[r.Path]) {
			_, all := e.peek(call, as(adminToken)...)
			status, some := e.peek(call, as(boundToken)...)
			if mine.shows(call, all) && !streams(r.Path) && !strings.Contains(some, "does not hold the permission") {
				shown[r.Path] = true
				require.True(t, mine.shows(call, some), "%s (%d): %s", call, status, some)
			}
			require.False(t, theirs.shows(call, some), "%s (%d): %s", call, status, some)
		}
		for _, call := range theirs.calls(r.Path, queries[r.Path]) {
			status, some := e.peek(call, as(boundToken)...)
			require.False(t, theirs.shows(call, some), "%s (%d): %s", call, status, some)
			if streams(r.Path) {
				continue
			}
			nothing := theirs.withOther(call)
			unknown, none := e.peek(nothing, as(boundToken)...)
			require.Equal(t, unknown, status, "%s and %s", call, nothing)
			require.Equal(t, plain(none), plain(theirs.withOther(some)), "%s and %s", call, nothing)
		}
	}
	for _, path := range []string{
		"/alerts", "/executions", "/executions/:id", "/executions/:id/attempts", "/export", "/jobs", "/jobs/:id/graph",
		"/jobs/:id/versions", "/jobs/:id/why", "/monitor/failures", "/workflow-runs", "/workflow-runs/:id",
		"/workflow-runs/:id/steps",
	} {
		require.Contains(t, shown, "/api/v1"+path, "the walk comes by the step there")
	}
	for _, token := range []string{adminToken, boundToken} {
		row := e.call("GET", "/api/v1/executions/"+mine.execution, "", as(token)...).want(200).json()
		require.Equal(t, "ledger-of-mine/post", row["jobName"])
		figures := e.call("GET", "/api/v1/monitor/statistics?job="+mine.step, "", as(token)...).want(200).json()
		require.EqualValues(t, 1, figures["total"].(map[string]any)["failed"])
	}
	e.call("GET", "/api/v1/monitor/statistics?job="+theirs.step, "", as(boundToken)...).want(404)
}
