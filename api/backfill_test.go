package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// fakeBackfills notes what it is asked for.
type fakeBackfills struct {
	made []entity.Backfill
	page repository.Page
}

func (f *fakeBackfills) Plan(_ context.Context, _ string, r execution.Backfill) (execution.BackfillPlan, error) {
	plan := execution.BackfillPlan{Total: 1500, AlreadyRun: 100}
	for at := r.From; len(plan.Times) < 1400; at = at.Add(time.Second) {
		plan.Times = append(plan.Times, at)
	}
	return plan, nil
}

func (f *fakeBackfills) Start(_ context.Context, jobID string, r execution.Backfill) (entity.Backfill, error) {
	b := entity.Backfill{
		ID: fmt.Sprint("b-", len(f.made)+1), JobID: jobID, From: r.From, To: r.To, Cursor: r.From.Add(time.Minute), MaxParallel: r.MaxParallel,
		Status: entity.BackfillActive, Total: 24, AlreadyRun: 2, Started: 1, User: r.User, Version: 2, CreateTime: now, UpdateTime: now,
	}
	f.made = append(f.made, b)
	return b, nil
}

func (f *fakeBackfills) List(_ context.Context, _ string, p repository.Page) ([]entity.Backfill, string, error) {
	f.page = p
	return f.made, "b-1", nil
}

func (f *fakeBackfills) Cancel(_ context.Context, _, id string) (entity.Backfill, error) {
	for _, b := range f.made {
		if b.ID == id {
			b.Status = entity.BackfillCancelled
			return b, nil
		}
	}
	return entity.Backfill{}, apperror.NotFound("backfill", id)
}

const pastDay = `"from":"2026-11-19T08:00:00+08:00","to":"2026-11-20T00:00:00Z"`

func TestABackfillIsAskedForShownAndCancelled(t *testing.T) {
	e := newEdge(t)
	const path = "/api/v1/jobs/j-1/backfill"
	want := map[string]any{
		"id": "b-1", "jobId": "j-1", "from": "2026-11-19T00:00:00.000Z", "to": "2026-11-20T00:00:00.000Z", "position": "2026-11-19T00:01:00.000Z",
		"total": 24.0, "alreadyRun": 2.0, "started": 1.0, "maxParallel": 1.0, "status": "ACTIVE", "user": "admin",
		"createTime": "2026-11-20T12:00:00.000Z", "updateTime": "2026-11-20T12:00:00.000Z",
	}
	require.Equal(t, want, e.call("POST", path, `{`+pastDay+`}`, "Idempotency-Key", "k").want(202).json())
	require.Equal(t, "POST /api/v1/jobs/:id/backfill", e.people.audit[len(e.people.audit)-1].Action)
	require.Equal(t, "true", e.call("POST", path, `{`+pastDay+`}`, "Idempotency-Key", "k").want(202).header.Get("Idempotent-Replayed"))
	require.Len(t, e.backfills.made, 1, "a repeated call does nothing")
	require.EqualValues(t, 100, e.call("POST", path, `{`+pastDay+`,"dryRun":false,"maxParallel":100}`).want(202).json()["maxParallel"])

	page := e.call("GET", path+"s?limit=7&cursor=c", "").want(200).json()
	require.Equal(t, want, page["items"].([]any)[0])
	require.Equal(t, "b-1", page["nextCursor"])
	require.Equal(t, repository.Page{Limit: 7, Cursor: "c"}, e.backfills.page)
	require.Equal(t, "CANCELLED", e.call("POST", path+"s/b-1/cancel", "").want(200).json()["status"])
	e.call("POST", path+"s/b-9/cancel", "").wantCode(404, "not_found")
}

func TestADryRunShowsTheFirstTimes(t *testing.T) {
	e := newEdge(t)
	plan := e.call("POST", "/api/v1/jobs/j-1/backfill", `{`+pastDay+`,"dryRun":true}`).want(200).json()
	times := plan["fireTimes"].([]any)
	require.Len(t, times, 1000)
	require.Equal(t, "2026-11-19T00:00:00.000Z", times[0])
	require.Equal(t, []any{1500.0, 100.0, true}, []any{plan["total"], plan["alreadyRun"], plan["dryRun"]})
	require.Empty(t, e.backfills.made)
}
