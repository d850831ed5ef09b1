package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// failedRun is a run of which one step failed, and its steps: load, then bad and well, after, and last.
func (e *edge) failedRun() (root string) {
	e.t.Helper()
	e.Start(e.t)
	e.ends(map[string]entity.Outcome{"bad": entity.Failed(entity.ReasonExitCode, "no")})
	_, root = e.flow("night", "default", `{"steps":[`+strings.Join([]string{
		step("load", ""), step("bad", `,"needs":["load"]`), step("well", `,"needs":["load"]`), step("after", `,"needs":["bad"]`),
		step("last", `,"finally":true`),
	}, ",")+`]}`)
	e.over(root, "FAILED")
	return root
}

// over waits until a run is closed, with a status.
func (e *edge) over(root, status string) {
	e.t.Helper()
	e.Runner.RunsReady(entity.SlotGeneral)
	e.goesOn(func() bool { return e.Execution(e.t, root).Status.Final() }, "the run is over")
	require.Equal(e.t, status, e.call("GET", flowRuns+"/"+root, "").want(200).json()["status"])
}

func TestARetryShowsItsPlanFirst(t *testing.T) {
	e := newEdge(t)
	root := e.failedRun()
	at := flowRuns + "/" + root
	plan := func(query string) (said []string) {
		m := e.call("GET", at+"/retry-plan"+query, "").want(200).json()
		for _, s := range m["steps"].([]any) {
			x := s.(map[string]any)
			said = append(said, fmt.Sprintf("%s %s %s: %s", x["step"], x["state"], x["action"], x["why"]))
		}
		require.EqualValues(t, 5, m["repeated"].(float64)+m["reused"].(float64))
		return said
	}
	require.Equal(t, []string{
		"load SUCCESS REUSE: it succeeded, and its result is reused", "bad FAILED REPEAT: it ended as FAILED",
		"well SUCCESS REUSE: it succeeded, and its result is reused",
		"after SKIPPED REPEAT: it did not run (UPSTREAM_FAILED)",
		"last SUCCESS REPEAT: it runs last in every workflow run (finally)",
	}, plan(""))
	require.Equal(t, "well SUCCESS REPEAT: it is named in from", plan("?from=well,bad")[2])
	require.Equal(t, plan(""), plan("?from="))
	e.call("GET", at+"/retry-plan?from=nobody", "").wantCode(422, "invalid")
	e.call("POST", at+"/retry", `{"from":["nobody"]}`).wantCode(422, "invalid")

	e.ends(nil)
	var again string
	for range 2 {
		id := e.call("POST", at+"/retry", `{"from":["well"],"reason":"the shop is up"}`, "Idempotency-Key", "k").want(202).
			json()["executionId"].(string)
		require.True(t, again == "" || id == again)
		again = id
	}
	e.over(again, "SUCCESS")
	m := e.call("GET", flowRuns+"/"+again, "").want(200).json()
	require.Equal(t, []any{root, "RETRY"}, []any{m["retryOf"], m["trigger"]})
	steps := e.stateOf(again, nil)
	require.Equal(t, []any{"SUCCESS", "REUSED"}, []any{steps["load"]["state"], steps["load"]["reason"]})
	require.Equal(t, []any{"SUCCESS", ""}, []any{steps["well"]["state"], steps["well"]["reason"]})
	require.Nil(t, e.call("GET", at, "").want(200).json()["retryOf"])
	require.Contains(t, e.call("GET", flowRuns+"/"+again+"/retry-plan", "").want(409).body, "workflow runs retry --from")
	e.call("GET", flowRuns+"/"+again+"/retry-plan", "").wantCode(409, "run_succeeded")
	e.call("POST", flowRuns+"/"+again+"/retry", "").wantCode(409, "run_succeeded")
	e.call("POST", "/api/v1/executions/"+again+"/retry", "").wantCode(409, "run_succeeded")
	require.Contains(t, e.call("GET", flowRuns+"/"+again+"/steps/load/why", "").want(200).body, "former workflow run")

	var kept []string
	for _, entry := range e.kept() {
		if strings.HasSuffix(entry.Action, "/:id/retry") && entry.Status == 202 {
			kept = append(kept, fmt.Sprint(entry.Object == root, entry.Changes))
		}
	}
	want := fmt.Sprintf(`true{"executionIds":[null,[%q]],"from":[null,["well"]],"reason":[null,"the shop is up"]}`, again)
	require.Equal(t, []string{want, "true"}, kept, "the second call had the key of the first")
}

// The other ways to run an execution again begin a workflow run from what failed, too.
func TestEachRetryBeginsFromWhatFailed(t *testing.T) {
	e := newEdge(t)
	root := e.failedRun()
	e.ends(nil)
	one := e.call("POST", "/api/v1/executions/"+root+"/retry", "").want(202).json()["executionId"].(string)
	e.over(one, "SUCCESS")
	item := e.call("POST", "/api/v1/bulk/executions/retry", `{"ids":["`+root+`"]}`).want(200).json()["items"].([]any)[0]
	two := item.(map[string]any)["executionIds"].([]any)[0].(string)
	e.over(two, "SUCCESS")
	for _, again := range []string{one, two} {
		require.Equal(t, "REUSED", e.stateOf(again, nil)["load"]["reason"])
	}
}
