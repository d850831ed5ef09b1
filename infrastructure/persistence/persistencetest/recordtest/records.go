// Package recordtest is the contract of attempts, dead letters, logs, events and run
// tokens.
package recordtest

import (
	"context"
	"math"
	"strings"
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

// Records runs the suite over stores that open gives.
func Records(t *testing.T, open storetest.Opener) {
	t.Run("attempts", func(t *testing.T) { attempts(t, open(t, nil)) })
	t.Run("usages", func(t *testing.T) { usages(t, open(t, nil)) })
	t.Run("holds", func(t *testing.T) { holds(t, open(t, nil)) })
	t.Run("dead letters", func(t *testing.T) { deadLetters(t, open(t, nil)) })
	t.Run("outbox", func(t *testing.T) { outbox(t, open(t, nil)) })
	t.Run("outbox of two readers", func(t *testing.T) { outboxOfTwo(t, open(t, nil)) })
	t.Run("outbox overflow", func(t *testing.T) { outboxOverflow(t, open(t, nil)) })
	t.Run("outbox of age", func(t *testing.T) { outboxOfAge(t, open(t, nil)) })
	t.Run("outbox dropped at once", func(t *testing.T) { outboxDroppedAtOnce(t, open(t, nil)) })
	t.Run("logs", func(t *testing.T) { logs(t, open(t, nil)) })
	t.Run("log rows larger than a packet together", func(t *testing.T) { largeLogs(t, open(t, nil)) })
}

func attempts(t *testing.T, s *persistence.Store) {
	run := storetest.RunOf(storetest.JobID(1), storetest.Noon).ID
	attempt := func(n int) entity.Attempt {
		return entity.Attempt{
			ExecutionID: run, Attempt: n, Status: entity.StatusFailed, Reason: entity.ReasonTimeout, NodeID: "n1",
			StartTime: storetest.Noon, EndTime: storetest.Noon.Add(time.Second), ErrorMessage: "no 😀", Result: "half",
			Progress: 40, ExitCode: new(int),
		}
	}
	all := []entity.Attempt{attempt(2), attempt(1), {ExecutionID: run, Attempt: 3, Status: entity.StatusFailed}}
	for range 2 { // a transaction whose reply was lost is sent again
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddAttempts(ctx, all) })
	}
	got, err := s.Executions.Attempts(t.Context(), run)
	require.NoError(t, err)
	require.Equal(t, []entity.Attempt{all[1], all[0], all[2]}, got)
}

func usages(t *testing.T, s *persistence.Store) {
	one := storetest.RunOf(storetest.JobID(1), storetest.Noon).ID
	other := storetest.RunOf(storetest.JobID(2), storetest.Noon).ID
	most := entity.Usage{CPUMs: math.MaxInt64, PeakKb: math.MaxInt64}
	rows := []entity.AttemptUsage{
		{ExecutionID: one, Attempt: 2, Usage: most},
		{ExecutionID: one, Attempt: 1, Usage: entity.Usage{CPUMs: 7}},
		{ExecutionID: other, Attempt: 1, Usage: entity.Usage{PeakKb: 9}},
	}
	for range 2 { // a transaction whose reply was lost is sent again
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddUsages(ctx, rows) })
	}
	again := []entity.AttemptUsage{{ExecutionID: other, Attempt: 1, Usage: most}}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddUsages(ctx, again) })
	for id, want := range map[string]map[int]entity.Usage{
		one: {1: {CPUMs: 7}, 2: most}, other: {1: {PeakKb: 9}}, "nobody": {},
	} {
		got, err := s.Executions.Usages(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func holds(t *testing.T, s *persistence.Store) {
	one := storetest.RunOf(storetest.JobID(1), storetest.Noon).ID
	other := storetest.RunOf(storetest.JobID(2), storetest.Noon).ID
	add := func(rows ...entity.Hold) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddHolds(ctx, rows) })
	}
	add()
	add(entity.Hold{ExecutionID: one, Attempt: 1, Count: 1, For: 1500 * time.Millisecond},
		entity.Hold{ExecutionID: other, Attempt: 1, Count: 1, For: time.Minute})
	add(entity.Hold{ExecutionID: one, Attempt: 1, Count: 1, For: 2 * time.Second},
		entity.Hold{ExecutionID: one, Attempt: 2, Count: 1, For: time.Second})
	got, err := s.Executions.Holds(t.Context(), []string{one, "nobody"})
	require.NoError(t, err)
	require.ElementsMatch(t, []entity.Hold{
		{ExecutionID: one, Attempt: 1, Count: 2, For: 3500 * time.Millisecond},
		{ExecutionID: one, Attempt: 2, Count: 1, For: time.Second},
	}, got)
	require.Equal(t, entity.Hold{Count: 3, For: 4500 * time.Millisecond}, entity.TotalHold(got))
}

func deadLetters(t *testing.T, s *persistence.Store) {
	letter := func(n int) entity.DeadLetter {
		return entity.DeadLetter{
			ExecutionID: storetest.RunOf(storetest.JobID(n), storetest.Noon.Add(time.Duration(n)*time.Second)).ID,
			JobID:       storetest.JobID(n % 2), Reason: entity.ReasonError,
			Message: "gone 😀", CreateTime: storetest.Noon,
		}
	}
	var all []entity.DeadLetter
	for n := range 5 {
		all = append(all, letter(n))
	}
	for range 2 {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			return tx.Records.AddDeadLetters(ctx, all)
		})
	}
	got, next, err := s.DeadLetters(t.Context(), repository.DeadLetterFilter{}, repository.Page{Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []entity.DeadLetter{all[4], all[3], all[2]}, got)
	got, next, err = s.DeadLetters(t.Context(), repository.DeadLetterFilter{}, repository.Page{Limit: 3, Cursor: next})
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []entity.DeadLetter{all[1], all[0]}, got)
	got, _, err = s.DeadLetters(t.Context(), repository.DeadLetterFilter{JobID: storetest.JobID(1)}, repository.Page{})
	require.NoError(t, err)
	require.Equal(t, []entity.DeadLetter{all[3], all[1]}, got)

	mark := func(id, replay string) error {
		return s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			return tx.Records.MarkReplayed(ctx, id, replay)
		})
	}
	require.NoError(t, mark(all[0].ExecutionID, storetest.JobID(70)))
	require.True(t, apperror.Is(mark(all[0].ExecutionID, storetest.JobID(71)), apperror.KindConflict))
	require.True(t, apperror.Is(mark(storetest.JobID(99), storetest.JobID(71)), apperror.KindNotFound))
	one, err := s.DeadLetter(t.Context(), all[0].ExecutionID)
	require.NoError(t, err)
	all[0].ReplayedAs = storetest.JobID(70)
	require.Equal(t, all[0], one)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddDeadLetters(ctx, []entity.DeadLetter{letter(0)})
	})
	one, err = s.DeadLetter(t.Context(), all[0].ExecutionID)
	require.NoError(t, err)
	require.Equal(t, storetest.JobID(70), one.ReplayedAs, "adding it again does not wake it")
	_, err = s.DeadLetter(t.Context(), storetest.JobID(99))
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

func logs(t *testing.T, s *persistence.Store) {
	run := storetest.RunOf(storetest.JobID(1), storetest.Noon).ID
	chunk := func(from, to int64) entity.LogChunk {
		return entity.LogChunk{
			ID: uuid.Must(uuid.NewV7()).String(), JobID: storetest.JobID(1), ExecutionID: run, Attempt: 2,
			Type: entity.LogStdout, SeqFrom: from, SeqTo: to,
			Content: "line 😀\nline \\ '", CreateTime: storetest.Noon,
		}
	}
	a, b, c := chunk(1, 10), chunk(11, 11), chunk(12, 30)
	c.Truncated = true
	foreign := chunk(1, 5)
	foreign.ExecutionID = storetest.RunOf(storetest.JobID(2), storetest.Noon).ID
	for range 2 {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			return tx.Records.AddLogs(ctx, []entity.LogChunk{c, a, foreign, b})
		})
	}
	page := func(after int64, limit int) []entity.LogChunk {
		got, err := s.Logs(t.Context(), repository.LogPage{ExecutionID: run, AfterSeq: after, Limit: limit})
		require.NoError(t, err)
		return got
	}
	require.Equal(t, []entity.LogChunk{a, b, c}, page(0, 0))
	require.Equal(t, []entity.LogChunk{a, b}, page(0, 2))
	require.Equal(t, []entity.LogChunk{a, b, c}, page(9, 0), "a chunk with lines after 9")
	require.Equal(t, []entity.LogChunk{b, c}, page(10, 0))
	require.Empty(t, page(30, 0))
	nameless := chunk(31, 31)
	nameless.ID = ""
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddLogs(ctx, []entity.LogChunk{nameless})
	})
	require.NotEmpty(t, page(30, 0)[0].ID)
}

func largeLogs(t *testing.T, s *persistence.Store) {
	run := storetest.RunOf(storetest.JobID(1), storetest.Noon).ID
	var rows []entity.LogChunk
	for n := range int64(20) {
		rows = append(rows, entity.LogChunk{
			JobID: storetest.JobID(1), ExecutionID: run, Attempt: 1, Type: entity.LogStdout, SeqFrom: n + 1, SeqTo: n + 1,
			Content: strings.Repeat("x", 1<<20), CreateTime: storetest.Noon,
		})
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddLogs(ctx, rows) })
	got, err := s.Logs(t.Context(), repository.LogPage{ExecutionID: run})
	require.NoError(t, err)
	require.Len(t, got, 20)
	second := entity.LogChunk{
		JobID: storetest.JobID(1), ExecutionID: run, Attempt: 2, Type: entity.LogStdout, SeqFrom: entity.LineNumber(2, 1),
		SeqTo: entity.LineNumber(2, 7), Content: "four", CreateTime: storetest.Noon,
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddLogs(ctx, []entity.LogChunk{second})
	})
	ends, err := s.Records.LogEnds(t.Context(), []string{run, storetest.RunOf(storetest.JobID(2), storetest.Noon).ID, "é"})
	require.NoError(t, err)
	require.ElementsMatch(t, []repository.LogEnd{
		{ExecutionID: run, Attempt: 1, Line: 20, Bytes: 20 << 20}, {ExecutionID: run, Attempt: 2, Line: 7, Bytes: 4},
	}, ends)
	rows[0].Content += "x"
	err = s.Write(t.Context(), repository.LaneLogs, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddLogs(ctx, rows[:1])
	})
	var poison *repository.PoisonError
	require.ErrorAs(t, err, &poison)
}
