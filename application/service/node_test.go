package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestNodesAndTheirPartitions(t *testing.T) {
	d := newDesk(t)
	d.Join(t, enginetest.Options{}, enginetest.Options{})
	s := service.NewNodeService(d.Store)
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

// A run of a broadcast that is repeated by hand stays with its node.
func TestARepeatedBroadcastRunStaysOnItsNode(t *testing.T) {
	d := newDesk(t)
	d.Join(t, enginetest.Options{})
	j := d.create(enginetest.Job("all", func(j *entity.Job) { j.Broadcast = true }))
	ids := d.trigger(j.ID)
	require.Len(t, ids, 2)
	for i, id := range ids {
		d.finish(id, entity.StatusFailed, entity.ReasonError)
		again, err := d.Executions.Retry(t.Context(), id, entity.Actor{})
		require.NoError(t, err)
		row := d.Execution(t, again)
		require.Equal(t, []any{d.Execution(t, id).NodeID, i, 2}, []any{row.NodeID, row.ShardIndex, row.ShardTotal})
		d.finish(again, entity.StatusFailed, entity.ReasonError)
	}
	require.NoError(t, d.Store.Leave(t.Context(), "node-2", 1))
	again, err := d.Executions.Retry(t.Context(), ids[1], entity.Actor{})
	require.NoError(t, err)
	require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States([]*entity.Execution{d.Execution(t, again)}))
}

// A broadcast that found nobody is repeated as a whole.
func TestABroadcastToNobodyIsRepeatedToAll(t *testing.T) {
	d := newDesk(t)
	d.Join(t, enginetest.Options{})
	j := d.create(enginetest.Job("all", func(j *entity.Job) {
		j.Broadcast, j.Routing.Labels = true, map[string]string{"gpu": "yes"}
	}))
	ids := d.trigger(j.ID)
	require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States(d.rows(j.ID)))
	d.replace(j.ID, func(j *entity.Job) { j.Routing.Labels = nil })
	_, err := d.Executions.Retry(t.Context(), ids[0], entity.Actor{})
	require.NoError(t, err)
	require.Equal(t, []string{"SKIPPED(NO_NODE)", "WAITING", "WAITING"}, enginetest.States(d.rows(j.ID)))
}
