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
)

// Backfills runs the suite over stores that open gives.
func Backfills(t *testing.T, open storetest.Opener) {
	t.Run("life", func(t *testing.T) { backfillLife(t, open(t, nil)) })
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
