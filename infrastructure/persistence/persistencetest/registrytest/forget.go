package registrytest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Forgetting runs the suite over stores that open gives: a node is forgotten that has
// been down for long and that nobody needs.
func Forgetting(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	for _, id := range []string{"n1", "n2", "n3", "n", "N1"} {
		_, err := s.Register(t.Context(), entity.Node{ID: id})
		require.NoError(t, err)
		if id != "n3" {
			require.NoError(t, s.Leave(t.Context(), id, 1))
		}
	}
	running := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 1)
	waiting := storetest.RunOf(storetest.JobID(2), storetest.Noon)
	waiting.Claim = entity.NodeQueue("n2", entity.SlotCommand).Key(5, storetest.Noon)
	storetest.Add(t, s, []*entity.Job{storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)},
		running, waiting)
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
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if _, err := tx.Executions.Finish(ctx, []repository.Finish{storetest.FinishOf(running)}, time.Now()); err != nil {
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
