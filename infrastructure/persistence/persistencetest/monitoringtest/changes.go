package monitoringtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Changes tests repository.Changes: what is behind an id, in order, and no more than asked for.
func Changes(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	job := storetest.PlannedJob(1, storetest.Noon)
	early := storetest.RunOf(job.ID, storetest.Noon)
	late := storetest.StartedOn(storetest.RunOf(job.ID, storetest.Noon.Add(time.Minute)), "n1", 1)
	storetest.Add(t, s, []*entity.Job{job}, early, late)
	stateOf := func(e *entity.Execution) repository.ExecutionState {
		stored := storetest.Get(t, s, e.ID)
		return repository.ExecutionState{
			ID: stored.ID, JobID: job.ID, Status: stored.Status, Attempt: stored.Attempt, Progress: stored.Progress,
		}
	}
	all := []repository.ExecutionState{stateOf(early), stateOf(late)}
	require.NotEqual(t, all[0].Status, all[1].Status)

	from := identity.FloorID(storetest.Noon.Add(-time.Second))
	found, err := s.Statistics.ExecutionsAfter(t.Context(), from, 10)
	require.NoError(t, err)
	require.Equal(t, all, found)
	found, err = s.Statistics.ExecutionsAfter(t.Context(), from, 1)
	require.NoError(t, err)
	require.Equal(t, all[:1], found)
	found, err = s.Statistics.ExecutionsAfter(t.Context(), early.ID, 10)
	require.NoError(t, err)
	require.Equal(t, all[1:], found)
	found, err = s.Statistics.ExecutionStates(t.Context(), []string{late.ID, "none", early.ID})
	require.NoError(t, err)
	require.Equal(t, all, found)
	found, err = s.Statistics.ExecutionStates(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, found)

	asked := storetest.RunOf(job.ID, storetest.Noon.Add(2*time.Minute))
	later := storetest.RunOf(job.ID, storetest.Noon.Add(3*time.Minute))
	asked.WaitForApproval(storetest.Noon.Add(time.Hour))
	later.WaitForApproval(storetest.Noon.Add(2 * time.Hour))
	decided := storetest.RunOf(job.ID, storetest.Noon.Add(4*time.Minute))
	decided.WaitForApproval(storetest.Noon.Add(time.Hour))
	storetest.Add(t, s, nil, later, asked, storetest.Ended(decided, storetest.Noon))
	for limit, want := range map[int][]string{10: {asked.ID, later.ID}, 1: {asked.ID}} {
		ids, err := s.Statistics.OpenApprovals(t.Context(), limit)
		require.NoError(t, err)
		require.Equal(t, want, ids)
	}

	runSeqs(t, s)
	for i, data := range []string{"one", "two"} {
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error {
			return w.AddDigests(ctx, storetest.Noon.Add(time.Duration(i)*time.Second),
				[]statistics.Digest{{Ends: 1, Data: []byte(data)}})
		})
	}
	first, ok := identity.Bytes(from)
	require.True(t, ok)
	digests, err := s.Statistics.DigestsAfter(t.Context(), first, 10)
	require.NoError(t, err)
	require.Len(t, digests, 2)
	require.Equal(t, []string{"one", "two"}, []string{string(digests[0].Data), string(digests[1].Data)})
	after, err := s.Statistics.DigestsAfter(t.Context(), digests[0].ID, 10)
	require.NoError(t, err)
	require.Equal(t, digests[1:], after)
}

// runSeqs: the number of a workflow run grows with each change of its row, and of that alone.
func runSeqs(t *testing.T, s *persistence.Store) {
	a, b := workflow.Run{ID: "a", WorkflowID: "w", Version: 1, CreateTime: storetest.Noon}, workflow.Run{ID: "b"}
	b.WorkflowID, b.Version, b.CreateTime = "w", 1, storetest.Noon
	a.UpdateTime, b.UpdateTime = storetest.Noon, storetest.Noon
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{a, b})
	})
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.WorkflowRuns.SaveRuns(ctx, []workflow.Run{b}, storetest.Noon)
	})
	found, err := s.Statistics.RunSeqs(t.Context(), []string{"b", "none", "a"})
	require.NoError(t, err)
	require.Equal(t, []repository.RunSeq{{ID: "a", Seq: 0}, {ID: "b", Seq: 1}}, found)
	found, err = s.Statistics.RunSeqs(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, found)
}
