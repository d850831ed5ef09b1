package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// A filter is counted before anything runs; the plan then starts what it counted.
func TestFailedRunsAreRunAgainByAPlan(t *testing.T) {
	const path = "/api/v1/bulk/executions/retry"
	e := newEdge(t)
	mine := e.create(encode(t, minimal().with(fields{"name": "mine", "group": "mine"})))["id"].(string)
	theirs := e.create(encode(t, minimal().with(fields{"name": "theirs", "group": "theirs"})))["id"].(string)
	for n, job := range []string{mine, mine, theirs} {
		x := dead(idAt(now.Add(-time.Hour), n), job)
		x.FireKey, x.Reason, x.EndTime, x.ErrorMessage = fmt.Sprint(n), entity.ReasonNodeLost, now.Add(-time.Hour), "gone"
		e.put(x)
	}
	plan := e.call("POST", path, `{"filter":{"reason":"NODE_LOST","status":["DEAD"]},"dryRun":true}`).want(200).json()
	require.Empty(t, plan["items"])
	counted := plan["plan"].(map[string]any)
	require.EqualValues(t, 3, counted["total"])
	require.Equal(t, []any{
		map[string]any{"jobId": mine, "jobName": "mine", "count": 2.0},
		map[string]any{"jobId": theirs, "jobName": "theirs", "count": 1.0},
	}, counted["jobs"])
	require.Equal(t, map[string]any{"runAgain": 0.0, "succeededSince": 0.0, "deleted": 0.0}, counted["leftOut"])
	require.Equal(t, "gone", counted["causes"].([]any)[0].(map[string]any)["message"])
	send := fmt.Sprintf(`{"planId":%q}`, plan["planId"])

	// A plan is worth what its sender may do.
	of := func(as ...string) (succeeded, failed any) {
		answer := e.call("POST", path, send, as...).want(200).json()
		require.Nil(t, answer["planId"])
		return answer["succeeded"], answer["failed"]
	}
	succeeded, failed := of(as(boundToken)...)
	require.Equal(t, []any{2.0, 1.0}, []any{succeeded, failed})
	succeeded, failed = of()
	require.Equal(t, []any{1.0, 2.0}, []any{succeeded, failed})
	require.Contains(t, e.call("POST", path, send).want(200).body, `"code":"already_run_again"`)
	empty := e.call("POST", path, `{"filter":{},"dryRun":true}`).want(200).json()
	require.Nil(t, empty["planId"], "there is nothing to start")
	require.EqualValues(t, 3, empty["plan"].(map[string]any)["leftOut"].(map[string]any)["runAgain"])

	for body, field := range map[string]string{
		`{}`:            "ids",
		`{"filter":{}}`: "dryRun", `{"dryRun":true}`: "filter", `{"planId":"x"}`: "planId",
		`{"filter":{},"dryRun":true,"planId":"x"}`:                                              "planId",
		`{"filter":{},"dryRun":true,"ids":["x"]}`:                                               "ids",
		`{"filter":{"status":["SUCCESS"]},"dryRun":true}`:                                       "filter.status[0]",
		`{"filter":{"cause":"X"},"dryRun":true}`:                                                "filter.cause",
		`{"filter":{"from":"2026-11-20T13:00:00Z"},"dryRun":true}`:                              "filter.from",
		`{"filter":{},"dryRun":true,"limit":5001}`:                                              "limit",
		`{"filter":{"jobs":[]},"dryRun":true}`:                                                  "filter.jobs",
		`{"filter":{"groups":[]},"dryRun":true}`:                                                "filter.groups",
		`{"filter":{"jobIds":[""]},"dryRun":true}`:                                              "filter.jobIds",
		`{"filter":{"trigger":"EVENT"},"dryRun":true}`:                                          "filter.trigger",
		`{"planId":"` + strings.Repeat("A", 262145) + `"}`:                                      "planId",
		`{"filter":{"jobs":[],"x":1},"dryRun":true}`:                                            "filter.jobs",
		fmt.Sprintf(`{"filter":{"jobIds":[%s"x"]},"dryRun":true}`, strings.Repeat(`"x",`, 500)): "filter.jobIds",
	} {
		e.call("POST", path, body).wantField(422, field, "")
	}
	e.call("POST", path, send, as(apiToken)...).want(403)
	dry := `{"filter":{},"dryRun":true}`
	token := func(scopes string) []string {
		return as(e.call("POST", "/api/v1/tokens", fmt.Sprintf(`{"name":%q,"scopes":[%s],"expiresAt":"2026-12-20T12:00:00Z"}`,
			scopes, scopes)).want(201).json()["token"].(string))
	}
	e.call("POST", path, dry, token(`"execution:write"`)...).wantCode(403, "forbidden")
	e.call("POST", path, dry, token(`"execution:write","execution:read"`)...).want(200)
}
