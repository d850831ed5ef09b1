package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// ran stores what became of the planned times of a job: so many from the first one on.
func (e *edge) ran(jobID string, first time.Time, interval time.Duration, n int, status entity.Status) {
	e.t.Helper()
	var rows []*entity.Execution
	for i := range n {
		at := first.Add(time.Duration(i) * interval)
		x := dead(identity.ExecutionID(at, jobID, identity.FireKey(at), 0), jobID)
		x.FireKey, x.Trigger, x.Status, x.Reason = identity.FireKey(at), entity.TriggerSchedule, status, ""
		x.ScheduledTime, x.DueTime = at, at
		rows = append(rows, &x)
	}
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, rows) })
}

const pastDay = `"from":"2026-11-19T08:00:00+08:00","to":"2026-11-20T00:00:00Z"`

func TestABackfillIsAskedForShownAndCancelled(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal().with(fields{"schedule": fields{"cronExpression": "0 0 * * * ?"}})))["id"].(string)
	path := "/api/v1/jobs/" + job + "/backfill"
	e.ran(job, now.Add(-36*time.Hour), time.Hour, 2, entity.StatusSuccess)
	want := map[string]any{
		"jobId": job, "from": "2026-11-19T00:00:00.000Z", "to": "2026-11-20T00:00:00.000Z",
		"position": "2026-11-19T02:00:00.001Z",
		"total":    24.0, "alreadyRun": 2.0, "started": 1.0, "maxParallel": 1.0, "includeFailed": false,
		"status": "ACTIVE", "user": "admin",
		"createTime": "2026-11-20T12:00:00.000Z", "updateTime": "2026-11-20T12:00:00.000Z",
	}
	got := e.call("POST", path, `{`+pastDay+`}`, "Idempotency-Key", "k").want(202).json()
	first := got["id"].(string)
	want["id"] = first
	require.Equal(t, want, got)
	require.Equal(t, "POST /api/v1/jobs/:id/backfill", e.last().Action)
	require.Equal(t, "true", e.call("POST", path, `{`+pastDay+`}`, "Idempotency-Key",
		"k").want(202).header.Get("Idempotent-Replayed"))
	require.Len(t, e.call("GET", path+"s", "").want(200).json()["items"], 1, "a repeated call does nothing")
	require.Len(t, e.runs(job), 3, "the two of before, and one more: no two at once")
	e.Clock.Advance(time.Millisecond) // ids are ordered by it
	require.EqualValues(t, 100,
		e.call("POST", path, `{`+pastDay+`,"dryRun":false,"maxParallel":100}`).want(202).json()["maxParallel"])

	page := e.call("GET", path+"s?limit=1", "").want(200).json()
	require.EqualValues(t, 100, page["items"].([]any)[0].(map[string]any)["maxParallel"], "the newest first")
	page = e.call("GET", path+"s?limit=1&cursor="+page["nextCursor"].(string), "").want(200).json()
	require.Equal(t, []any{want}, page["items"])
	require.Nil(t, page["nextCursor"])
	require.Equal(t, "CANCELLED", e.call("POST", path+"s/"+first+"/cancel", "").want(200).json()["status"])
	e.call("POST", path+"s/b-9/cancel", "").wantCode(404, "not_found")
}

func TestADryRunShowsTheFirstTimes(t *testing.T) {
	e := newEdge(t)
	const every = 57600 * time.Millisecond // 1,500 times a day
	job := e.create(encode(t,
		minimal().with(fields{"schedule": fields{"kind": "FIXED_RATE", "intervalMs": every.Milliseconds()}})))["id"].(string)
	e.ran(job, now.Add(-36*time.Hour), every, 100, entity.StatusSuccess)
	plan := e.call("POST", "/api/v1/jobs/"+job+"/backfill", `{`+pastDay+`,"dryRun":true}`).want(200).json()
	times := plan["fireTimes"].([]any)
	require.Len(t, times, 1000)
	require.Equal(t, "2026-11-19T01:36:00.000Z", times[0], "the first that did not run")
	left := plan["alreadyRunTimes"].([]any)
	require.Len(t, left, 100)
	require.Equal(t, "2026-11-19T00:00:00.000Z", left[0])
	require.Equal(t, []any{1500.0, 100.0, true}, []any{plan["total"], plan["alreadyRun"], plan["dryRun"]})
	require.Empty(t, e.call("GET", "/api/v1/jobs/"+job+"/backfills", "").want(200).json()["items"])
}

func TestABackfillIncludesWhatFailed(t *testing.T) {
	e := newEdge(t)
	job := e.create(encode(t, minimal().with(fields{"schedule": fields{"cronExpression": "0 0 * * * ?"}})))["id"].(string)
	path := "/api/v1/jobs/" + job + "/backfill"
	e.ran(job, now.Add(-36*time.Hour), time.Hour, 2, entity.StatusDead)
	var failed []string
	for _, run := range e.runs(job) {
		failed = append(failed, run.ID)
	}
	e.ran(job, now.Add(-34*time.Hour), time.Hour, 20, entity.StatusSuccess)
	const asks = `{` + pastDay + `,"maxParallel":9,"includeFailed":true`
	plan := e.call("POST", path, asks+`,"dryRun":true}`).want(200).json()
	require.Equal(t, []any{24.0, 20.0, 2.0}, []any{plan["total"], plan["alreadyRun"], plan["failed"]})
	require.Len(t, plan["fireTimes"], 4)
	require.Equal(t, plan["fireTimes"].([]any)[:2], plan["failedTimes"])
	require.Len(t, e.runs(job), 22)
	plain := e.call("POST", path, `{`+pastDay+`,"dryRun":true}`).want(200).json()
	require.Equal(t, []any{22.0, 0.0, []any{}}, []any{plain["alreadyRun"], plain["failed"], plain["failedTimes"]})

	made := e.call("POST", path, asks+`}`).want(202).json()
	require.Equal(t, []any{true, 4.0, 20.0}, []any{made["includeFailed"], made["started"], made["alreadyRun"]})
	page := e.call("GET", path+"s", "").want(200).json()["items"].([]any)
	require.Equal(t, true, page[0].(map[string]any)["includeFailed"])
	var repeated []string
	for _, run := range e.runs(job) {
		if run.Trigger == entity.TriggerRetry {
			repeated = append(repeated, run.RetryOf)
		}
	}
	require.ElementsMatch(t, failed, repeated)
	require.Contains(t, e.last().Changes, `"includeFailed":[null,true]`)
}
