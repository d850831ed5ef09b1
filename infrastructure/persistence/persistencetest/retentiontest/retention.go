// Package retentiontest is the contract of the deletion of what is old.
package retentiontest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Retention runs the suite over stores that open gives.
func Retention(t *testing.T, open storetest.Opener) {
	t.Run("runs that are needed stay", func(t *testing.T) { purgeNeeded(t, open(t, nil)) })
	t.Run("steps stay with their workflow run", func(t *testing.T) { purgeSteps(t, open(t, nil)) })
	t.Run("small steps reach everything", func(t *testing.T) { purgeInSteps(t, open(t, nil)) })
	t.Run("logs and others", func(t *testing.T) { purgeRest(t, open(t, nil)) })
}

func purgeNeeded(t *testing.T, s *persistence.Store) {
	old, limit := storetest.Noon.AddDate(0, 0, -40), storetest.Noon.AddDate(0, 0, -30)
	n := 0
	next := func() *entity.Execution {
		n++
		return storetest.RunOf(storetest.JobID(n), old.Add(time.Duration(n)*time.Second))
	}
	plain, waiting, running, letter, replayed := storetest.Ended(next(), old), next(),
		storetest.StartedOn(next(), "n1", 1), storetest.Ended(next(), old), storetest.Ended(next(), old)
	root, middle := storetest.Ended(next(), old), storetest.Ended(next(), old)
	middle.RetryOf, middle.RootID = root.ID, root.ID
	live := storetest.RunOf(storetest.JobID(50), storetest.Noon)
	live.RetryOf, live.RootID = middle.ID, root.ID
	doneRoot, doneReplay := storetest.Ended(next(), old),
		storetest.Ended(storetest.RunOf(storetest.JobID(51), storetest.Noon), storetest.Noon)
	doneReplay.RetryOf, doneReplay.RootID = doneRoot.ID, doneRoot.ID
	lateEnd := storetest.Ended(next(), storetest.Noon) // an old fire that ended lately
	young := storetest.Ended(storetest.RunOf(storetest.JobID(52), storetest.Noon), storetest.Noon)
	owes := storetest.Ended(next(), old) // nobody has started what follows it
	storetest.Add(t, s, nil, owes, plain, waiting, running, letter, replayed, root, middle, live, doneRoot, doneReplay,
		lateEnd, young)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		require.NoError(t, tx.Records.AddAttempts(ctx,
			[]entity.Attempt{{ExecutionID: plain.ID, Attempt: 1, Status: entity.StatusFailed}}))
		took := entity.Usage{CPUMs: 5, PeakKb: 6}
		require.NoError(t, tx.Records.AddUsages(ctx, []entity.AttemptUsage{
			{ExecutionID: plain.ID, Attempt: 1, Usage: took},
			{ExecutionID: plain.ID, Attempt: 2, Usage: took},
			{ExecutionID: young.ID, Attempt: 1, Usage: took},
		}))
		require.NoError(t, tx.Records.AddHolds(ctx, []entity.Hold{
			{ExecutionID: plain.ID, Attempt: 1, Count: 1}, {ExecutionID: young.ID, Attempt: 1, Count: 1},
		}))
		require.NoError(t, tx.Todos.AddTodos(ctx, []entity.Todo{{Run: owes.ID, Kind: entity.TodoNext, Time: old}}))
		return tx.Records.AddDeadLetters(ctx, []entity.DeadLetter{
			{ExecutionID: letter.ID, JobID: letter.JobID, CreateTime: old},
			{ExecutionID: replayed.ID, JobID: replayed.JobID, CreateTime: old, ReplayedAs: storetest.JobID(90)},
		})
	})
	purged, err := s.PurgeExecutions(t.Context(), limit, 100)
	require.NoError(t, err)
	require.Equal(t, 3, purged.Deleted)
	require.False(t, purged.More)
	for name, e := range map[string]*entity.Execution{
		"plain": plain, "replayed letter": replayed,
		"root of an ended replay": doneRoot,
	} {
		_, err := s.Executions.Get(t.Context(), e.ID)
		require.True(t, apperror.Is(err, apperror.KindNotFound), name)
	}
	for _, e := range []*entity.Execution{owes, waiting, running, letter, root, middle, live, doneReplay, lateEnd, young} {
		require.Equal(t, e, storetest.Get(t, s, e.ID))
	}
	left, err := s.Executions.Attempts(t.Context(), plain.ID)
	require.NoError(t, err)
	require.Empty(t, left)
	for id, rows := range map[string]int{plain.ID: 0, young.ID: 1} {
		usages, err := s.Executions.Usages(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, usages, rows, "usage goes with its run")
		holds, err := s.Executions.Holds(t.Context(), []string{id})
		require.NoError(t, err)
		require.Len(t, holds, rows, "holds go with their run")
	}
	_, err = s.DeadLetter(t.Context(), replayed.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	_, err = s.DeadLetter(t.Context(), letter.ID)
	require.NoError(t, err)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Todos.DropTodos(ctx, []entity.Todo{{Run: owes.ID, Kind: entity.TodoNext}})
		return err
	})
	purged, err = s.PurgeExecutions(t.Context(), limit, 100)
	require.NoError(t, err)
	require.Equal(t, 1, purged.Deleted, "its start is made")
	_, err = s.Executions.Get(t.Context(), owes.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

func purgeInSteps(t *testing.T, s *persistence.Store) {
	old := storetest.Noon.AddDate(0, 0, -40)
	var rows []*entity.Execution
	for n := range 1300 { // the first thousand must stay and must not hide the rest
		e := storetest.RunOf(storetest.JobID(n), old.Add(time.Duration(n)*time.Second))
		if n >= 1000 {
			storetest.Ended(e, old)
		}
		rows = append(rows, e)
	}
	storetest.Add(t, s, nil, rows...)
	round := func() (total int) {
		for steps := 0; ; steps++ {
			require.LessOrEqual(t, steps, 14)
			p, err := s.PurgeExecutions(t.Context(), storetest.Noon, 100)
			require.NoError(t, err)
			require.LessOrEqual(t, p.Deleted, 100)
			if total += p.Deleted; !p.More {
				return total
			}
			require.WithinRange(t, p.Reached, old, old.Add(1300*time.Second))
		}
	}
	require.Equal(t, 300, round())
	require.Zero(t, round())
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		// what becomes final is found on the next round
		e := storetest.Ended(rows[3], old)
		return tx.Executions.Update(ctx, e, entity.StatusWaiting, 0)
	})
	require.Equal(t, 1, round())
}

func purgeRest(t *testing.T, s *persistence.Store) {
	before := time.Now().Add(-time.Hour)
	run := storetest.RunOf(storetest.JobID(1), storetest.Noon).ID
	var chunks []entity.LogChunk
	for n := range int64(7) {
		id := uuid.Must(uuid.NewV7())
		created := time.Now().UTC().Truncate(time.Millisecond)
		if n < 5 {
			created = created.AddDate(0, 0, -9)
			for i := range 6 { // the id of that day
				id[i] = byte(created.UnixMilli() >> (8 * (5 - i)))
			}
		}
		chunks = append(chunks, entity.LogChunk{
			ID: id.String(), JobID: storetest.JobID(1), ExecutionID: run, Attempt: 1,
			Type: entity.LogStdout, SeqFrom: n + 1, SeqTo: n + 1, Content: "x", CreateTime: created,
		})
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddLogs(ctx, chunks) })
	for _, want := range []int{3, 2, 0} {
		p, err := s.PurgeLogs(t.Context(), before, 3)
		require.NoError(t, err)
		require.Equal(t, []any{want, want == 3}, []any{p.Deleted, p.More})
	}
	left, err := s.Logs(t.Context(), repository.LogPage{ExecutionID: run})
	require.NoError(t, err)
	require.Equal(t, chunks[5:], left)

	for i, hash := range []string{"a", "b", "c"} {
		require.NoError(t, s.AddSession(t.Context(), entity.Session{
			TokenHash: hash, UserID: storetest.JobID(1),
			ExpiresAt: storetest.Noon.Add(time.Duration(i) * time.Hour), CreateTime: storetest.Noon,
		}, 100))
		_, ok, err := s.Begin(t.Context(),
			entity.IdempotentCall{Scope: "s", Key: hash, CreateTime: storetest.Noon.Add(time.Duration(i) * time.Hour)},
			time.Hour)
		require.NoError(t, err)
		require.True(t, ok)
	}
	for _, want := range []int{3, 1, 0} {
		p, err := s.PurgeOthers(t.Context(), storetest.Noon.Add(90*time.Minute), 3)
		require.NoError(t, err)
		require.Equal(t, []any{want, want == 3}, []any{p.Deleted, p.More})
	}
	_, err = s.SessionByHash(t.Context(), "c", storetest.Noon)
	require.NoError(t, err)
}
