package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

const reportPath = "/api/v1/executions/run-1/report"

// waiting is an attempt whose target has not reported yet.
func waiting(t *testing.T, e *edge) (token string, rep *executortest.Recorder, end <-chan entity.Outcome) {
	t.Helper()
	rep = &executortest.Recorder{}
	w := e.reports.Open(&entity.Execution{ID: "run-1", Attempt: 1, Token: 1}, rep)
	t.Cleanup(w.Close)
	return w.Token(), rep, w.End()
}

func TestATargetReportsWithItsTokenAlone(t *testing.T) {
	e := newEdge(t)
	token, rep, end := waiting(t, e)
	report := func(body string) answer {
		return e.call("POST", reportPath, body, "Authorization", "", "X-Scheduler-Run-Token", token)
	}
	report(`{"progress":30,"checkpoint":"row 7","lines":["one","two"]}`).want(204)
	report(`{}`).want(204)
	progress, checkpoint := rep.Last()
	require.Equal(t, []any{30, "row 7"}, []any{progress, checkpoint})
	require.Len(t, rep.Lines(), 2)
	report(`{"status":"SUCCESS","result":"42"}`).want(204)
	require.Equal(t, entity.Succeeded("42"), <-end)
	report(`{"status":"FAILED"}`).wantCode(409, "run_over")
}

// An account is no token of an attempt, and without one not a byte is read.
func TestAReportNeedsTheTokenOfItsAttempt(t *testing.T) {
	e := newEdge(t)
	token, rep, _ := waiting(t, e)
	for name, headers := range map[string][]string{
		"nothing":       {"Authorization", ""},
		"an account":    {"Authorization", "Bearer " + adminToken},
		"a wrong token": {"Authorization", "", "X-Scheduler-Run-Token", token + "x"},
	} {
		t.Run(name, func(t *testing.T) {
			e.on(t).call("POST", reportPath, `{"lines":["x"]}`, headers...).wantCode(401, "run_token")
			e.on(t).call("POST", reportPath, `not json`, headers...).wantCode(401, "run_token")
		})
	}
	e.call("POST", "/api/v1/executions/run-2/report", `{}`, "Authorization", "", "X-Scheduler-Run-Token", token).wantCode(401, "run_token")
	require.Empty(t, rep.Lines())
	require.NotContains(t, e.log.String(), token, "the token is a secret")
}

func TestAWrongReportNamesItsFieldsAndChangesNothing(t *testing.T) {
	e := newEdge(t)
	token, rep, end := waiting(t, e)
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
		`{"checkpoint":"` + strings.Repeat("x", 17<<10) + `"}`: "checkpoint",
		`{"state":"SUCCESS"}`:                                  "state",
	} {
		a := e.call("POST", reportPath, body, "Authorization", "", "X-Scheduler-Run-Token", token).want(422)
		_, fields := a.problem()
		require.Contains(t, fields, field, "%.60s", body)
	}
	e.call("POST", reportPath, `[]`, "Authorization", "", "X-Scheduler-Run-Token", token).want(400)
	require.Empty(t, rep.Lines())
	require.Empty(t, end)
}
