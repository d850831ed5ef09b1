package node_test

import (
	"testing"

	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
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
