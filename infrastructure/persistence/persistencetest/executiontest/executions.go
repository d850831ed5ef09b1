// Package executiontest is the contract of executions: claims, ends, lists and counts.
package executiontest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Executions runs the suite over stores that open gives.
func Executions(t *testing.T, open storetest.Opener) {
	t.Run("every field comes back", func(t *testing.T) { everyExecutionField(t, open(t, nil)) })
	t.Run("a plain row and a full row share a batch", func(t *testing.T) { mixedBatch(t, open(t, nil)) })
	t.Run("an id is taken once", func(t *testing.T) { duplicateID(t, open(t, nil)) })
	t.Run("a poison row is named and nothing is inserted", func(t *testing.T) { poisonRows(t, open(t, nil)) })
	t.Run("more rows than one statement holds", func(t *testing.T) { manyRows(t, open(t, nil)) })
	t.Run("update compares status and token", func(t *testing.T) { conditionalUpdate(t, open(t, nil)) })
	t.Run("lock returns what exists, by id", func(t *testing.T) { lockExecutions(t, open(t, nil)) })
	t.Run("many are closed or asked to stop at once", func(t *testing.T) { closeExecutions(t, open(t, nil)) })
	t.Run("the waiting runs of a job", func(t *testing.T) { waitingRuns(t, open(t, nil)) })
	t.Run("unknown and impossible ids", func(t *testing.T) { unknownExecutions(t, open(t, nil)) })
}

// parentSpan is of a call that asks for a run.
const parentSpan = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// fullRun uses every column.
func fullRun(at time.Time) *entity.Execution {
	e := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), at), "node-1", 7)
	e.ShardIndex, e.ShardTotal, e.JobVersion, e.Priority = 3, 9, 4, 10
	e.DueTime = at.Add(30 * time.Millisecond)
	e.Params, e.Reason, e.Token, e.JobFence, e.Attempt = `{"a":"😀%_\\"}`, entity.ReasonNodeLost, 1<<40, 1<<41, 5
	e.RetryCount, e.NodeLosses, e.StartDeadline, e.CancelRequested = 2, 1, at.Add(time.Hour), true
	e.EndTime, e.Duration, e.Progress, e.Checkpoint = at.Add(2*time.Second), 1234*time.Millisecond, 55, "page 9 ✓"
	e.ErrorMessage, e.Result, e.RetryOf, e.RootID = "bad 'quote' \\ 😀", "result\nline", storetest.JobID(80),
		storetest.JobID(81)
	e.SkipFrom, e.SkipTo, e.SkipCount, e.SkipAtLeast = at.Add(-time.Hour), at, 3600, true
	return e
}

func everyExecutionField(t *testing.T, s *persistence.Store) {
	e := fullRun(storetest.Noon)
	e.TriggeredBy = entity.Actor{User: "ann 😀", Token: "ci / nightly"}
	e.Parent = entity.ReadTraceContext(parentSpan)
	storetest.Add(t, s, nil, e)
	require.Equal(t, e, storetest.Get(t, s, e.ID))
	list, _, err := s.Executions.List(t.Context(), repository.ExecutionFilter{}, repository.Page{})
	require.NoError(t, err)
	require.Equal(t, []*entity.Execution{e}, list)
	read, err := s.Executions.WithParents(t.Context(), []string{e.ID, "unknown"})
	require.NoError(t, err)
	e.TriggeredBy = entity.Actor{}
	require.Equal(t, []*entity.Execution{e}, read)
	read, err = s.Executions.ByIDs(t.Context(), []string{e.ID})
	require.NoError(t, err)
	e.Parent = ""
	require.Equal(t, []*entity.Execution{e}, read, "the engine has no use for it")
}

func mixedBatch(t *testing.T, s *persistence.Store) {
	plain, full := storetest.RunOf(storetest.JobID(2), storetest.Noon), fullRun(storetest.Noon.Add(time.Second))
	full.TriggeredBy.User, full.Parent = "ann", parentSpan
	storetest.Add(t, s, nil, full, plain)
	require.Equal(t, full, storetest.Get(t, s, full.ID))
	require.Equal(t, plain, storetest.Get(t, s, plain.ID))
}

func duplicateID(t *testing.T, s *persistence.Store) {
	e, other := storetest.RunOf(storetest.JobID(1), storetest.Noon), storetest.RunOf(storetest.JobID(2), storetest.Noon)
	storetest.Add(t, s, nil, e)
	err := s.Write(t.Context(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, []*entity.Execution{other, e})
	})
	require.ErrorIs(t, err, repository.ErrDuplicateID)
	_, err = s.Executions.Get(t.Context(), other.ID)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "the batch was undone")
}

func poisonRows(t *testing.T, s *persistence.Store) {
	for name, spoil := range map[string]func(e *entity.Execution){
		"long node id":  func(e *entity.Execution) { e.NodeID = strings.Repeat("n", 51) },
		"long fire key": func(e *entity.Execution) { e.FireKey = strings.Repeat("f", 101) },
		"long claim key": func(e *entity.Execution) {
			e.Claim = entity.ClaimKey(strings.Repeat("c", entity.MaxClaimKey+1))
		},
		"foreign job id":   func(e *entity.Execution) { e.JobID = "jöb" },
		"empty job id":     func(e *entity.Execution) { e.JobID = "" },
		"endless result":   func(e *entity.Execution) { e.Result = strings.Repeat("r", 65536) },
		"endless message":  func(e *entity.Execution) { e.ErrorMessage = strings.Repeat("ä", 32768) },
		"endless user":     func(e *entity.Execution) { e.TriggeredBy.User = strings.Repeat("u", 255) },
		"user of two rows": func(e *entity.Execution) { e.TriggeredBy.User = "u\nv" },
		"endless parent":   func(e *entity.Execution) { e.Parent = parentSpan + "0" },
		"broken text":      func(e *entity.Execution) { e.Result = "\xff" },
		"year 10000":       func(e *entity.Execution) { e.DueTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"year 999":         func(e *entity.Execution) { e.StartTime = time.Date(999, 1, 1, 0, 0, 0, 0, time.UTC) },
		"no creation time": func(e *entity.Execution) { e.CreateTime = time.Time{} },
	} {
		good, bad := storetest.RunOf(storetest.JobID(1), storetest.Noon), storetest.RunOf(storetest.JobID(2), storetest.Noon)
		spoil(bad)
		err := s.Write(t.Context(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
			return tx.Executions.Insert(ctx, []*entity.Execution{good, bad})
		})
		var poison *repository.PoisonError
		require.ErrorAs(t, err, &poison, name)
		_, err = s.Executions.Get(t.Context(), good.ID)
		require.True(t, apperror.Is(err, apperror.KindNotFound), name)
	}
}

func manyRows(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	for i := range 2503 {
		rows = append(rows, storetest.StartedOn(storetest.RunOf(storetest.JobID(i%7),
			storetest.Noon.Add(time.Duration(i)*time.Millisecond)), "n", 1))
	}
	storetest.Add(t, s, nil, rows...)
	got, err := s.Executions.ByIDs(t.Context(), storetest.IDs(rows))
	require.NoError(t, err)
	require.Len(t, got, len(rows))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		var finish []repository.Finish
		for _, e := range rows {
			finish = append(finish, storetest.FinishOf(e))
		}
		refused, err := tx.Executions.Finish(ctx, finish, storetest.Noon)
		require.Empty(t, refused)
		return err
	})
	n, err := s.CountRange(t.Context(), repository.ClaimRange{
		Lo: entity.AllClaims().Lo, Hi: entity.AllClaims().Hi,
		Limit: 10,
	})
	require.NoError(t, err)
	require.Zero(t, n, "final rows leave the claim index")
}

func conditionalUpdate(t *testing.T, s *persistence.Store) {
	e := storetest.RunOf(storetest.JobID(1), storetest.Noon)
	storetest.Add(t, s, nil, e)
	after := fullRun(storetest.Noon)
	after.ID, after.FireKey, after.ScheduledTime, after.CreateTime = e.ID, e.FireKey, e.ScheduledTime, e.CreateTime
	// The identity of a run never changes.
	after.Trigger, after.ShardIndex, after.ShardTotal, after.Params, after.RetryOf, after.RootID = e.Trigger, 0, 1, "", "",
		""
	after.SkipFrom, after.SkipTo, after.SkipCount, after.SkipAtLeast = time.Time{}, time.Time{}, 0, false
	update := func(from entity.Status, token int64) error {
		return s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			return tx.Executions.Update(ctx, after, from, token)
		})
	}
	for name, err := range map[string]error{
		"status": update(entity.StatusRunning, 0),
		"token":  update(entity.StatusWaiting, 1),
	} {
		var f *apperror.Error
		require.ErrorAs(t, err, &f, name)
		require.Equal(t, apperror.KindConflict, f.Kind, name)
		require.Equal(t, "stale_token", f.Code, name)
	}
	require.Equal(t, e, storetest.Get(t, s, e.ID))
	require.NoError(t, update(entity.StatusWaiting, 0))
	require.Equal(t, after, storetest.Get(t, s, e.ID))
	// Writing the same again finds the row and changes nothing: no conflict.
	require.NoError(t, update(after.Status, after.Token))
}

func lockExecutions(t *testing.T, s *persistence.Store) {
	a, b := storetest.RunOf(storetest.JobID(1), storetest.Noon),
		storetest.RunOf(storetest.JobID(2), storetest.Noon.Add(time.Second))
	storetest.Add(t, s, nil, a, b)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{b.ID, "missing", a.ID, b.ID, "nöt ascii"})
		require.Equal(t, []*entity.Execution{a, b}, rows)
		return err
	})
}

func unknownExecutions(t *testing.T, s *persistence.Store) {
	for _, id := range []string{"missing", "", "任务", strings.Repeat("x", 300), "a' OR '1'='1"} {
		_, err := s.Executions.Get(t.Context(), id)
		require.True(t, apperror.Is(err, apperror.KindNotFound), id)
		var f *apperror.Error
		require.True(t, errors.As(err, &f))
	}
	rows, err := s.Executions.ByIDs(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, rows)
}

func closeExecutions(t *testing.T, s *persistence.Store) {
	var waiting, running []*entity.Execution
	for n := range 1200 { // more than one statement takes
		e := storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Duration(n)*time.Millisecond))
		e.Claim, e.Result, e.ErrorMessage = entity.QueuedKey(storetest.JobID(1), int64(n+1)), "of a former attempt",
			"likewise"
		waiting = append(waiting, e)
	}
	for n := range 3 {
		running = append(running,
			storetest.StartedOn(storetest.RunOf(storetest.JobID(2), storetest.Noon.Add(time.Duration(n)*time.Second)), "n1", 1))
	}
	storetest.Add(t, s, nil, append(slices.Clone(waiting), running...)...)
	at := storetest.Noon.Add(time.Hour)
	for n, e := range waiting {
		e.Status, e.Reason, e.ErrorMessage, e.Result, e.Claim = entity.StatusCancelled, entity.ReasonDeleted, "", "", ""
		if n%3 == 0 {
			e.Status, e.Reason, e.ErrorMessage = entity.StatusFailed, entity.ReasonDeadline, "too late"
		}
		e.EndTime, e.UpdateTime = at, at
	}
	for _, e := range running[:2] {
		e.CancelRequested, e.Reason, e.UpdateTime = true, entity.ReasonReplaced, at
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Close(ctx, waiting); err != nil {
			return err
		}
		return tx.Executions.AskToStop(ctx, running[:2])
	})
	for _, e := range append(slices.Clone(running), waiting[0], waiting[1], waiting[1199]) {
		require.Equal(t, e, storetest.Get(t, s, e.ID))
	}
	for name, do := range map[string]func(ctx context.Context, tx repository.Tx) error{
		"closed before": func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Close(ctx, waiting[:2]) },
		"does not run": func(ctx context.Context, tx repository.Tx) error {
			return tx.Executions.AskToStop(ctx, waiting[:1])
		},
	} {
		err := s.Write(t.Context(), repository.LaneAPI, "test", do)
		require.True(t, apperror.Is(err, apperror.KindConflict), name)
	}
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		require.NoError(t, tx.Executions.Close(ctx, nil))
		return tx.Executions.AskToStop(ctx, nil)
	})
}

func waitingRuns(t *testing.T, s *persistence.Store) {
	mine := []*entity.Execution{
		storetest.RunOf(storetest.JobID(1), storetest.Noon),
		storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Second)),
		storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(2*time.Second)),
		storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(3*time.Second)),
	}
	mine[1].Claim, mine[2].Claim = entity.ScheduledKey(storetest.Noon.Add(time.Hour)),
		entity.QueuedKey(storetest.JobID(1), 4)
	running := storetest.StartedOn(storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Minute)), "n1", 1)
	over := storetest.Ended(storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(2*time.Minute)), storetest.Noon)
	storetest.Add(t, s, nil, append(mine, running, over, storetest.RunOf(storetest.JobID(2), storetest.Noon))...)
	got, err := s.WaitingOf(t.Context(), storetest.JobID(1), 10)
	require.NoError(t, err)
	require.ElementsMatch(t, storetest.IDs(mine), got)
	got, err = s.WaitingOf(t.Context(), storetest.JobID(1), 2)
	require.NoError(t, err)
	require.Len(t, got, 2)
}
