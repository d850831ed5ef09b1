package persistencetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

func testFinishing(t *testing.T, open Opener) {
	t.Run("a completion writes what it says", func(t *testing.T) { finishWrites(t, open(t, nil)) })
	t.Run("several attempts of one run", func(t *testing.T) { finishAttempts(t, open(t, nil)) })
	t.Run("texts of all kinds in one batch", func(t *testing.T) { finishUnlike(t, open(t, nil)) })
	t.Run("a batch refuses row by row", func(t *testing.T) { finishRefuses(t, open(t, nil)) })
	t.Run("what else the transaction did survives a refusal", func(t *testing.T) { finishAmongOthers(t, open(t, nil)) })
	t.Run("a note is kept where its run still runs", func(t *testing.T) { notes(t, open(t, nil)) })
	t.Run("exit codes of commands", func(t *testing.T) { finishCodes(t, open(t, nil)) })
	t.Run("a poison completion is named", func(t *testing.T) { finishPoison(t, open(t, nil)) })
}

func finish(t *testing.T, s *persistence.Store, rows ...repository.Finish) (refused []string) {
	t.Helper()
	var places []int
	write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		places, err = tx.Executions.Finish(ctx, rows)
		return err
	})
	for _, i := range places {
		refused = append(refused, rows[i].ID)
	}
	return refused
}

func finishWrites(t *testing.T, s *persistence.Store) {
	e, f := startedOn(runOf(jobID(1), noon), "n1", 2), startedOn(runOf(jobID(2), noon), "n1", 2)
	add(t, s, nil, e, f)
	good, bad := finishOf(e), finishOf(f)
	bad.Status, bad.Reason, bad.ErrorMessage, bad.Result = entity.StatusFailed, entity.ReasonExitCode, "exit 3 😀", ""
	bad.StartTime = time.Time{} // the handler never ran: the estimate stays
	require.Empty(t, finish(t, s, bad, good))
	got := get(t, s, e.ID)
	require.WithinDuration(t, time.Now(), got.UpdateTime, time.Minute)
	want := *e
	want.Status, want.Claim, want.Progress, want.Result = entity.StatusSuccess, "", 100, "done"
	want.StartTime, want.EndTime, want.Duration, want.UpdateTime = good.StartTime, good.EndTime, good.Duration, got.UpdateTime
	require.Equal(t, &want, got)
	got = get(t, s, f.ID)
	require.Equal(t, []any{entity.StatusFailed, entity.ReasonExitCode, "exit 3 😀", "", f.StartTime},
		[]any{got.Status, got.Reason, got.ErrorMessage, got.Result, got.StartTime})
}

func notes(t *testing.T, s *persistence.Store) {
	held, stale := startedOn(runOf(jobID(1), noon), "n1", 2), startedOn(runOf(jobID(2), noon), "n1", 2)
	ended, other := startedOn(runOf(jobID(3), noon), "n1", 2), startedOn(runOf(jobID(4), noon), "n2", 2)
	add(t, s, nil, held, stale, ended, other)
	require.Empty(t, finish(t, s, finishOf(ended)))
	before := map[string]*entity.Execution{}
	var batch []repository.ProgressUpdate
	for _, e := range []*entity.Execution{other, ended, stale, held} {
		before[e.ID] = get(t, s, e.ID)
		batch = append(batch, repository.ProgressUpdate{ID: e.ID, NodeID: "n1", Epoch: 2, Token: e.Token, Progress: 40, Checkpoint: "row 7 – ä"})
	}
	batch[2].Token++
	note := func(batch ...repository.ProgressUpdate) {
		write(t, s, func(ctx context.Context, tx repository.Tx) error { return tx.Executions.UpdateProgress(ctx, batch) })
	}
	note(batch...)
	got := get(t, s, held.ID)
	require.Equal(t, []any{40, "row 7 – ä"}, []any{got.Progress, got.Checkpoint})
	for _, e := range []*entity.Execution{stale, ended, other} {
		require.Equal(t, before[e.ID], get(t, s, e.ID), "what is not this holder's stays")
	}
	batch[3].Progress, batch[3].Checkpoint = 0, ""
	note(batch[3])
	note()
	got = get(t, s, held.ID)
	require.Equal(t, []any{0, ""}, []any{got.Progress, got.Checkpoint})
}

func finishRefuses(t *testing.T, s *persistence.Store) {
	held := startedOn(runOf(jobID(1), noon), "n1", 2)
	stale, stolen, reborn := startedOn(runOf(jobID(2), noon), "n1", 2), startedOn(runOf(jobID(3), noon), "n2", 2), startedOn(runOf(jobID(4), noon), "n1", 3)
	stale.Token = 2
	waiting, final := runOf(jobID(5), noon), startedOn(runOf(jobID(6), noon), "n1", 2)
	add(t, s, nil, held, stale, stolen, reborn, waiting, final)
	require.Empty(t, finish(t, s, finishOf(final)))
	before := get(t, s, final.ID)

	var batch []repository.Finish
	for _, e := range []*entity.Execution{held, stale, stolen, reborn, waiting, final, runOf(jobID(7), noon)} {
		f := finishOf(e)
		f.NodeID, f.Epoch, f.Token = "n1", 2, 1
		f.Result = "second"
		batch = append(batch, f)
	}
	want := []string{stale.ID, stolen.ID, reborn.ID, waiting.ID, final.ID, runOf(jobID(7), noon).ID}
	for _, f := range batch[1:] {
		require.Equal(t, []string{f.ID}, finish(t, s, f), "alone")
	}
	require.ElementsMatch(t, want, finish(t, s, batch...))
	require.Equal(t, entity.StatusSuccess, get(t, s, held.ID).Status)
	for _, e := range []*entity.Execution{stale, stolen, reborn, waiting} {
		require.Equal(t, e, get(t, s, e.ID), "a refused row is untouched")
	}
	require.Equal(t, before, get(t, s, final.ID), "final states are final")
	_, err := s.Executions.Get(t.Context(), runOf(jobID(7), noon).ID)
	require.Error(t, err, "a completion makes no row")
	require.ElementsMatch(t, append(want, held.ID), finish(t, s, batch...), "the same again")
}

func finishAmongOthers(t *testing.T, s *persistence.Store) {
	a, b := startedOn(runOf(jobID(1), noon), "n1", 1), startedOn(runOf(jobID(2), noon), "n1", 1)
	add(t, s, nil, a, b)
	require.Empty(t, finish(t, s, finishOf(b)))
	runs := 0
	var refused []int
	write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		runs++
		if err := tx.Executions.Insert(ctx, []*entity.Execution{runOf(jobID(3), noon)}); err != nil {
			return err
		}
		refused, err = tx.Executions.Finish(ctx, []repository.Finish{finishOf(a), finishOf(b)})
		return err
	})
	require.Equal(t, []int{1}, refused)
	require.LessOrEqual(t, runs, 2)
	require.Equal(t, entity.StatusSuccess, get(t, s, a.ID).Status)
	require.Equal(t, entity.StatusWaiting, get(t, s, runOf(jobID(3), noon).ID).Status)
}

// finishAttempts ends several attempts of one run in one batch: the one that
// holds is taken, and told from the others.
func finishAttempts(t *testing.T, s *persistence.Store) {
	e := startedOn(runOf(jobID(1), noon), "n1", 1)
	e.Token, e.Attempt = 2, 2
	add(t, s, nil, e)
	former, again := finishOf(e), finishOf(e)
	former.Token, former.Status, former.Reason = 1, entity.StatusFailed, entity.ReasonExitCode
	again.Result = "said twice"
	var refused []int
	write(t, s, func(ctx context.Context, tx repository.Tx) (err error) {
		refused, err = tx.Executions.Finish(ctx, []repository.Finish{former, finishOf(e), again, former})
		return err
	})
	require.Equal(t, []int{0, 2, 3}, refused)
	require.Equal(t, "done", get(t, s, e.ID).Result)
}

// finishUnlike ends runs whose texts differ in length, kind and alphabet, so
// that no row can take its type from the first.
func finishUnlike(t *testing.T, s *persistence.Store) {
	texts := []string{"", "7", strings.Repeat("x", 65535), "2026-01-01 00:00:00.000", "结算 €", "null", `a'b"c\d`, "1e3"}
	ends := make([]repository.Finish, len(texts))
	for i, text := range texts {
		e := startedOn(runOf(jobID(i), noon), "n1", 1)
		add(t, s, nil, e)
		ends[i] = finishOf(e)
		ends[i].Result, ends[i].ErrorMessage = text, texts[len(texts)-1-i]
		ends[i].EndTime = e.CreateTime.Add(time.Duration(i) * time.Millisecond)
		ends[i].Progress = i
		if i%2 == 1 {
			ends[i].Status, ends[i].Reason = entity.StatusFailed, entity.ReasonExitCode
		}
	}
	require.Empty(t, finish(t, s, ends...))
	for _, want := range ends {
		got := get(t, s, want.ID)
		require.Equal(t, []any{want.Result, want.ErrorMessage, want.Status, want.Reason, want.Progress},
			[]any{got.Result, got.ErrorMessage, got.Status, got.Reason, got.Progress})
		require.True(t, want.EndTime.Equal(got.EndTime))
	}
}

func finishPoison(t *testing.T, s *persistence.Store) {
	e := startedOn(runOf(jobID(1), noon), "n1", 1)
	add(t, s, nil, e)
	for name, spoil := range map[string]func(f *repository.Finish){
		"result":  func(f *repository.Finish) { f.Result = strings.Repeat("x", 65536) },
		"message": func(f *repository.Finish) { f.ErrorMessage = "\xc3" },
		"reason":  func(f *repository.Finish) { f.Reason = entity.Reason(strings.Repeat("x", 31)) },
		"end":     func(f *repository.Finish) { f.EndTime = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		f := finishOf(e)
		spoil(&f)
		err := s.Write(t.Context(), repository.LaneComplete, "test", func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.Executions.Finish(ctx, []repository.Finish{f})
			return err
		})
		var poison *repository.PoisonError
		require.ErrorAs(t, err, &poison, name)
	}
	require.Equal(t, e, get(t, s, e.ID))
}

// Only the ends of commands write a code, also in one batch with others.
func finishCodes(t *testing.T, s *persistence.Store) {
	var runs []*entity.Execution
	var ends []repository.Finish
	codes := []*int{nil, new(int), new(int), nil}
	*codes[2] = 137
	for n, code := range codes {
		run := startedOn(runOf(jobID(n), noon), "n1", 2)
		end := finishOf(run)
		end.ExitCode = code
		runs, ends = append(runs, run), append(ends, end)
	}
	add(t, s, nil, runs...)
	require.Empty(t, finish(t, s, ends...))
	for n, run := range runs {
		require.Equal(t, codes[n], get(t, s, run.ID).ExitCode)
	}
}
