package node_test

import (
	"context"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestNodesAndTheirPartitions(t *testing.T) {
	d := servicetest.New(t)
	d.Join(t, enginetest.Options{}, enginetest.Options{})
	s := node.NewNodeService(d.Store, "")
	require.NoError(t, d.Store.Leave(t.Context(), "node-3", 1))
	nodes, err := s.List(t.Context())
	require.NoError(t, err)
	require.Len(t, nodes, 3)
	owned := map[int]string{}
	for _, n := range nodes {
		for _, p := range n.Partitions {
			require.Empty(t, owned[p])
			owned[p] = n.ID
		}
	}
	require.Len(t, owned, entity.Partitions)
	require.Empty(t, nodes[2].Partitions, "it is gone")

	n, err := s.Drain(t.Context(), "node-2")
	require.NoError(t, err)
	require.Equal(t, []any{entity.NodeDraining, nodes[1].Partitions}, []any{n.Status, n.Partitions}, "it plans on")
	again, err := s.Drain(t.Context(), "node-2")
	require.NoError(t, err)
	require.Equal(t, n, again)
	n, err = s.Resume(t.Context(), "node-2")
	require.NoError(t, err)
	require.Equal(t, entity.NodeUp, n.Status)
	_, err = s.Drain(t.Context(), "node-3")
	require.True(t, apperror.Is(err, apperror.KindConflict))
	for _, unknown := range []string{"node-4", "", "é"} {
		_, err = s.Resume(t.Context(), unknown)
		require.True(t, apperror.Is(err, apperror.KindNotFound), unknown)
		_, err = s.Get(t.Context(), unknown)
		require.True(t, apperror.Is(err, apperror.KindNotFound), unknown)
	}
}

// oneNode is a registry of one executor with one handler, without commands.
type oneNode struct{ repository.Nodes }

func (oneNode) All(context.Context) ([]entity.Node, error) {
	return []entity.Node{{
		ID: "node-1", Status: entity.NodeUp, Roles: []string{entity.RoleExecutor},
		Handlers: []string{"load"}, HandlersHash: entity.HandlersHash([]string{"load"}), Slots: 8,
	}}, nil
}

// Of a workflow it is said which steps no node can run: each handler once, and commands.
func TestWorkflowsAreLookedAtStepByStep(t *testing.T) {
	s := node.NewNodeService(oneNode{}, "")
	flow := &entity.Job{Name: "flow", Type: entity.JobWorkflow, Data: `{"steps": [
		{"name": "a", "custom": {"jobClass": "load"}}, {"name": "b", "custom": {"jobClass": "lode"}},
		{"name": "c", "custom": {"jobClass": "lode"}}, {"name": "d", "custom": {"jobClass": "noop"}},
		{"name": "e", "command": {"command": ["true"]}}, {"name": "f", "http": {"url": "http://a"}},
		{"name": "g", "wait": {"forSec": 5}}, {"name": "h", "approval": {"text": "?"}}, {"name": "i", "job": {"name": "x"}}
	]}`}
	broken := &entity.Job{Name: "broken", Type: entity.JobWorkflow, Data: "{"}
	var found [][2]string
	warnings := s.Warnings(t.Context(), flow, broken)
	for _, w := range warnings[0] {
		found = append(found, [2]string{w.Field, w.Code})
	}
	require.Equal(t, [][2]string{
		{"jobData.steps[1].custom.jobClass", "no_handler"}, {"jobData.steps[4].command", "no_commands"},
	}, found)
	require.Contains(t, warnings[0][0].Message, `the handler "lode"`)
	require.Empty(t, warnings[1])
}
