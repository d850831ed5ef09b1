package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// asks opens an approval in a workflow of a group, as the engine does, and returns the id of its execution.
func (e *edge) asks(group string, change func(b *wf.Ballot)) string {
	e.t.Helper()
	job := e.Add(e.t, enginetest.Job("release "+identity.RandomID(now), func(j *entity.Job) {
		j.Type, j.Class, j.Group, j.Data = entity.JobWorkflow, "", group, `{"steps": []}`
	}))
	root := identity.RandomID(now)
	key := identity.StepKey(root, "ok")
	step := wf.StepID(job.ID, "ok")
	row := &entity.Execution{
		ID: identity.ExecutionID(now, step, key, 0), JobID: step, FireKey: key, ScheduledTime: now, DueTime: now,
		Trigger: entity.TriggerDependency, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusWaiting,
		CreateTime: now, UpdateTime: now,
	}
	row.WaitForApproval(now.Add(time.Hour))
	b := wf.Ballot{
		ExecutionID: row.ID, RunID: root, WorkflowID: job.ID, StepKey: "ok", Text: "go?", Need: 1,
		OnTimeout: wf.TimeoutRejects, OpenedTime: now, Until: now.Add(time.Hour),
	}
	if change != nil {
		change(&b)
	}
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{row}); err != nil {
			return err
		}
		return tx.Approvals.AddApprovals(ctx, []wf.Ballot{b})
	})
	return row.ID
}

// inbox are the ids that a list of approvals shows.
func (e *edge) inbox(query string, headers ...string) (ids []string) {
	e.t.Helper()
	for _, item := range e.call("GET", "/api/v1/approvals?"+query, "", headers...).want(200).json()["items"].([]any) {
		ids = append(ids, item.(map[string]any)["executionId"].(string))
	}
	return ids
}

func TestPeopleVote(t *testing.T) {
	e := newEdge(t)
	id := e.asks("default", func(b *wf.Ballot) { b.Need = 2 })
	path := "/api/v1/approvals/" + id
	shown := e.call("GET", path, "").want(200).json()
	require.Equal(t, "go?", shown["text"])
	require.Equal(t, "WAITING", shown["status"])
	require.Equal(t, true, shown["mayVote"])
	require.Nil(t, shown["decidedTime"])
	require.Empty(t, shown["votes"])

	first := e.call("POST", path, `{"decision":"APPROVE","comment":"fine"}`).want(200).json()
	require.EqualValues(t, 1, first["approved"])
	require.Equal(t, false, first["mayVote"])
	entry := e.last()
	require.Equal(t, "POST /api/v1/approvals/:id", entry.Action)
	require.Equal(t, id, entry.Object)
	require.Contains(t, entry.Changes, `"decision":[null,"APPROVE"]`)
	require.Contains(t, entry.Changes, `"comment":[null,"fine"]`)
	e.call("POST", path, `{"decision":"REJECT"}`).wantCode(409, "voted_already")
	require.Equal(t, 409, e.last().Status, "it is in the audit log, too")

	e.call("POST", path, `{"decision":"APPROVE"}`, as(viewerToken)...).wantCode(403, "forbidden")
	require.Equal(t, 403, e.last().Status)
	done := e.call("POST", path, `{"decision":"APPROVE"}`, as(operatorToken)...).want(200).json()
	require.Equal(t, "SUCCESS", done["status"])
	require.NotNil(t, done["decidedTime"])
	require.Len(t, done["votes"], 2)
	require.Equal(t, "fine", done["votes"].([]any)[0].(map[string]any)["comment"])
	e.call("POST", path, `{"decision":"APPROVE"}`, as(operatorToken)...).wantCode(409, "approval_decided")
	require.Empty(t, e.inbox("status=OPEN"))
	require.Equal(t, []string{id}, e.inbox("status=DECIDED"))
}

// A viewer who is named has a vote, also in a group that the viewer does not see; a token needs the scope.
func TestNamedVotersVote(t *testing.T) {
	e := newEdge(t)
	name := func(ids ...string) func(*wf.Ballot) { return func(b *wf.Ballot) { b.Voters = ids } }
	theirs := e.asks("theirs", name("id-of-viewer"))
	bound := e.asks("theirs", name("id-of-operator"))
	other := e.asks("theirs", nil)
	ops := e.bindOperator(map[string]entity.Role{"mine": entity.RoleOperator})
	require.Equal(t, []string{bound}, e.inbox("", ops...))
	require.Equal(t, []string{bound}, e.inbox("mine=true&status=OPEN", ops...))
	for _, hidden := range []string{theirs, other, "none"} {
		e.call("GET", "/api/v1/approvals/"+hidden, "", ops...).wantCode(404, "not_found")
		e.call("POST", "/api/v1/approvals/"+hidden, `{"decision":"REJECT"}`, ops...).wantCode(404, "not_found")
	}
	e.call("POST", "/api/v1/approvals/"+bound, `{"decision":"REJECT"}`, ops...).want(200)
	require.ElementsMatch(t, []string{theirs, bound, other}, e.inbox("", as(viewerToken)...))
	require.Equal(t, []string{theirs}, e.inbox("mine=true", as(viewerToken)...), "a viewer does not vote elsewhere")
	e.call("POST", "/api/v1/approvals/"+theirs, `{"decision":"APPROVE"}`).wantCode(403, "no_voter")
	e.call("POST", "/api/v1/approvals/"+theirs, `{"decision":"APPROVE"}`, as(apiToken)...).wantCode(403, "forbidden")
	e.call("POST", "/api/v1/approvals/"+theirs, `{"decision":"APPROVE"}`, as(viewerToken)...).want(200)
}

func TestTheTriggererHasNoVote(t *testing.T) {
	e := newEdge(t)
	id := e.asks("default", func(b *wf.Ballot) { b.Excluded = "id-of-operator" })
	e.call("POST", "/api/v1/approvals/"+id, `{"decision":"APPROVE"}`, as(operatorToken)...).wantCode(403, "triggered_by_you")
	require.Empty(t, e.inbox("mine=true", as(operatorToken)...))
	require.Equal(t, false, e.call("GET", "/api/v1/approvals/"+id, "", as(operatorToken)...).want(200).json()["mayVote"])
	e.Clock.Advance(2 * time.Hour)
	e.call("POST", "/api/v1/approvals/"+id, `{"decision":"APPROVE"}`).wantCode(409, "approval_timed_out")
}

func TestListsOfApprovalsGoOn(t *testing.T) {
	e := newEdge(t)
	for range 3 {
		e.asks("default", nil)
	}
	var seen []string
	for cursor := ""; ; {
		page := e.call("GET", fmt.Sprintf("/api/v1/approvals?limit=2&cursor=%s", cursor), "").want(200).json()
		for _, item := range page["items"].([]any) {
			seen = append(seen, item.(map[string]any)["executionId"].(string))
		}
		next, more := page["nextCursor"].(string)
		if cursor = next; !more {
			break
		}
	}
	require.Len(t, seen, 3)
	require.IsDecreasing(t, seen)
}
