package executiontest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Finishing runs the suite over stores that open gives.
func Finishing(t *testing.T, open storetest.Opener) {
	t.Run("a completion writes what it says", func(t *testing.T) { finishWrites(t, open(t, nil)) })
	t.Run("several attempts of one run", func(t *testing.T) { finishAttempts(t, open(t, nil)) })
	t.Run("texts of all kinds in one batch", func(t *testing.T) { finishUnlike(t, open(t, nil)) })
	t.Run("a batch refuses row by row", func(t *testing.T) { finishRefuses(t, open(t, nil)) })
	t.Run("what else the transaction did survives a refusal", func(t *testing.T) { finishAmongOthers(t, open(t, nil)) })
	t.Run("a note is kept where its run still runs", func(t *testing.T) { notes(t, open(t, nil)) })
	t.Run("exit codes of commands", func(t *testing.T) { finishCodes(t, open(t, nil)) })
	t.Run("a poison completion is named", func(t *testing.T) { finishPoison(t, open(t, nil)) })
}

// storedAt is the store's time of the transaction that finish writes in.
var storedAt = storetest.Noon.Add(time.Hour)

func finish(t *testing.T, s *persistence.Store, rows ...repository.Finish) (refused []string) {
	t.Helper()
	var places []int
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		places, err = tx.Executions.Finish(ctx, rows, storedAt)
		return err
	})
	for _, i := range places {
		refused = append(refused, rows[i].ID)
	}
	return refused
}

func finishWrites(t *testing.T, s *persistence.Store) {
	e, f := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 2),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon), "n1", 2)
	storetest.Add(t, s, nil, e, f)
	good, bad := storetest.FinishOf(e), storetest.FinishOf(f)
	bad.Status, bad.Reason, bad.ErrorMessage, bad.Result = entity.StatusFailed, entity.ReasonExitCode, "exit 3 😀", ""
	bad.StartTime = time.Time{} // the handler never ran: the estimate stays
	require.Empty(t, finish(t, s, bad, good))
	got := storetest.Get(t, s, e.ID)
	require.True(t, storedAt.Equal(got.UpdateTime), "dated as the caller says: %s", got.UpdateTime)
	want := *e
	want.Status, want.Claim, want.Progress, want.Result = entity.StatusSuccess, "", 100, "done"
	want.StartTime, want.EndTime, want.Duration, want.UpdateTime = good.StartTime, good.EndTime, good.Duration,
		got.UpdateTime
	require.Equal(t, &want, got)
	got = storetest.Get(t, s, f.ID)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonExitCode, "exit 3 😀", "", f.StartTime},
		[]any{got.Status, got.Reason, got.ErrorMessage, got.Result, got.StartTime})
}

func notes(t *testing.T, s *persistence.Store) {
	held, stale := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 2),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon), "n1", 2)
	ended, other := storetest.StartedOn(storetest.RunOf(storetest.JobID(3), storetest.Noon), "n1", 2),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(4), storetest.Noon), "n2", 2)
	storetest.Add(t, s, nil, held, stale, ended, other)
	require.Empty(t, finish(t, s, storetest.FinishOf(ended)))
	before := map[string]*entity.Execution{}
	var batch []repository.ProgressUpdate
	for _, e := range []*entity.Execution{other, ended, stale, held} {
		before[e.ID] = storetest.Get(t, s, e.ID)
		batch = append(batch, repository.ProgressUpdate{
			ID: e.ID, NodeID: "n1", Epoch: 2, Token: e.Token, Progress: 40,
			Checkpoint: "row 7 – ä",
		})
	}
	batch[2].Token++
	note := func(batch ...repository.ProgressUpdate) {
		storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
			return tx.Executions.UpdateProgress(ctx, batch)
		})
	}
	note(batch...)
	got := storetest.Get(t, s, held.ID)
	require.Equal(t, []any{40, "row 7 – ä"}, []any{got.Progress, got.Checkpoint})
	for _, e := range []*entity.Execution{stale, ended, other} {
		require.Equal(t, before[e.ID], storetest.Get(t, s, e.ID), "what is not this holder's stays")
	}
	batch[3].Progress, batch[3].Checkpoint = 0, ""
	note(batch[3])
	note()
	got = storetest.Get(t, s, held.ID)
	require.Equal(t, []any{0, ""}, []any{got.Progress, got.Checkpoint})
}

func finishRefuses(t *testing.T, s *persistence.Store) {
	held := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 2)
	stale, stolen, reborn := storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon), "n1", 2),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(3), storetest.Noon), "n2", 2),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(4), storetest.Noon), "n1", 3)
	stale.Token = 2
	waiting, final := storetest.RunOf(storetest.JobID(5), storetest.Noon),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(6), storetest.Noon), "n1", 2)
	storetest.Add(t, s, nil, held, stale, stolen, reborn, waiting, final)
	require.Empty(t, finish(t, s, storetest.FinishOf(final)))
	before := storetest.Get(t, s, final.ID)

	var batch []repository.Finish
	for _, e := range []*entity.Execution{
		held, stale, stolen, reborn, waiting, final,
		storetest.RunOf(storetest.JobID(7), storetest.Noon),
	} {
		f := storetest.FinishOf(e)
		f.NodeID, f.Epoch, f.Token = "n1", 2, 1
		f.Result = "second"
		batch = append(batch, f)
	}
	want := []string{
		stale.ID, stolen.ID, reborn.ID, waiting.ID, final.ID,
		storetest.RunOf(storetest.JobID(7), storetest.Noon).ID,
	}
	for _, f := range batch[1:] {
		require.Equal(t, []string{f.ID}, finish(t, s, f), "alone")
	}
	require.ElementsMatch(t, want, finish(t, s, batch...))
	require.Equal(t, entity.StatusSuccess, storetest.Get(t, s, held.ID).Status)
	for _, e := range []*entity.Execution{stale, stolen, reborn, waiting} {
		require.Equal(t, e, storetest.Get(t, s, e.ID), "a refused row is untouched")
	}
	require.Equal(t, before, storetest.Get(t, s, final.ID), "final states are final")
	_, err := s.Executions.Get(t.Context(), storetest.RunOf(storetest.JobID(7), storetest.Noon).ID)
	require.Error(t, err, "a completion makes no row")
	require.ElementsMatch(t, append(want, held.ID), finish(t, s, batch...), "the same again")
}

func finishAmongOthers(t *testing.T, s *persistence.Store) {
	a, b := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 1),
		storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon), "n1", 1)
	storetest.Add(t, s, nil, a, b)
	require.Empty(t, finish(t, s, storetest.FinishOf(b)))
	runs := 0
	var refused []int
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		runs++
		if err := tx.Executions.Insert(ctx,
			[]*entity.Execution{storetest.RunOf(storetest.JobID(3), storetest.Noon)}); err != nil {
			return err
		}
		refused, err = tx.Executions.Finish(
			ctx,
			[]repository.Finish{storetest.FinishOf(a), storetest.FinishOf(b)},
			storetest.Noon,
		)
		return err
	})
	require.Equal(t, []int{1}, refused)
	require.LessOrEqual(t, runs, 2)
	require.Equal(t, entity.StatusSuccess, storetest.Get(t, s, a.ID).Status)
	require.Equal(t, entity.StatusWaiting,
		storetest.Get(t, s, storetest.RunOf(storetest.JobID(3), storetest.Noon).ID).Status)
}

// finishAttempts ends several attempts of one run in one batch: the one that
// holds is taken, and told from the others.
func finishAttempts(t *testing.T, s *persistence.Store) {
	e := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 1)
	e.Token, e.Attempt = 2, 2
	storetest.Add(t, s, nil, e)
	former, again := storetest.FinishOf(e), storetest.FinishOf(e)
	former.Token, former.Status, former.Reason = 1, entity.StatusFailed, entity.ReasonExitCode
	again.Result = "said twice"
	var refused []int
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		refused, err = tx.Executions.Finish(
			ctx,
			[]repository.Finish{former, storetest.FinishOf(e), again, former},
			storetest.Noon,
		)
		return err
	})
	require.Equal(t, []int{0, 2, 3}, refused)
	require.Equal(t, "done", storetest.Get(t, s, e.ID).Result)
}

// finishUnlike ends runs whose texts differ in length, kind and alphabet, so
// that no row can take its type from the first.
func finishUnlike(t *testing.T, s *persistence.Store) {
	texts := []string{"", "7", strings.Repeat("x", 65535), "2026-01-01 00:00:00.000", "结算 €", "null", `a'b"c\d`, "1e3"}
	ends := make([]repository.Finish, len(texts))
	for i, text := range texts {
		e := storetest.StartedOn(storetest.RunOf(storetest.JobID(i), storetest.Noon), "n1", 1)
		storetest.Add(t, s, nil, e)
		ends[i] = storetest.FinishOf(e)
		ends[i].Result, ends[i].ErrorMessage = text, texts[len(texts)-1-i]
		ends[i].EndTime = e.CreateTime.Add(time.Duration(i) * time.Millisecond)
		ends[i].Progress = i
		if i%2 == 1 {
			ends[i].Status, ends[i].Reason = entity.StatusFailed, entity.ReasonExitCode
		}
	}
	require.Empty(t, finish(t, s, ends...))
	for _, want := range ends {
		got := storetest.Get(t, s, want.ID)
		require.Equal(t, []any{want.Result, want.ErrorMessage, want.Status, want.Reason, want.Progress},
			[]any{got.Result, got.ErrorMessage, got.Status, got.Reason, got.Progress})
		require.True(t, want.EndTime.Equal(got.EndTime))
	}
}

func finishPoison(t *testing.T, s *persistence.Store) {
	e := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon), "n1", 1)
	storetest.Add(t, s, nil, e)
	for name, spoil := range map[string]func(f *repository.Finish){
		"result":  func(f *repository.Finish) { f.Result = strings.Repeat("x", 65536) },
		"message": func(f *repository.Finish) { f.ErrorMessage = "\xc3" },
		"reason":  func(f *repository.Finish) { f.Reason = entity.Reason(strings.Repeat("x", 31)) },
		"end":     func(f *repository.Finish) { f.EndTime = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		f := storetest.FinishOf(e)
		spoil(&f)
		err := s.Write(t.Context(), repository.LaneComplete, "test", func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.Executions.Finish(ctx, []repository.Finish{f}, storetest.Noon)
			return err
		})
		var poison *repository.PoisonError
		require.ErrorAs(t, err, &poison, name)
	}
	require.Equal(t, e, storetest.Get(t, s, e.ID))
}

// Only the ends of commands write a code, also in one batch with others.
func finishCodes(t *testing.T, s *persistence.Store) {
	var runs []*entity.Execution
	var ends []repository.Finish
	codes := []*int{nil, new(int), new(int), nil}
	*codes[2] = 137
	for n, code := range codes {
		run := storetest.StartedOn(storetest.RunOf(storetest.JobID(n), storetest.Noon), "n1", 2)
		end := storetest.FinishOf(run)
		end.ExitCode = code
		runs, ends = append(runs, run), append(ends, end)
	}
	storetest.Add(t, s, nil, runs...)
	require.Empty(t, finish(t, s, ends...))
	for n, run := range runs {
		require.Equal(t, codes[n], storetest.Get(t, s, run.ID).ExitCode)
	}
}
