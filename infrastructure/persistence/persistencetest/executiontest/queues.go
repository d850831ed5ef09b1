package executiontest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Queues runs the suite over stores that open gives.
func Queues(t *testing.T, open storetest.Opener) {
	t.Run("several are one order", func(t *testing.T) { claimMerged(t, open(t, nil)) })
	t.Run("what is not in them is left alone", func(t *testing.T) { claimOwnOnly(t, open(t, nil)) })
	t.Run("each run has a holder of its own", func(t *testing.T) { claimForOthers(t, open(t, nil)) })
	t.Run("claimers at once never share a run", func(t *testing.T) { claimMergedAtOnce(t, open(t, nil)) })
	t.Run("the greatest key tells what waits", func(t *testing.T) { lastKey(t, open(t, nil)) })
	t.Run("the latest runs of a job", func(t *testing.T) { recent(t, open(t, nil)) })
	t.Run("outcomes of a job are read page by page", func(t *testing.T) { outcomes(t, open(t, nil)) })
	t.Run("the registry is read inside a transaction", func(t *testing.T) { nodesInside(t, open(t, nil)) })
}

var zoneA = map[string]string{"zone": "a"}

// in is a run that waits in a queue.
func in(q entity.Queue, n, priority int, fair time.Time) *entity.Execution {
	e := storetest.RunOf(storetest.JobID(n), storetest.Noon)
	e.Priority, e.Claim = priority, q.Key(priority, fair)
	return e
}

// claimFrom takes from queues.
func claimFrom(t testing.TB, s *persistence.Store, node string, limit int, queues ...entity.Queue) []*entity.Execution {
	t.Helper()
	var out []*entity.Execution
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		out, err = tx.Executions.Claim(ctx, repository.ClaimRequest{
			NodeID: node, Epoch: 1, Limit: limit, Now: storetest.Noon,
			Queues: queues,
		})
		return err
	})
	return out
}

// Strict priorities hold over the queues of a node together, however many runs
// stand at the head of one of them.
func claimMerged(t *testing.T, s *persistence.Store) {
	queues := []entity.Queue{entity.CommonQueue, entity.NodeQueue("n1", entity.SlotGeneral), entity.LabelQueue(zoneA)}
	var rows []*entity.Execution
	for n := range 60 {
		rows = append(rows, in(queues[n%7%3], n, 1+n%10, storetest.Noon.Add(time.Duration(n*n%11)*time.Second)))
	}
	late := in(queues[1], 100, 10, storetest.Noon)
	late.StartDeadline = storetest.Noon
	storetest.Add(t, s, nil, append(slices.Clone(rows), late)...)
	slices.SortFunc(rows, func(a, b *entity.Execution) int {
		if a.Priority != b.Priority {
			return b.Priority - a.Priority
		}
		if a.Claim.SortKey() != b.Claim.SortKey() {
			return map[bool]int{true: -1, false: 1}[a.Claim.SortKey() < b.Claim.SortKey()]
		}
		return map[bool]int{true: -1, false: 1}[a.ID < b.ID]
	})
	var got []string
	for {
		part := claimFrom(t, s, "n1", 7, queues...)
		if len(part) == 0 {
			break
		}
		require.LessOrEqual(t, len(part), 7)
		for _, e := range part {
			require.Equal(t, []any{entity.StatusRunning, "n1", entity.RunningKey("n1"), int64(1)},
				[]any{e.Status, e.NodeID, e.Claim, e.Token})
			require.Equal(t, e, storetest.Get(t, s, e.ID), "what is returned is what is stored")
		}
		got = append(got, storetest.IDs(part)...)
	}
	require.Equal(t, storetest.IDs(rows), got)
}

func claimOwnOnly(t *testing.T, s *persistence.Store) {
	own, common := in(entity.NodeQueue("n1", entity.SlotGeneral), 1, 5, storetest.Noon),
		in(entity.CommonQueue, 2, 5, storetest.Noon)
	others := []*entity.Execution{
		in(entity.NodeQueue("n10", entity.SlotGeneral), 3, 10, storetest.Noon),
		in(entity.NodeQueue("n", entity.SlotGeneral), 4, 10, storetest.Noon), in(entity.NodeQueue("n1-a", entity.SlotGeneral),
			5, 10, storetest.Noon),
		in(entity.NodeQueue("n1", entity.SlotCommand), 8, 10, storetest.Noon),
		in(entity.ClassQueue(entity.NodeClass{Command: true}), 9, 10, storetest.Noon),
		in(entity.LabelQueue(zoneA), 6, 10, storetest.Noon),
		in(entity.UnroutableQueue(entity.NodeClass{Labels: zoneA}, entity.WaitNode), 7, 10, storetest.Noon),
	}
	storetest.Add(t, s, nil, append(others, own, common)...)
	require.Equal(t, []string{common.ID}, storetest.IDs(storetest.Claim(t, s, "n1", 10, storetest.Noon)),
		"without queues it is the common one")
	require.Equal(t, []string{own.ID},
		storetest.IDs(claimFrom(t, s, "n1", 10, entity.CommonQueue, entity.NodeQueue("n1", entity.SlotGeneral))))
	for _, e := range others {
		require.Equal(t, entity.StatusWaiting, storetest.Get(t, s, e.ID).Status)
	}
	require.Equal(t, []string{others[0].ID},
		storetest.IDs(claimFrom(t, s, "n10", 10, entity.NodeQueue("n10", entity.SlotGeneral))), "one queue alone")
	require.ElementsMatch(t, []string{others[3].ID, others[4].ID},
		storetest.IDs(claimFrom(t, s, "n1", 10, entity.NodeQueue("n1", entity.SlotCommand),
			entity.ClassQueue(entity.NodeClass{Command: true}))))
}

// claimForOthers: a gateway takes runs for workers, each for its own.
func claimForOthers(t *testing.T, s *persistence.Store) {
	q := entity.ClassQueue(entity.NodeClass{Workers: "shop"})
	rows := []*entity.Execution{
		in(q, 1, 5, storetest.Noon), in(q, 2, 5, storetest.Noon), in(q, 3, 5, storetest.Noon), in(q, 4, 5, storetest.Noon),
		in(entity.CommonQueue, 5, 5, storetest.Noon),
	}
	rows[1].ErrorMessage = "why it did not begin"
	late := in(q, 6, 5, storetest.Noon)
	late.StartDeadline = storetest.Noon
	storetest.Add(t, s, nil, append(slices.Clone(rows), late)...)
	holders := map[string]repository.Holder{
		rows[0].ID: {NodeID: "@shop.b", Epoch: 3}, rows[1].ID: {NodeID: "@shop.a", Epoch: 7},
		rows[3].ID: {NodeID: "@shop.b", Epoch: 3},
		rows[4].ID: {NodeID: "@shop.a", Epoch: 7}, late.ID: {NodeID: "@shop.a", Epoch: 7},
	}
	var got []*entity.Execution
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		got, err = tx.Executions.Claim(ctx, repository.ClaimRequest{
			NodeID: "n1", Epoch: 1, Limit: 10, Now: storetest.Noon, Queues: []entity.Queue{q},
			Only: slices.Collect(maps.Keys(holders)), Holders: holders,
		})
		return err
	})
	require.ElementsMatch(t, []string{rows[0].ID, rows[1].ID, rows[3].ID}, storetest.IDs(got))
	for _, e := range got {
		h := holders[e.ID]
		require.Equal(t, []any{entity.StatusRunning, h.NodeID, h.Epoch, entity.RunningKey(h.NodeID), int64(1), 1, ""},
			[]any{e.Status, e.NodeID, e.Epoch, e.Claim, e.Token, e.Attempt, e.ErrorMessage})
		require.Equal(t, e, storetest.Get(t, s, e.ID), "what is returned is what is stored")
	}
	held, err := s.Held(t.Context(), "@shop.b")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{rows[0].ID, rows[3].ID}, storetest.IDs(held))
	asked := []string{"@shop.b", "@shop.c"}
	for range 2 { // of few workers, and of many
		held, err = s.HeldByAll(t.Context(), asked)
		require.NoError(t, err)
		require.ElementsMatch(t, []string{rows[0].ID, rows[3].ID}, storetest.IDs(held))
		for n := range 2000 {
			asked = append(asked, fmt.Sprintf("@shop.idle-%d", n))
		}
	}
	holding, err := s.HeldBy(t.Context(), entity.WorkerHeldSpan())
	require.NoError(t, err)
	require.Equal(t, []string{"@shop.a", "@shop.b"}, holding)
	require.Equal(t, []string{rows[4].ID}, storetest.IDs(storetest.Claim(t, s, "n1", 10, storetest.Noon)))
	holding, err = s.HeldBy(t.Context(), entity.HeldSpan())
	require.NoError(t, err)
	require.Equal(t, []string{"@shop.a", "@shop.b", "n1"}, holding)
	for _, e := range []*entity.Execution{rows[2], late} {
		require.Equal(t, entity.StatusWaiting, storetest.Get(t, s, e.ID).Status)
	}
}

func claimMergedAtOnce(t *testing.T, s *persistence.Store) {
	const runs, claimers = 200, 3
	var rows []*entity.Execution
	for n := range runs {
		q := entity.CommonQueue
		if n%2 == 0 {
			q = entity.LabelQueue(zoneA)
		}
		rows = append(rows, in(q, n, 1+n%10, storetest.Noon))
	}
	storetest.Add(t, s, nil, rows...)
	owners := claimAll(t, s, runs, claimers, func(node string) repository.ClaimRequest {
		return repository.ClaimRequest{
			NodeID: node, Epoch: 1, Limit: 7, Now: storetest.Noon,
			Queues: []entity.Queue{entity.CommonQueue, entity.NodeQueue(node, entity.SlotGeneral), entity.LabelQueue(zoneA)},
		}
	})
	require.Len(t, owners, runs)
}

func lastKey(t *testing.T, s *persistence.Store) {
	last := func(hi entity.ClaimKey) entity.ClaimKey {
		key, err := s.Last(t.Context(), entity.ReadySpan().Lo, hi)
		require.NoError(t, err)
		return key
	}
	require.Empty(t, last(entity.QueueSpan().Hi))
	common := in(entity.CommonQueue, 1, 1, storetest.Noon)
	storetest.Add(t, s, nil, storetest.StartedOn(storetest.RunOf(storetest.JobID(9), storetest.Noon), "n1", 1),
		in(entity.CommonQueue, 2, 10, storetest.Noon), common)
	require.Equal(t, common.Claim, last(entity.QueueSpan().Hi))
	unplaced := in(entity.UnroutableQueue(entity.NodeClass{Labels: zoneA}, entity.WaitNode), 3, 5, storetest.Noon)
	storetest.Add(t, s, nil, unplaced)
	require.Equal(t, common.Claim, last(entity.ReadySpan().Hi))
	require.Equal(t, unplaced.Claim, last(entity.QueueSpan().Hi))
}

func recent(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	for n := range 5 {
		rows = append(rows, storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Duration(n)*time.Second)))
	}
	rows[3] = storetest.StartedOn(rows[3], "n1", 1)
	storetest.Add(t, s, nil, append(rows, storetest.RunOf(storetest.JobID(2), storetest.Noon))...)
	got, err := s.Executions.Recent(t.Context(), storetest.JobID(1), 3)
	require.NoError(t, err)
	require.Equal(t, []string{rows[4].ID, rows[3].ID, rows[2].ID}, storetest.IDs(got))
	for i, e := range got {
		full := rows[4-i]
		require.Equal(t, []any{full.Status, full.NodeID, full.Claim, full.StartTime, full.UpdateTime},
			[]any{e.Status, e.NodeID, e.Claim, e.StartTime, e.UpdateTime})
	}
	got, err = s.Executions.Recent(t.Context(), storetest.JobID(7), 3)
	require.NoError(t, err)
	require.Empty(t, got)
}

func outcomes(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	for n := range 5 {
		rows = append(rows, storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Duration(n)*time.Second)))
	}
	rows[2].ShardIndex, rows[2].ShardTotal = 1, 3
	rows[3] = storetest.StartedOn(rows[3], "n1", 1)
	rows[3].RetryOf, rows[3].RootID = rows[0].ID, rows[0].ID
	storetest.Add(t, s, nil, append(rows, storetest.RunOf(storetest.JobID(2), storetest.Noon))...)
	var got []*entity.Execution
	for before, pages := "", 0; pages < 3; pages++ {
		page, err := s.Executions.Outcomes(t.Context(), storetest.JobID(1), before, 2)
		require.NoError(t, err)
		got = append(got, page...)
		before = page[len(page)-1].ID
	}
	require.Equal(t, []string{rows[4].ID, rows[3].ID, rows[2].ID, rows[1].ID, rows[0].ID}, storetest.IDs(got))
	for i, e := range got {
		full, err := s.Executions.Get(t.Context(), e.ID)
		require.NoError(t, err)
		require.Equal(t, &entity.Execution{
			ID: full.ID, JobID: full.JobID, FireKey: full.FireKey, ShardIndex: full.ShardIndex, ShardTotal: full.ShardTotal,
			RetryOf: full.RetryOf, Status: full.Status, SkipTo: full.SkipTo, ScheduledTime: full.ScheduledTime,
			EndTime: full.EndTime, UpdateTime: full.UpdateTime,
		}, got[i])
	}
}

func nodesInside(t *testing.T, s *persistence.Store) {
	for i := range 2 {
		_, err := s.Register(t.Context(), entity.Node{ID: fmt.Sprintf("n%d", 2-i), Labels: zoneA, Slots: 3})
		require.NoError(t, err)
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		inside, err := tx.Nodes.All(ctx)
		if err != nil {
			return err
		}
		outside, err := s.All(ctx)
		require.Equal(t, outside, inside)
		require.Equal(t, []string{"n1", "n2"}, []string{inside[0].ID, inside[1].ID})
		require.Equal(t, zoneA, inside[0].Labels)
		return err
	})
}
