package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// fakeRegistry holds two schedulers and a node that only runs.
type fakeRegistry struct{ nodes []entity.Node }

func newRegistry() *fakeRegistry {
	both := []string{entity.RoleScheduler, entity.RoleExecutor}
	return &fakeRegistry{nodes: []entity.Node{
		{
			ID: "node-1", IP: "10.0.0.1", Port: 8080, Status: entity.NodeUp, Epoch: 3, Roles: both, Labels: map[string]string{"zone": "a"},
			Weight: 2, Slots: 8, Running: 1, CPU: 0.5, Memory: 1 << 20, Version: "1.0", ClockOffset: -7 * time.Millisecond, LastHeartbeat: now,
		},
		{ID: "node-2", Status: entity.NodeDown, Roles: both},
		{ID: "node-3", Status: entity.NodeUp, Roles: []string{entity.RoleExecutor}, ClockOffset: -1001 * time.Millisecond},
	}}
}

func (f *fakeRegistry) All(context.Context) ([]entity.Node, error) { return f.nodes, nil }

func (f *fakeRegistry) Drain(_ context.Context, id string, draining bool) error {
	for i := range f.nodes {
		switch n := &f.nodes[i]; {
		case n.ID != id:
		case n.Status == entity.NodeDown:
			return fault.Conflict("node_down", "the node is down")
		case draining:
			n.Status = entity.NodeDraining
			return nil
		default:
			n.Status = entity.NodeUp
			return nil
		}
	}
	return fault.NotFound("node", id)
}

func TestNodesAreShown(t *testing.T) {
	e := newEdge(t)
	items := e.call("GET", "/api/v1/nodes", "").want(200).json()["items"].([]any)
	first := items[0].(map[string]any)
	require.Len(t, first["partitions"], entity.Partitions, "it is the only scheduler that is alive")
	delete(first, "partitions")
	require.Equal(t, map[string]any{
		"id": "node-1", "ip": "10.0.0.1", "port": 8080.0, "status": "UP", "epoch": 3.0, "roles": []any{"scheduler", "executor"},
		"labels": map[string]any{"zone": "a"}, "weight": 2.0, "slots": 8.0, "running": 1.0, "cpu": 0.5, "memory": 1048576.0,
		"version": "1.0", "clockOffsetMs": -7.0, "clockSkewed": false, "lastHeartbeat": "2026-11-20T12:00:00.000Z",
	}, first)
	require.Equal(t, []any{}, items[1].(map[string]any)["partitions"])
	require.Equal(t, []any{}, items[2].(map[string]any)["partitions"])
	require.Equal(t, true, items[2].(map[string]any)["clockSkewed"])
	require.Equal(t, "node-1", e.call("GET", "/api/v1/nodes/node-1", "").want(200).json()["id"])
	e.call("GET", "/api/v1/nodes/none", "").wantCode(404, "not_found")
	e.call("GET", "/api/v1/nodes?x=1", "").wantField(422, "x", "unknown_parameter")
}

func TestANodeIsDrainedAndResumed(t *testing.T) {
	e := newEdge(t)
	require.Equal(t, "DRAINING", e.call("POST", "/api/v1/nodes/node-1/drain", "").want(200).json()["status"])
	require.Equal(t, "UP", e.call("POST", "/api/v1/nodes/node-1/resume", "").want(200).json()["status"])
	e.call("POST", "/api/v1/nodes/none/drain", "").wantCode(404, "not_found")
	e.call("POST", "/api/v1/nodes/node-2/drain", "").wantCode(409, "node_down")
}
