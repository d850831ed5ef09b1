package api_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// userRights are those of the users in the store, which may be away.
type userRights struct {
	*persistence.Store
	away atomic.Bool
}

func (r *userRights) UserByID(ctx context.Context, id string) (entity.User, error) {
	if r.away.Load() {
		return entity.User{}, apperror.Unavailable(errors.New("connection refused"))
	}
	return r.Store.UserByID(ctx, id)
}

func (r *userRights) Allows(u entity.User, name, group string) bool {
	return permission.AllowsIn(entity.Principal{User: u}, permission.Permission(name), group)
}

// editedEdge has an operator who may run commands, and whose rights the engine asks for.
func editedEdge(t *testing.T) (e *edge, rights *userRights, bob string) {
	t.Helper()
	e = newEdge(t)
	rights = &userRights{Store: e.Store}
	e.Openings.Rights = rights
	e.Start(t)
	made := e.call("POST", users, `{"username":"bob","password":"correct horse","role":"operator","commands":true}`)
	return e, rights, made.want(201).json()["id"].(string)
}

// opened is the root of a run of a workflow, once it is open or final.
func (e *edge) opened(id string) *entity.Execution {
	e.t.Helper()
	root := e.Trigger(id)[0]
	e.Runner.RunsReady(entity.SlotGeneral)
	enginetest.Await(e.t, func() bool {
		x := e.Execution(e.t, root)
		return x.Open() || x.Status.Final()
	}, "the root %s is open or final", root)
	return e.Execution(e.t, root)
}

const commandFlow = `{"name":"flow","jobType":"WORKFLOW","jobData":{"steps":[
	{"name":"wait","wait":{"forSec":60}},{"name":"build","needs":["wait"],"command":{"command":["true"]}}]}}`

// The rights of who saved a workflow last are asked for when its run opens, whatever else changed the job meanwhile.
func TestTheRightsOfTheLastEditorAreAskedForAgain(t *testing.T) {
	e, _, bob := editedEdge(t)
	bobs := as(e.Session(t, bob))
	id := e.call("POST", "/api/v1/jobs", commandFlow, bobs...).want(201).json()["id"].(string)
	require.True(t, e.opened(id).Open())
	e.call("PUT", users+"/"+bob, `{"role":"operator"}`).want(200)
	e.call("POST", "/api/v1/jobs/"+id+"/pause", "").want(200)
	e.call("POST", "/api/v1/jobs/"+id+"/resume", "").want(200)
	x := e.opened(id)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonInvalid}, []any{x.Status, x.Reason})
	require.Contains(t, x.ErrorMessage, "bob, who saved the workflow last, does not hold job:command in the group default")

	e.call("PUT", users+"/"+bob, `{"role":"disabled"}`).want(200)
	require.Contains(t, e.opened(id).ErrorMessage, "gone or disabled")
	e.call("DELETE", users+"/"+bob, "").want(204)
	require.Contains(t, e.opened(id).ErrorMessage, "gone or disabled")
	shown := e.call("GET", "/api/v1/jobs/"+id, "").want(200)
	e.call("PUT", "/api/v1/jobs/"+id, shown.body).want(200)
	require.True(t, e.opened(id).Open(), "an admin saved it as it was")
}

// A step that names a job asks for the right to run it, in its group.
func TestTheLastEditorMustRunTheJobsOfSteps(t *testing.T) {
	e, _, bob := editedEdge(t)
	bobs := as(e.Session(t, bob))
	e.create(encode(t, minimal().with(fields{"name": "other", "group": "theirs"})))
	id := e.call("POST", "/api/v1/jobs", `{"name":"flow","jobType":"WORKFLOW","jobData":{"steps":[
		{"name":"wait","wait":{"forSec":60}},{"name":"other","needs":["wait"],"job":{"name":"theirs/other"}}]}}`,
		bobs...).want(201).json()["id"].(string)
	plain := e.call("POST", "/api/v1/jobs", `{"name":"plain","jobType":"WORKFLOW","jobData":{"steps":[
		{"name":"wait","wait":{"forSec":60}}]}}`, bobs...).want(201).json()["id"].(string)
	require.True(t, e.opened(id).Open())
	e.call("PUT", users+"/"+bob, `{"role":"operator","groups":{"default":"operator"}}`).want(200)
	x := e.opened(id)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonInvalid}, []any{x.Status, x.Reason})
	require.Contains(t, x.ErrorMessage, "job:run in the group theirs")
	e.call("DELETE", users+"/"+bob, "").want(204)
	require.True(t, e.opened(plain).Open(), "its steps ask for no right")
}

// A store that does not answer fails no run.
func TestAnOpeningWhoseRightsCannotBeReadWaits(t *testing.T) {
	e, rights, bob := editedEdge(t)
	id := e.call("POST", "/api/v1/jobs", commandFlow, as(e.Session(t, bob))...).want(201).json()["id"].(string)
	rights.away.Store(true)
	root := e.Trigger(id)[0]
	e.Runner.RunsReady(entity.SlotGeneral)
	enginetest.Await(t, func() bool {
		x := e.Execution(t, root)
		return x.Status == entity.StatusWaiting && x.Token > 0
	}, "the root waits again")
	require.Zero(t, e.Execution(t, root).Attempt, "that attempt does not count")
	rights.away.Store(false)
	enginetest.Await(t, func() bool {
		e.Clock.Advance(time.Second)
		_, err := e.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		return e.Execution(t, root).Open()
	}, "the run opens")
}
