package api_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// registry is the API of two schedulers, of which one is down, and a node that only runs.
func registry(t *testing.T) *edge {
	t.Helper()
	e := newEdge(t)
	both := []string{entity.RoleScheduler, entity.RoleExecutor}
	own := []string{"settle"}
	e.join(entity.Node{ID: "node-1", Roles: both}) // its second life
	e.join(entity.Node{
		ID: "node-1", IP: "10.0.0.1", Port: 8080, Roles: both, Labels: map[string]string{"zone": "a"},
		Weight: 2, Slots: 8, Running: 1, CPU: 0.5, Memory: 1 << 20, Version: "1.0", ClockOffset: -7 * time.Millisecond,
		CommandSlots: 4, CommandRunning: 2, Handlers: own, HandlersHash: entity.HandlersHash(own),
	})
	gone := []string{"gone"}
	epoch := e.join(entity.Node{ID: "node-2", Roles: both, Handlers: gone, HandlersHash: entity.HandlersHash(gone)})
	require.NoError(t, e.Store.Leave(t.Context(), "node-2", epoch))
	e.join(entity.Node{ID: "node-3", Roles: []string{entity.RoleExecutor}, ClockOffset: -1001 * time.Millisecond})
	return e
}

// join enters a node into the registry, where it beats once.
func (e *edge) join(n entity.Node) (epoch int64) {
	e.t.Helper()
	var err error
	n.Epoch, err = e.Store.Register(e.t.Context(), n)
	require.NoError(e.t, err)
	ok, err := e.Store.Heartbeat(e.t.Context(), n)
	require.NoError(e.t, err)
	require.True(e.t, ok)
	return n.Epoch
}

// silentRegistry does not answer, while the rest of the store does.
type silentRegistry struct{ repository.Nodes }

func (silentRegistry) All(context.Context) ([]entity.Node, error) { return nil, errors.New("away") }

func TestNodesAreShown(t *testing.T) {
	e := registry(t)
	items := e.call("GET", "/api/v1/nodes", "").want(200).json()["items"].([]any)
	first := items[0].(map[string]any)
	require.Len(t, first["partitions"], entity.Partitions, "it is the only scheduler that is alive")
	delete(first, "partitions")
	require.Equal(t, map[string]any{
		"id": "node-1", "ip": "10.0.0.1", "port": 8080.0, "status": "UP", "epoch": 3.0,
		"roles":  []any{"scheduler", "executor"},
		"labels": map[string]any{"zone": "a"}, "weight": 2.0, "slots": 8.0, "running": 1.0, "cpu": 0.5, "memory": 1048576.0,
		"capabilities": map[string]any{"published": true, "handlers": []any{"settle"}, "slots": []any{
			map[string]any{"kind": "GENERAL", "total": 8.0, "running": 1.0},
			map[string]any{"kind": "COMMAND", "total": 4.0, "running": 2.0},
		}},
		"version": "1.0", "clockOffsetMs": -7.0, "clockSkewed": false, "lastHeartbeat": "2026-11-20T12:00:00.000Z",
	}, first)
	require.Equal(t, []any{}, items[1].(map[string]any)["partitions"])
	require.Equal(t, []any{}, items[2].(map[string]any)["partitions"])
	require.Equal(t, true, items[2].(map[string]any)["clockSkewed"])
	require.Equal(t, map[string]any{
		"published": false, "handlers": []any{},
		"slots": []any{map[string]any{"kind": "GENERAL", "total": 0.0, "running": 0.0}},
	},
		items[2].(map[string]any)["capabilities"], "a former release says less")
	require.Equal(t, "node-1", e.call("GET", "/api/v1/nodes/node-1", "").want(200).json()["id"])
	e.call("GET", "/api/v1/nodes/none", "").wantCode(404, "not_found")
	e.call("GET", "/api/v1/nodes?x=1", "").wantField(422, "x", "unknown_parameter")
}

func TestANodeIsDrainedAndResumed(t *testing.T) {
	e := registry(t)
	require.Equal(t, "DRAINING", e.call("POST", "/api/v1/nodes/node-1/drain", "").want(200).json()["status"])
	require.Equal(t, "UP", e.call("POST", "/api/v1/nodes/node-1/resume", "").want(200).json()["status"])
	e.call("POST", "/api/v1/nodes/none/drain", "").wantCode(404, "not_found")
	e.call("POST", "/api/v1/nodes/node-2/drain", "").wantCode(409, "node_down")
}

func TestHandlersAreListed(t *testing.T) {
	e := registry(t)
	items := e.call("GET", "/api/v1/handlers", "").want(200).json()["items"].([]any)
	require.Len(t, items, 6)
	require.Equal(t, map[string]any{"name": "echo", "builtIn": true, "nodes": []any{"node-1", "node-3"}}, items[0])
	require.Equal(t, map[string]any{"name": "settle", "builtIn": false, "nodes": []any{"node-1"}}, items[4])
	e.call("GET", "/api/v1/handlers?x=1", "").wantField(422, "x", "unknown_parameter")
}

// A definition for which no node is fit is right, and whoever saves it is told.
func TestWhoSavesAJobThatNoNodeCanRunIsWarned(t *testing.T) {
	for name, c := range map[string]struct{ definition, field, code, says string }{
		"a handler": {
			`"jobType":"CUSTOM","jobClass":"setle"`, "jobClass", "no_handler",
			`the handler "setle"; runs wait until one does; there are echo, fail, log, noop, settle, sleep`,
		},
		"labels": {
			`"jobType":"CUSTOM","jobClass":"noop","routing":{"labels":{"gpu":"yes"}}`, "routing.labels",
			"no_node", "carries the labels gpu=yes",
		},
		"labels first": {
			`"jobType":"CUSTOM","jobClass":"setle","routing":{"labels":{"gpu":"yes"}}`, "routing.labels",
			"no_node", "carries the labels gpu=yes",
		},
		"both": {
			`"jobType":"CUSTOM","jobClass":"setle","routing":{"labels":{"zone":"a"}}`, "jobClass",
			"no_handler", "and carries the labels zone=a has the handler",
		},
		"nothing":         {`"jobType":"CUSTOM","jobClass":"settle","routing":{"labels":{"zone":"a"}}`, "", "", ""},
		"nothing special": {`"jobType":"CUSTOM","jobClass":"noop"`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := registry(t)
			body := `{"name":"j",` + c.definition + `}`
			made := e.create(body)
			version := `{"name":"j","version":1,` + c.definition + `}`
			answers := []map[string]any{
				made, e.call("PUT", "/api/v1/jobs/"+made["id"].(string), version).want(200).json(),
				e.call("POST", "/api/v1/jobs/"+made["id"].(string)+"/copy", `{"name":"k"}`).want(201).json(),
				e.call("POST", "/api/v1/import?dryRun=true", `{"version":1,"jobs":[`+body+`]}`).want(200).
					json()["items"].([]any)[0].(map[string]any),
			}
			for i, a := range answers {
				if c.code == "" {
					require.NotContains(t, a, "warnings", i)
					continue
				}
				require.Len(t, a["warnings"], 1)
				warning := a["warnings"].([]any)[0].(map[string]any)
				require.Equal(t, []any{c.field, c.code}, []any{warning["field"], warning["code"]}, i)
				require.Contains(t, warning["message"], c.says)
			}
			again := answers[1]
			again["version"] = 2
			e.call("PUT", "/api/v1/jobs/"+made["id"].(string), encode(t, again)).want(200) // what an answer shows may be sent
			e.call("GET", "/api/v1/jobs/"+made["id"].(string), "").want(200)
		})
	}
}

// Without an answer of the registry there is none about nodes, and the job is saved.
func TestWithoutTheRegistryNobodyIsWarned(t *testing.T) {
	e := newEdge(t)
	e.rebuild(func(d *api.Deps) { d.Nodes = node.NewNodeService(silentRegistry{e.Store}, "") })
	require.NotContains(t, e.create(`{"name":"j","jobType":"CUSTOM","jobClass":"setle"}`), "warnings")
}
