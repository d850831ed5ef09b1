// Package backfilltest is the contract of backfills.
package backfilltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Backfills runs the suite over stores that open gives.
func Backfills(t *testing.T, open storetest.Opener) {
	t.Run("life", func(t *testing.T) { backfillLife(t, open(t, nil)) })
	t.Run("with what failed", func(t *testing.T) { includingFailed(t, open(t, nil)) })
	t.Run("what was made good", func(t *testing.T) { madeGood(t, open(t, nil)) })
	t.Run("lists", func(t *testing.T) { backfillLists(t, open(t, nil)) })
	t.Run("the fires of some times", func(t *testing.T) { firesAtTimes(t, open(t, nil)) })
	t.Run("retention", func(t *testing.T) { backfillRetention(t, open(t, nil)) })
}

func saveBackfill(t *testing.T, s *persistence.Store, b entity.Backfill) error {
	t.Helper()
	return s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Backfills.Save(ctx, b)
	})
}

func readBackfill(t *testing.T, s *persistence.Store, id string) entity.Backfill {
	t.Helper()
	b, err := s.Backfill(t.Context(), id)
	require.NoError(t, err)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		inside, err := tx.Backfills.Get(ctx, id)
		require.Equal(t, b, inside)
		return err
	})
	return b
}

func backfillLife(t *testing.T, s *persistence.Store) {
	b := storetest.BackfillOf(1, 1)
	storetest.AddBackfills(t, s, b)
	require.Equal(t, b, readBackfill(t, s, b.ID))

	moved := b
	moved.Cursor, moved.Started, moved.UpdateTime = storetest.Noon.Add(-time.Hour), 2, storetest.Noon.Add(time.Second)
	moved.Open = []time.Time{storetest.Noon.Add(-3 * time.Hour), storetest.Noon.Add(-2 * time.Hour)}
	require.NoError(t, saveBackfill(t, s, moved))
	require.True(t, apperror.Is(saveBackfill(t, s, moved), apperror.KindConflict), "the version is compared and set")
	moved.Version = 2
	require.Equal(t, moved, readBackfill(t, s, b.ID))

	moved.Status, moved.Open, moved.AlreadyRun = entity.BackfillDone, nil, 22
	require.NoError(t, saveBackfill(t, s, moved))
	moved.Version = 3
	require.Equal(t, moved, readBackfill(t, s, b.ID))
	require.True(t, apperror.Is(saveBackfill(t, s, moved), apperror.KindConflict), "what is over does not change")
	for _, id := range []string{storetest.JobID(9), "作业", b.ID + " "} {
		_, err := s.Backfill(t.Context(), id)
		require.True(t, apperror.Is(err, apperror.KindNotFound), id)
	}
}

// Nodes of the former release move on what they find as ACTIVE, and would pass over what failed.
func includingFailed(t *testing.T, s *persistence.Store) {
	b := storetest.BackfillOf(1, 1)
	b.IncludeFailed = true
	storetest.AddBackfills(t, s, b)
	require.Equal(t, b, readBackfill(t, s, b.ID))
	former := func() int64 {
		t.Helper()
		found, err := sqldb.Collect(t.Context(), s.Pool, "test",
			"SELECT COUNT(*) FROM scheduler_backfill WHERE status = 'ACTIVE'", nil, sqlvalue.ScanInt)
		require.NoError(t, err)
		return found[0]
	}
	require.Zero(t, former())
	active, err := s.ActiveBackfills(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, []entity.Backfill{b}, active)
	b.Started = 1
	require.NoError(t, saveBackfill(t, s, b))
	require.Zero(t, former())
	b.Version, b.Status = 2, entity.BackfillDone
	require.NoError(t, saveBackfill(t, s, b))
	b.Version = 3
	require.Equal(t, b, readBackfill(t, s, b.ID))
}

// A retry that is live or succeeded makes a run good, also a retry of a retry.
func madeGood(t *testing.T, s *persistence.Store) {
	var rows []*entity.Execution
	var ids []string
	run := func(n int, of, root string, status entity.Status) string {
		e := storetest.RunOf(storetest.JobID(1), storetest.Noon.Add(time.Duration(n)*time.Second))
		e.Status, e.RetryOf, e.RootID = status, of, root
		rows = append(rows, e)
		return e.ID
	}
	want := map[string]bool{}
	for n, status := range entity.Statuses() {
		id := run(10*n, "", "", entity.StatusFailed)
		ids = append(ids, id)
		run(10*n+1, id, id, status)
		if status == entity.StatusSuccess || !status.Final() {
			want[id] = true
		}
	}
	twice := run(1000, "", "", entity.StatusDead)
	run(1002, run(1001, twice, twice, entity.StatusFailed), twice, entity.StatusSuccess)
	want[twice] = true
	ids = append(ids, twice, run(1010, "", "", entity.StatusFailed))
	storetest.Add(t, s, nil, rows...)
	good, err := s.MadeGood(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, want, good)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		good, err := tx.Backfills.MadeGood(ctx, ids)
		require.Equal(t, want, good)
		return err
	})
	none, err := s.MadeGood(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

func backfillLists(t *testing.T, s *persistence.Store) {
	done := storetest.BackfillOf(3, 1)
	done.Status = entity.BackfillDone
	storetest.AddBackfills(t, s, storetest.BackfillOf(4, 1), storetest.BackfillOf(2, 2), done, storetest.BackfillOf(1, 1))
	var seen []string
	for p := (repository.Page{Limit: 2}); ; {
		page, next, err := s.ListBackfills(t.Context(), storetest.JobID(1), p)
		require.NoError(t, err)
		for _, b := range page {
			seen = append(seen, b.ID)
		}
		if p.Cursor = next; next == "" {
			break
		}
	}
	require.Equal(t, []string{storetest.JobID(4), storetest.JobID(3), storetest.JobID(1)}, seen,
		"of one job, newest first")
	active, err := s.ActiveBackfills(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, []entity.Backfill{storetest.BackfillOf(1, 1), storetest.BackfillOf(2, 2)}, active, "the oldest first")
	_, _, err = s.ListBackfills(t.Context(), storetest.JobID(1), repository.Page{Cursor: "ü"})
	require.True(t, apperror.Is(err, apperror.KindInvalid))
	none, _, err := s.ListBackfills(t.Context(), "作业", repository.Page{})
	require.NoError(t, err)
	require.Empty(t, none)
}

func firesAtTimes(t *testing.T, s *persistence.Store) {
	var times []time.Time
	for n := range 250 { // more than one statement asks for
		times = append(times, storetest.Noon.Add(time.Duration(n)*time.Minute))
	}
	fire := func(at time.Time, key string, shard int, status entity.Status) *entity.Execution {
		e := storetest.RunOf(storetest.JobID(1), at)
		e.FireKey, e.ShardIndex, e.Status = key, shard, status
		e.ID = identity.ExecutionID(at, e.JobID, key, shard)
		return e
	}
	var rows []*entity.Execution
	var want []string
	expect := func(e *entity.Execution) {
		rows, want = append(rows, e), append(want, fmt.Sprint(e.ID, e.FireKey, e.Status))
	}
	for _, n := range []int{0, 99, 100, 249} {
		expect(fire(times[n], identity.FireKey(times[n]), 0, entity.StatusSkipped))
		expect(fire(times[n], identity.FireKey(times[n]), 7, entity.StatusDead))
		expect(fire(times[n], identity.BackfillKey(times[n]), 0, entity.StatusWaiting))
		expect(fire(times[n], "MANUAL:"+times[n].String(), 0, entity.StatusSuccess))
		for _, near := range []time.Duration{-time.Millisecond, time.Millisecond} {
			at := times[n].Add(near)
			rows = append(rows, fire(at, identity.FireKey(at), 0, entity.StatusSuccess))
		}
	}
	rows = append(rows, storetest.RunOf(storetest.JobID(2), times[0]))
	storetest.Add(t, s, nil, rows...)
	texts := func(found []*entity.Execution, err error) []string {
		require.NoError(t, err)
		out := make([]string, len(found))
		for i, e := range found {
			out[i] = fmt.Sprint(e.ID, e.FireKey, e.Status)
		}
		return out
	}
	require.ElementsMatch(t, want, texts(s.FiresAt(t.Context(), storetest.JobID(1), times)))
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		require.ElementsMatch(t, want, texts(tx.Backfills.FiresAt(ctx, storetest.JobID(1), times)))
		return nil
	})
	require.Empty(t, texts(s.FiresAt(t.Context(), storetest.JobID(1), nil)))
	require.Empty(t, texts(s.FiresAt(t.Context(), "作业", times)))
}

func backfillRetention(t *testing.T, s *persistence.Store) {
	var all []entity.Backfill
	for n, status := range []entity.BackfillStatus{
		entity.BackfillDone, entity.BackfillCancelled, entity.BackfillActive,
		entity.BackfillDone, entity.BackfillDone,
	} {
		b := storetest.BackfillOf(n+1, 1)
		b.Status, b.UpdateTime = status, storetest.Noon.AddDate(0, 0, -40)
		all = append(all, b)
	}
	all[4].UpdateTime = storetest.Noon
	storetest.AddBackfills(t, s, all...)
	for _, want := range []int{2, 1, 0} {
		p, err := s.PurgeBackfills(t.Context(), storetest.Noon.AddDate(0, 0, -30), 2)
		require.NoError(t, err)
		require.Equal(t, want, p.Deleted)
	}
	left, _, err := s.ListBackfills(t.Context(), storetest.JobID(1), repository.Page{})
	require.NoError(t, err)
	require.Equal(t, []entity.Backfill{all[4], all[2]}, left, "the young and the active stay")
}
