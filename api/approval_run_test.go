package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const asksFlow = `{"steps":[{"name":"ok","approval":{"need":1,"timeoutSec":3600}},`

// asking starts a run whose approval is open, and returns the paths of the run and of the approval.
func (e *edge) asking() (root, approval string) {
	e.t.Helper()
	_, root = e.flow("release", "default", asksFlow+step("publish", `,"needs":["ok"]`)+`,`+
		step("any", `,"needs":[{"step":"ok","on":"done"}]`)+`,`+step("last", `,"finally":true`)+`]}`)
	at := e.stateOf(root, map[string]string{"ok": "WAITING"})
	return root, "/api/v1/approvals/" + at["ok"]["executionId"].(string)
}

// lateVote is refused, and changes nothing.
func (e *edge) lateVote(approval, status string) {
	e.t.Helper()
	for _, decision := range []string{"APPROVE", "REJECT"} {
		e.call("POST", approval, `{"decision":"`+decision+`"}`).wantCode(409, "approval_decided")
	}
	shown := e.call("GET", approval, "").want(200).json()
	require.Equal(e.t, []any{status, []any{}, false}, []any{shown["status"], shown["votes"], shown["mayVote"]})
	require.NotNil(e.t, shown["decidedTime"])
	require.Empty(e.t, e.inbox("status=OPEN"))
}

// An open approval ends by a word about its step, or its run, as any step does. From then on it takes no votes.
func TestAnApprovalThatEndsWithoutVotes(t *testing.T) {
	for name, c := range map[string]struct {
		verb                            string
		status, reason, publish, anyway string
		run                             string
	}{
		"skip":           {"steps/ok/skip", "SKIPPED", "OPERATOR", "SKIPPED", "SUCCESS", "SUCCESS"},
		"cancel":         {"steps/ok/cancel", "CANCELLED", "OPERATOR", "SKIPPED", "SUCCESS", "FAILED"},
		"cancel the run": {"cancel", "CANCELLED", "RUN_CANCELLED", "SKIPPED", "SKIPPED", "CANCELLED"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdge(t)
			e.Start(t)
			e.ends(nil)
			root, approval := e.asking()
			e.call("POST", flowRuns+"/"+root+"/"+c.verb, "").want(202)
			at := e.stateOf(root, map[string]string{"ok": c.status, "publish": c.publish, "any": c.anyway, "last": "SUCCESS"})
			require.Equal(t, c.reason, at["ok"]["reason"])
			e.lateVote(approval, c.status)
			e.goesOn(func() bool { return e.Execution(t, root).Status.Final() }, "the run ends")
			require.Equal(t, c.run, string(e.Execution(t, root).Status))
		})
	}
}

// A run that is paused by hand takes votes, and decides nothing by them until it is resumed.
func TestAVoteInAPausedRun(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(nil)
	root, approval := e.asking()
	e.call("POST", flowRuns+"/"+root+"/pause", "").want(202)
	require.Equal(t, "SUCCESS", e.call("POST", approval, `{"decision":"APPROVE"}`).want(200).json()["status"])
	for range 5 {
		_, err := e.Flow.RunOnce(t.Context(), e.Time.Now())
		require.NoError(t, err)
	}
	e.stateOf(root, map[string]string{"ok": "SUCCESS", "publish": "NOT_DECIDED", "any": "NOT_DECIDED"})
	require.Equal(t, "PAUSED", e.call("GET", flowRuns+"/"+root, "").want(200).json()["phase"])
	require.Empty(t, e.Script.Runs())
	e.call("POST", flowRuns+"/"+root+"/resume", "").want(202)
	e.stateOf(root, map[string]string{"publish": "SUCCESS", "any": "SUCCESS", "last": "SUCCESS"})
}

// The time of an approval goes on while its run is paused.
func TestTheTimeOfAnApprovalInAPausedRun(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(nil)
	root, _ := e.asking()
	e.call("POST", flowRuns+"/"+root+"/pause", "").want(202)
	e.Clock.Advance(time.Hour)
	require.NoError(t, e.Flow.ExpireApprovals(t.Context(), e.Time.Now()))
	at := e.stateOf(root, map[string]string{"ok": "FAILED", "any": "NOT_DECIDED"})
	require.Equal(t, "REJECTED", at["ok"]["reason"])
	e.call("POST", flowRuns+"/"+root+"/resume", "").want(202)
	e.stateOf(root, map[string]string{"publish": "SKIPPED", "any": "SUCCESS"})
}
