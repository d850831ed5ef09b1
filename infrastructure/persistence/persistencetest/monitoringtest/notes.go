package monitoringtest

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Notes come in the order of their batches, and the oldest go first.
func notes(t *testing.T, s *persistence.Store) {
	all := []repository.NotedEnds{
		{Seq: 1, Prints: []uint64{0, math.MaxUint64, 7}},
		{Seq: 3},
		{Seq: 1 << 40, Prints: []uint64{1}},
	}
	for _, n := range all {
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error { return w.NoteEnds(ctx, n) })
	}
	read := func(after int64, limit int) []repository.NotedEnds {
		got, err := s.Statistics.NotesAfter(t.Context(), after, limit)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, all, read(-1, 10))
	require.Equal(t, all[1:2], read(1, 1))
	for _, want := range []int{2, 1, 0} {
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error {
			n, err := w.DropNotes(ctx, 2)
			require.Equal(t, want, n)
			return err
		})
	}
	require.Empty(t, read(-1, 10))
}

// Final executions come job by job, and by id within a job, with what statistics read of them.
func finals(t *testing.T, s *persistence.Store) {
	at := func(n int) time.Time { return storetest.Noon.Add(time.Duration(n) * time.Second) }
	jobs := []string{identity.RandomID(at(0)), identity.RandomID(at(1))}
	var want []*entity.Execution
	for _, job := range jobs {
		for n := range 4 {
			e := &entity.Execution{
				ID: identity.RandomID(at(n)), JobID: job, FireKey: identity.RandomID(at(n)), Status: entity.StatusFailed,
				Reason: entity.ReasonNodeLost, Trigger: entity.TriggerSchedule, ShardIndex: n % 2, ShardTotal: 2, JobVersion: 3,
				Attempt: 2, RetryCount: 1, RetryOf: "r", NodeID: "node-1", DueTime: at(n), StartTime: at(n + 1), EndTime: at(n + 3),
				Duration: 2 * time.Second, CreateTime: at(n), UpdateTime: at(n + 4),
			}
			if n == 3 { // a range, which did not run
				e.Status, e.SkipFrom, e.SkipTo, e.SkipCount, e.ShardIndex, e.ShardTotal = entity.StatusSkipped, at(0), at(n), 9, 0,
					1
				e.StartTime, e.Duration, e.NodeID, e.RetryOf, e.Reason = time.Time{}, 0, "", "", entity.ReasonMisfire
			}
			want = append(want, e)
		}
	}
	running := *want[0]
	running.ID, running.FireKey, running.Status, running.EndTime = identity.RandomID(at(0)), "running",
		entity.StatusRunning, time.Time{}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, append([]*entity.Execution{&running}, want...))
	})
	for _, e := range want {
		e.SkipFrom = time.Time{} // statistics need the end of a range, and how many fires it has
	}
	var got []*entity.Execution
	for after := (repository.EndCursor{}); ; {
		page, err := s.Executions.FinalAfter(t.Context(), after, time.Time{}, 3)
		require.NoError(t, err)
		got = append(got, page...)
		if len(page) < 3 {
			break
		}
		after = repository.EndCursor{JobID: page[2].JobID, ID: page[2].ID}
	}
	require.Equal(t, want, got)
	late, err := s.Executions.FinalAfter(t.Context(), repository.EndCursor{}, at(5), 10)
	require.NoError(t, err)
	require.Equal(t, []*entity.Execution{want[2], want[3], want[6], want[7]}, late)
}
