package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const reportPath = "/api/v1/executions/run-1/report"

// fakeReports is one attempt whose target may report: of run-1, with runToken.
type fakeReports struct {
	reports []entity.RunReport
	err     error
	// away: the store does not answer who may report.
	away bool
}

const runToken = "token-of-the-attempt"

func (f *fakeReports) Authorize(_ context.Context, id, token string) error {
	switch {
	case f.away:
		return apperror.Unavailable(errors.New("away"))
	case id != "run-1" || token != runToken:
		return apperror.New(apperror.KindUnauthenticated, "run_token", "not that of an attempt")
	}
	return nil
}

func (f *fakeReports) Report(_ context.Context, _, _ string, report entity.RunReport) error {
	if f.err == nil {
		f.reports = append(f.reports, report)
	}
	return f.err
}

// report is called with nothing but the token.
func (e *edge) report(body string) answer {
	e.t.Helper()
	return e.call("POST", reportPath, body, "Authorization", "", "X-Scheduler-Run-Token", runToken)
}

func TestATargetReportsWithItsTokenAlone(t *testing.T) {
	e := newEdge(t)
	e.report(`{"progress":30,"checkpoint":"row 7","lines":["one","two"]}`).want(204)
	e.report(`{}`).want(204)
	e.report(`{"status":"FAILED","message":"no stock","result":"42","noRetry":true,"checkpoint":"` + strings.Repeat("x", 64<<10) + `"}`).want(204)
	state, long := "row 7", strings.Repeat("x", 64<<10)
	require.Equal(t, []entity.RunReport{
		{Progress: 30, Checkpoint: &state, Lines: []string{"one", "two"}},
		{Progress: -1},
		{Status: entity.StatusFailed, Message: "no stock", Result: "42", NoRetry: true, Progress: -1, Checkpoint: &long},
	}, e.reports.reports)
}

// A target learns whether to report again, or to stop.
func TestATargetLearnsWhatBecameOfItsReport(t *testing.T) {
	e := newEdge(t)
	for _, code := range []string{"run_over", "run_cancelled"} {
		e.reports.err = apperror.Conflict(code, "stop")
		e.report(`{"status":"SUCCESS"}`).wantCode(409, code)
	}
	e.reports.err = apperror.Unavailable(errors.New("away"))
	e.report(`{"status":"SUCCESS"}`).wantCode(503, "store_unavailable")
	e.reports.away = true
	a := e.report(`{"status":"SUCCESS"}`)
	a.wantCode(503, "store_unavailable")
	require.NotEmpty(t, a.header.Get("Retry-After"))
}

// An account is no token of an attempt, and without one not a byte is read.
func TestAReportNeedsTheTokenOfItsAttempt(t *testing.T) {
	e := newEdge(t)
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
	e.call("POST", "/api/v1/executions/run-2/report", `{}`, "Authorization", "", "X-Scheduler-Run-Token", runToken).wantCode(401, "run_token")
	e.report(`{}`).want(204)
	require.Len(t, e.reports.reports, 1)
	require.NotContains(t, e.log.String(), runToken, "the token is a secret")
}

func TestAWrongReportNamesItsFieldsAndChangesNothing(t *testing.T) {
	e := newEdge(t)
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
	require.Empty(t, e.reports.reports)
}
