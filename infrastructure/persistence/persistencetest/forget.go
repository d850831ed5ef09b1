package persistencetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// A node is forgotten that has been down for long and that nobody needs.
func testForgetting(t *testing.T, open Opener) {
	s := open(t, nil)
	for _, id := range []string{"n1", "n2", "n3", "n", "N1"} {
		_, err := s.Register(t.Context(), entity.Node{ID: id})
		require.NoError(t, err)
		if id != "n3" {
			require.NoError(t, s.Leave(t.Context(), id, 1))
		}
	}
	running := startedOn(runOf(jobID(1), noon), "n1", 1)
	waiting := runOf(jobID(2), noon)
	waiting.Claim = entity.NodeQueue("n2", entity.SlotCommand).Key(5, noon)
	add(t, s, []*entity.Job{plannedJob(1, noon), plannedJob(2, noon)}, running, waiting)
	forget := func(before time.Time, want int, left ...string) {
		t.Helper()
		gone, err := s.ForgetNodes(t.Context(), before)
		require.NoError(t, err)
		require.Equal(t, want, gone)
		nodes, err := s.All(t.Context())
		require.NoError(t, err)
		var ids []string
		for _, n := range nodes {
			ids = append(ids, n.ID)
		}
		require.ElementsMatch(t, left, ids)
	}
	forget(time.Now().Add(-time.Hour), 0, "n1", "n2", "n3", "n", "N1")
	forget(time.Now().Add(time.Hour), 2, "n1", "n2", "n3") // one runs something, one has a queue, one is up
	write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Executions.Finish(ctx, []repository.Finish{finishOf(running)}); err != nil {
			return err
		}
		held, err := tx.Executions.Lock(ctx, []string{waiting.ID})
		if err != nil {
			return err
		}
		held[0].Claim = held[0].Claim.In(entity.CommonQueue)
		return tx.Executions.Update(ctx, held[0], entity.StatusWaiting, 0)
	})
	forget(time.Now().Add(time.Hour), 2, "n3")
}
