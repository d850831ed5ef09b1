package persistencetest

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
)

func testRetention(t *testing.T, open Opener) {
	t.Run("runs that are needed stay", func(t *testing.T) { purgeNeeded(t, open(t, nil)) })
	t.Run("small steps reach everything", func(t *testing.T) { purgeInSteps(t, open(t, nil)) })
	t.Run("logs and others", func(t *testing.T) { purgeRest(t, open(t, nil)) })
}

// final makes a run one that ended at a moment.
func final(e *entity.Execution, at time.Time) *entity.Execution {
	e.Status, e.Claim, e.EndTime, e.UpdateTime = entity.StatusSuccess, "", at, at
	return e
}

func purgeNeeded(t *testing.T, s *persistence.Store) {
	old, limit := noon.AddDate(0, 0, -40), noon.AddDate(0, 0, -30)
	n := 0
	next := func() *entity.Execution {
		n++
		return runOf(jobID(n), old.Add(time.Duration(n)*time.Second))
	}
	plain, waiting, running, letter, replayed := final(next(), old), next(), startedOn(next(), "n1", 1), final(next(), old), final(next(), old)
	root, middle := final(next(), old), final(next(), old)
	middle.RetryOf, middle.RootID = root.ID, root.ID
	live := runOf(jobID(50), noon)
	live.RetryOf, live.RootID = middle.ID, root.ID
	doneRoot, doneReplay := final(next(), old), final(runOf(jobID(51), noon), noon)
	doneReplay.RetryOf, doneReplay.RootID = doneRoot.ID, doneRoot.ID
	lateEnd := final(next(), noon) // an old fire that ended lately
	young := final(runOf(jobID(52), noon), noon)
	add(t, s, nil, plain, waiting, running, letter, replayed, root, middle, live, doneRoot, doneReplay, lateEnd, young)
	write(t, s, func(ctx context.Context, tx repository.Tx) error {
		require.NoError(t, tx.Records.AddAttempts(ctx, []entity.Attempt{{ExecutionID: plain.ID, Attempt: 1, Status: entity.StatusFailed}}))
		return tx.Records.AddDeadLetters(ctx, []entity.DeadLetter{
			{ExecutionID: letter.ID, JobID: letter.JobID, CreateTime: old},
			{ExecutionID: replayed.ID, JobID: replayed.JobID, CreateTime: old, ReplayedAs: jobID(90)},
		})
	})
	purged, err := s.PurgeExecutions(t.Context(), limit, 100)
	require.NoError(t, err)
	require.Equal(t, 3, purged.Deleted)
	require.False(t, purged.More)
	for name, e := range map[string]*entity.Execution{"plain": plain, "replayed letter": replayed, "root of an ended replay": doneRoot} {
		_, err := s.Executions.Get(t.Context(), e.ID)
		require.True(t, apperror.Is(err, apperror.KindNotFound), name)
	}
	for _, e := range []*entity.Execution{waiting, running, letter, root, middle, live, doneReplay, lateEnd, young} {
		require.Equal(t, e, get(t, s, e.ID))
	}
	left, err := s.Executions.Attempts(t.Context(), plain.ID)
	require.NoError(t, err)
	require.Empty(t, left)
	_, err = s.DeadLetter(t.Context(), replayed.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound))
	_, err = s.DeadLetter(t.Context(), letter.ID)
	require.NoError(t, err)
}

func purgeInSteps(t *testing.T, s *persistence.Store) {
	old := noon.AddDate(0, 0, -40)
	var rows []*entity.Execution
	for n := range 1300 { // the first thousand must stay and must not hide the rest
		e := runOf(jobID(n), old.Add(time.Duration(n)*time.Second))
		if n >= 1000 {
			final(e, old)
		}
		rows = append(rows, e)
	}
	add(t, s, nil, rows...)
	round := func() (total int) {
		for steps := 0; ; steps++ {
			require.LessOrEqual(t, steps, 14)
			p, err := s.PurgeExecutions(t.Context(), noon, 100)
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
	write(t, s, func(ctx context.Context, tx repository.Tx) error { // what becomes final is found on the next round
		e := final(rows[3], old)
		return tx.Executions.Update(ctx, e, entity.StatusWaiting, 0)
	})
	require.Equal(t, 1, round())
}

func purgeRest(t *testing.T, s *persistence.Store) {
	before := time.Now().Add(-time.Hour)
	run := runOf(jobID(1), noon).ID
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
		chunks = append(chunks, entity.LogChunk{ID: id.String(), JobID: jobID(1), ExecutionID: run, Attempt: 1, Type: entity.LogStdout, SeqFrom: n + 1, SeqTo: n + 1, Content: "x", CreateTime: created})
	}
	write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddLogs(ctx, chunks) })
	for _, want := range []int{3, 2, 0} {
		p, err := s.PurgeLogs(t.Context(), before, 3)
		require.NoError(t, err)
		require.Equal(t, []any{want, want == 3}, []any{p.Deleted, p.More})
	}
	left, err := s.Logs(t.Context(), repository.LogPage{ExecutionID: run})
	require.NoError(t, err)
	require.Equal(t, chunks[5:], left)

	for i, hash := range []string{"a", "b", "c"} {
		require.NoError(t, s.AddSession(t.Context(), entity.Session{TokenHash: hash, UserID: jobID(1), ExpiresAt: noon.Add(time.Duration(i) * time.Hour), CreateTime: noon}, 100))
		_, ok, err := s.Begin(t.Context(), entity.IdempotentCall{Scope: "s", Key: hash, CreateTime: noon.Add(time.Duration(i) * time.Hour)}, time.Hour)
		require.NoError(t, err)
		require.True(t, ok)
	}
	for _, want := range []int{3, 1, 0} {
		p, err := s.PurgeOthers(t.Context(), noon.Add(90*time.Minute), 3)
		require.NoError(t, err)
		require.Equal(t, []any{want, want == 3}, []any{p.Deleted, p.More})
	}
	_, err = s.SessionByHash(t.Context(), "c", noon)
	require.NoError(t, err)
}
