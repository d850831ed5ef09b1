package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// last is the latest entry of the audit log.
func (e *edge) last() entity.AuditEntry {
	e.t.Helper()
	entries, _, err := e.Store.ListAudit(e.t.Context(), repository.AuditFilter{}, repository.Page{Limit: 1})
	require.NoError(e.t, err)
	require.NotEmpty(e.t, entries)
	return entries[0]
}

// about checks what the latest entry is about.
func (e *edge) about(object, name, changes string) {
	e.t.Helper()
	got := e.last()
	require.Equal(e.t, []any{object, name}, []any{got.Object, got.ObjectName}, "%+v", got)
	if changes == "" {
		require.Empty(e.t, got.Changes)
		return
	}
	require.JSONEq(e.t, changes, got.Changes)
}

// The audit log answers who did what, to which object, by id and by name.
func TestTheAuditLogSaysWhatWasDone(t *testing.T) {
	e := newEdge(t)
	created := e.call("POST", "/api/v1/jobs", `{"name":"settle","group":"pay","jobType":"CUSTOM","jobClass":"noop"}`).
		want(201)
	id := fmt.Sprint(created.json()["id"])
	e.about(id, "settle", `{"group":[null,"pay"],"version":[null,1]}`)
	e.call("POST", "/api/v1/jobs/"+id+"/pause", "").want(200)
	e.about(id, "settle", "")
	e.call("POST", "/api/v1/jobs/"+id+"/pause", `{"reason":"the bank moves","until":"2026-11-21T12:00:00Z"}`).want(200)
	e.about(id, "settle", `{"reason":[null,"the bank moves"],"until":[null,"2026-11-21T12:00:00.000Z"]}`)
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":["`+id+`"],"reason":"the bank moves"}`).want(200)
	e.about("1 objects", "", `{"done":[null,{"`+id+`":[]}],"refused":[null,{}],"reason":[null,"the bank moves"]}`)
	e.call("POST", "/api/v1/bulk/jobs/trigger", `{"ids":["`+id+`"]}`).want(200)
	e.about("1 objects", "", `{"done":[null,{"`+id+`":["`+e.runs(id)[0].ID+`"]}],"refused":[null,{}]}`)
	e.call("POST", "/api/v1/jobs/pause", `{"reason":"the bank moves"}`).want(200)
	e.about("all jobs", "", `{"reason":[null,"the bank moves"]}`)
	run := e.call("POST", "/api/v1/jobs/"+id+"/trigger",
		`{"params":{"day":"2026-11-20","db":{"password":"hunter2"},"apiToken":"x"},"delaySec":5}`).want(202).
		json()["executionIds"].([]any)[0].(string)
	e.about(id, "", `{"executionIds":[null,["`+run+
		`"]],"params":[null,{"day":"2026-11-20","db":{"password":"***"},"apiToken":"***"}],"delaySec":[null,5]}`)
	copied := e.call("POST", "/api/v1/jobs/"+id+"/copy", `{"name":"again","group":"other"}`).want(201)
	e.about(fmt.Sprint(copied.json()["id"]), "again", `{"copyOf":[null,"`+id+`"],"group":[null,"other"]}`)
	e.call("DELETE", "/api/v1/jobs/"+id, "").want(204)
	e.about(id, "settle", "")

	other := fmt.Sprint(copied.json()["id"])
	e.call("POST", "/api/v1/bulk/jobs/delete", `{"ids":["`+other+`","none"]}`).want(200)
	e.about("2 objects", "", `{"deleted":[{"`+other+`":"again"},null],"refused":[null,{"none":"not_found"}]}`)

	e.call("POST", "/api/v1/secrets", `{"name":"TOKEN","value":"hunter2-hunter2","description":"of billing"}`).want(201)
	e.about("TOKEN", "TOKEN", `{"value":["***","***"],"description":[null,"of billing"],"groups":[null,null]}`)
	e.call("PUT", "/api/v1/secrets/TOKEN", `{"value":"hunter3-hunter3","version":1}`).want(200)
	e.about("TOKEN", "TOKEN", `{"value":["***","***"],"description":["of billing",""]}`)
	e.call("DELETE", "/api/v1/secrets/TOKEN", "").want(204)
	e.about("TOKEN", "TOKEN", "")

	bob := fmt.Sprint(e.call("POST", users, `{"username":"bob","password":"correct horse","role":"viewer"}`).want(201).
		json()["id"])
	require.Equal(t, []any{bob, "bob"}, []any{e.last().Object, e.last().ObjectName})
	e.call("PUT", users+"/"+bob, `{"role":"viewer","password":"another horse"}`).want(200)
	e.about(bob, "bob", `{"password":["***","***"],"keepTokens":[null,false]}`)
	e.call("DELETE", users+"/"+bob, "").want(204)
	e.about(bob, "bob", "")

	token := e.call("POST", tokens, `{"name":"CI","scopes":["job:read"],"expiresAt":"2026-12-20T12:00:00Z"}`).want(201)
	tokenID := fmt.Sprint(token.json()["id"])
	require.Equal(t, []any{tokenID, "CI"}, []any{e.last().Object, e.last().ObjectName})
	e.call("DELETE", tokens+"/"+tokenID, "").want(204)
	e.about(tokenID, "CI", `{"revoked":[false,true],"userId":["id-of-admin",null]}`)

	e.call("POST", "/api/v1/auth/password", `{"oldPassword":"right","newPassword":"another horse"}`, as(operatorToken)...).
		want(204)
	e.about("id-of-operator", "operator", `{"password":["***","***"],"keepTokens":[null,false]}`)
	e.call("POST", "/api/v1/auth/logout", "", as(viewerToken)...).want(204)
	e.about("session", "", "")
	e.call("POST", "/api/v1/auth/logout", "", "Authorization", "Bearer "+apiToken).want(204)
	e.about("t-reads-jobs", "", `{"revoked":[false,true]}`)
	require.Equal(t, "t-reads-jobs", e.last().TokenID)

	e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"right"}`, "Authorization", "").want(200)
	require.Equal(t, []any{"id-of-ann", "user ann", audit.SignInAction},
		[]any{e.last().UserID, e.last().Object, e.last().Action}, "a sign-in is found by who signed in")

	before := len(e.kept())
	e.call("GET", "/api/v1/secrets", "").want(200)
	e.call("GET", "/api/v1/auth/me", "").want(200)
	require.Len(t, e.kept(), before, "what reads a page is not kept")
	e.call("GET", "/api/v1/export", "").want(200)
	require.Equal(t, "GET /api/v1/export", e.last().Action)
	e.call("GET", "/api/v1/audit-logs/export", "").want(200)
	require.Equal(t, "GET /api/v1/audit-logs/export", e.last().Action)
	require.NotContains(t, fmt.Sprint(e.kept()), "hunter")
	require.NotContains(t, fmt.Sprint(e.kept()), "horse")
}

// An answer that was given before is no second deed.
func TestAReplayIsMarkedInTheAuditLog(t *testing.T) {
	e := newEdge(t)
	for range 2 {
		e.call("POST", "/api/v1/jobs", `{"name":"settle","jobType":"CUSTOM","jobClass":"noop"}`, "Idempotency-Key", "k").
			want(201)
	}
	require.Len(t, e.kept(), 2)
	require.Equal(t, []string{"", "replayed"}, []string{e.kept()[0].Code, e.kept()[1].Code})
}

// The changes of a call before it panicked are done.
func TestACallThatPanicsIsInTheAuditLog(t *testing.T) {
	e := newEdge(t)
	jobs := e.failingJobs()
	jobs.panics = "canary"
	e.call("POST", "/api/v1/jobs", `{"name":"settle","jobType":"CUSTOM","jobClass":"noop"}`).want(500)
	require.Equal(t, []any{"admin", 500, "broken_off", "settle"}, []any{
		e.last().UserName, e.last().Status, e.last().Code,
		e.last().ObjectName,
	})
	jobs.panics = http.ErrAbortHandler
	require.Panics(t, func() { e.call("POST", "/api/v1/jobs", `{"name":"settle","jobType":"CUSTOM","jobClass":"noop"}`) })
	require.Len(t, e.kept(), 2)
}

// A call for as many objects as there may be is kept whole.
func TestABulkCallIsInTheAuditLogAsAWhole(t *testing.T) {
	e := newEdge(t)
	var ids []string
	e.Write(t, func(ctx context.Context, tx repository.Tx) error {
		ids = nil
		var jobs []*entity.Job
		for i := range 500 {
			j := enginetest.Job(fmt.Sprint("job ", i), nil)
			j.ID, j.Version, j.Status, j.CreateTime, j.UpdateTime = uuid.Must(uuid.NewV7()).String(), 1, entity.JobEnabled, now,
				now
			jobs, ids = append(jobs, j), append(ids, j.ID)
		}
		return tx.Jobs.Insert(ctx, jobs...)
	})
	body := `{"ids":["` + strings.Join(ids, `","`) + `"]}`
	e.call("POST", "/api/v1/bulk/jobs/trigger", body).want(200)
	require.Less(t, len(e.last().Changes), 64<<10, "what the log takes")
	changes := e.last().Changes
	for _, id := range ids {
		require.Contains(t, changes, `"`+id+`":["`+e.runs(id)[0].ID+`"]`)
	}
	unknown := make([]string, 500)
	for i := range unknown {
		unknown[i] = fmt.Sprintf("01990000-0000-7000-8000-%012d", i)
	}
	e.call("POST", "/api/v1/bulk/jobs/delete", `{"ids":["`+strings.Join(unknown, `","`)+`"]}`).want(200)
	require.Less(t, len(e.last().Changes), 64<<10)
	require.Equal(t, 500, strings.Count(e.last().Changes, "not_found"))
}
