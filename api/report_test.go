package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/controller/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const reportPath = "/api/v1/executions/run-1/report"

// runToken is the token of the attempt of run-1.
const runToken = "0123456789-0123456789-0123456789-0123456789"

// silentReports is a store that does not answer who may report.
type silentReports struct{ execution.RunReports }

func (silentReports) Authorize(context.Context, string, string) error {
	return apperror.Unavailable(errors.New("away"))
}

// accepted makes a job whose execution a target has accepted, and reports about.
func (e *edge) accepted(id, token string) {
	e.t.Helper()
	job := e.create(encode(e.t, minimal().with(fields{"name": id, "retryPolicy": fields{"maxRetries": 3}})))["id"].(string)
	x := waiting(id, job)
	x.Status, x.NodeID, x.Epoch, x.Token, x.Attempt, x.RootID = entity.StatusRunning, "", 1, 1, 1, id
	x.StartTime, x.Claim = now, entity.DetachedKey(now.Add(time.Minute))
	e.put(x)
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error {
		refused, err := tx.RunTokens.Issue(ctx, []*entity.Execution{&x},
			[]entity.RunToken{{ExecutionID: id, Attempt: 1, Hash: entity.RunTokenHash(token), CreateTime: now}})
		require.Empty(e.t, refused)
		return err
	})
}

// reporting is the API with run-1.
func reporting(t *testing.T) *edge {
	t.Helper()
	e := newEdge(t)
	e.accepted("run-1", runToken)
	return e
}

// report is called with nothing but the token.
func (e *edge) report(body string) answer {
	e.t.Helper()
	return e.call("POST", reportPath, body, "Authorization", "", "X-Scheduler-Run-Token", runToken)
}

func TestATargetReportsWithItsTokenAlone(t *testing.T) {
	e := reporting(t)
	e.report(`{"progress":30,"checkpoint":"row 7","lines":["one","two"]}`).want(204)
	row := e.Execution(t, "run-1")
	require.Equal(t, []any{30, "row 7", entity.StatusRunning}, []any{row.Progress, row.Checkpoint, row.Status})
	log := e.call("GET", "/api/v1/executions/run-1/logs", "").want(200).json()["items"].([]any)
	require.Equal(t, []any{"one", "two"}, []any{log[0].(map[string]any)["line"], log[1].(map[string]any)["line"]})
	e.report(`{}`).want(204)
	require.Equal(t, row, e.Execution(t, "run-1"), "nothing was said")
	e.report(`{"status":"FAILED","message":"no stock","result":"42","noRetry":true,"checkpoint":"` + strings.Repeat("x",
		64<<10) + `"}`).want(204)
	row = e.Execution(t, "run-1")
	require.Equal(t, []any{entity.StatusFailed, "no stock", "42", 30},
		[]any{row.Status, row.ErrorMessage, row.Result, row.Progress}, "it is not tried again")
	require.Equal(t, strings.Repeat("x", 64<<10), row.Checkpoint)
}

// A target learns whether to report again, or to stop.
func TestATargetLearnsWhatBecameOfItsReport(t *testing.T) {
	e := reporting(t)
	e.Faults.Away(true)
	e.report(`{"progress":1}`).wantCode(503, "store_unavailable")
	e.Faults.Away(false)
	e.report(`{"status":"SUCCESS"}`).want(204)
	e.report(`{"status":"SUCCESS"}`).wantCode(409, "run_over")
	other := strings.Repeat("y", len(runToken))
	e.accepted("run-2", other)
	e.call("POST", "/api/v1/executions/run-2/cancel", "").want(202)
	e.call("POST", "/api/v1/executions/run-2/report", `{"status":"SUCCESS"}`, "Authorization", "", "X-Scheduler-Run-Token",
		other).wantCode(409, "run_cancelled")
	e.rebuild(func(d *api.Deps) { d.Reports = silentReports{d.Reports} })
	a := e.report(`{"status":"SUCCESS"}`)
	a.wantCode(503, "store_unavailable")
	require.NotEmpty(t, a.header.Get("Retry-After"))
}

// An account is no token of an attempt, and without one not a byte is read.
func TestAReportNeedsTheTokenOfItsAttempt(t *testing.T) {
	e := reporting(t)
	for name, headers := range map[string][]string{
		"nothing":       {"Authorization", ""},
		"an account":    {"Authorization", "Bearer " + adminToken},
		"a wrong token": {"Authorization", "", "X-Scheduler-Run-Token", runToken + "x"},
	} {
		t.Run(name, func(t *testing.T) {
			e.on(t).call("POST", reportPath, `{"lines":["x"]}`, headers...).wantCode(401, "run_token")
			e.on(t).call("POST", reportPath, `not json`, headers...).wantCode(401, "run_token")
		})
	}
	e.call("POST", "/api/v1/executions/run-2/report", `{}`, "Authorization", "", "X-Scheduler-Run-Token", runToken).
		wantCode(401, "run_token")
	require.Empty(t, e.call("GET", "/api/v1/executions/run-1/logs", "").want(200).json()["items"])
	e.report(`{"lines":["x"]}`).want(204)
	require.Len(t, e.call("GET", "/api/v1/executions/run-1/logs", "").want(200).json()["items"], 1)
	require.NotContains(t, e.log.String(), runToken, "the token is a secret")
}

func TestAWrongReportNamesItsFieldsAndChangesNothing(t *testing.T) {
	e := reporting(t)
	before := e.Execution(t, "run-1")
	for body, field := range map[string]string{
		`{"status":"DEAD"}`:   "status",
		`{"status":7}`:        "status",
		`{"progress":101}`:    "progress",
		`{"progress":-1}`:     "progress",
		`{"progress":"half"}`: "progress",
		`{"lines":"one"}`:     "lines",
		`{"lines":[` + strings.Repeat(`"x",`, 1000) + `"x"]}`:  "lines",
		`{"result":"` + strings.Repeat("x", 65<<10) + `"}`:     "result",
		`{"message":"` + strings.Repeat("x", 5<<10) + `"}`:     "message",
		`{"checkpoint":"` + strings.Repeat("x", 65<<10) + `"}`: "checkpoint",
		`{"state":"SUCCESS"}`:                                  "state",
	} {
		a := e.report(body).want(422)
		_, fields := a.problem()
		require.Contains(t, fields, field, "%.60s", body)
	}
	e.report(`[]`).want(400)
	require.Equal(t, before, e.Execution(t, "run-1"))
	require.Empty(t, e.call("GET", "/api/v1/executions/run-1/logs", "").want(200).json()["items"])
}
