package monitoringtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// change runs a transaction on the rows of statistics.
func change(t *testing.T, s *persistence.Store, fn func(ctx context.Context, w repository.StatisticsWriter) error) {
	t.Helper()
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error { return fn(ctx, tx.Statistics) })
}

// Statistics tests repository.StatisticsWriter and those who read what it stores.
func Statistics(t *testing.T, open storetest.Opener) {
	t.Run("digests", func(t *testing.T) { digests(t, open(t, nil)) })
	t.Run("the row of the fold", func(t *testing.T) { foldRow(t, open(t, nil)) })
	t.Run("notes of ends", func(t *testing.T) { notes(t, open(t, nil)) })
	t.Run("final executions in the order of jobs", func(t *testing.T) { finals(t, open(t, nil)) })
	t.Run("sums", func(t *testing.T) { sums(t, open(t, nil)) })
	t.Run("baselines", func(t *testing.T) { baselines(t, open(t, nil)) })
	t.Run("fires with shards", func(t *testing.T) { fires(t, open(t, nil)) })
	t.Run("groups of jobs", func(t *testing.T) { groupsOf(t, open(t, nil)) })
}

// Digests lie in the order of their transactions, and go by id.
func digests(t *testing.T, s *persistence.Store) {
	_, _, some, err := s.Statistics.DigestsSince(t.Context())
	require.NoError(t, err)
	require.False(t, some)
	data := [][]byte{{0, 0xff, '\'', 0x80}, {}, []byte("three")}
	for i, d := range data {
		at := storetest.Noon.Add(time.Duration(i) * time.Second)
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error {
			return w.AddDigests(ctx, at, []statistics.Digest{{Ends: i + 1, Data: d}})
		})
	}
	oldest, youngest, some, err := s.Statistics.DigestsSince(t.Context())
	require.NoError(t, err)
	require.True(t, some)
	require.Equal(t, []time.Time{storetest.Noon, storetest.Noon.Add(2 * time.Second)}, []time.Time{oldest, youngest})
	var heads []repository.DigestHead
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) (err error) {
		heads, err = w.OldestDigests(ctx, 2)
		return err
	})
	require.Len(t, heads, 2)
	require.Equal(t, []int{1, 2}, []int{heads[0].Ends, heads[1].Ends})
	ids := []repository.BinaryID{heads[0].ID, heads[1].ID, {1}}
	found, err := s.Statistics.Digests(t.Context(), ids)
	require.NoError(t, err)
	require.Len(t, found, 2)
	for i, d := range found {
		require.Equal(t, append([]byte{}, data[i]...), append([]byte{}, d.Data...))
		require.Equal(t, heads[i].Time, d.Time)
	}
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error { return w.DropDigests(ctx, ids) })
	oldest, _, some, err = s.Statistics.DigestsSince(t.Context())
	require.NoError(t, err)
	require.True(t, some)
	require.Equal(t, youngest, oldest)
}

// There is one row of the fold, which keeps what is put there; nobody wrote it at first.
func foldRow(t *testing.T, s *persistence.Store) {
	state, err := s.Statistics.FoldState(t.Context())
	require.NoError(t, err)
	require.Equal(t, repository.Fold{}, state)
	open := repository.Fold{
		Seq: 1 << 40, IDs: []repository.BinaryID{{1}, {0xff, 0}}, Scopes: true, Until: storetest.Noon.Add(time.Millisecond),
		LackingSince: storetest.Noon, Noted: 1 << 33,
	}
	closed := repository.Fold{Seq: 1<<40 + 1, Until: storetest.Noon, Whole: true}
	for _, want := range []repository.Fold{open, closed} {
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error {
			if _, err := w.LockFold(ctx); err != nil {
				return err
			}
			return w.SaveFold(ctx, want)
		})
		got, err := s.Statistics.FoldState(t.Context())
		require.NoError(t, err)
		require.Len(t, got.IDs, len(want.IDs))
		if len(want.IDs) == 0 {
			got.IDs = nil
		}
		require.Equal(t, want, got)
	}
	// The changes of a failed transaction are not kept.
	err = s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return errors.Join(tx.Statistics.SaveFold(ctx, open), context.Canceled)
	})
	require.ErrorIs(t, err, context.Canceled)
	got, err := s.Statistics.FoldState(t.Context())
	require.NoError(t, err)
	require.Equal(t, closed.Seq, got.Seq)
}

// Rows are found by job and by name, in their spans, and jobs by what they have most of.
func sums(t *testing.T, s *persistence.Store) {
	hour := func(n int) int64 { return storetest.Noon.Add(time.Duration(n) * time.Hour).UnixMilli() }
	rows, keys := map[repository.SumKey]*statistics.StoredRow{}, []repository.SumKey{}
	add := func(key repository.SumKey, runs, failed int64) {
		row := &statistics.StoredRow{FoldSeq: 7}
		row.Runs, row.Failed, row.DurationMs = runs, failed, 1000*runs
		row.Duration.Add(time.Duration(runs) * time.Second)
		keys, rows[key] = append(keys, key), row
	}
	a, b := repository.BinaryID{0xff, 0, 1}, repository.BinaryID{2}
	for n := range 4 {
		add(repository.SumKey{Period: statistics.Hour, Start: hour(n), Job: a}, 10, 1)
		add(repository.SumKey{Period: statistics.Hour, Start: hour(n), Job: b}, 1, 2)
		add(repository.SumKey{Period: statistics.Hour, Start: hour(n), Kind: statistics.KindGroup, Name: "gü\xff"}, 5, 0)
	}
	add(repository.SumKey{Period: statistics.Day, Start: hour(-48), Job: a}, 100, 0)
	add(repository.SumKey{Period: statistics.Day, Start: hour(-48), Kind: statistics.KindCluster}, 500, 0)
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error { return w.PutSums(ctx, keys, rows) })

	at := func(n int) time.Time { return time.UnixMilli(hour(n)).UTC() }
	hours := statistics.Interval{From: at(1), To: at(3)}
	days := statistics.Interval{From: at(-48), To: at(-47)}
	runs := func(q repository.SumsQuery) (out []int64) {
		t.Helper()
		q.Hours, q.Days = hours, days
		found, err := s.Statistics.SumRows(t.Context(), q)
		require.NoError(t, err)
		for _, row := range found {
			require.Equal(t, rows[row.SumKey].Row, *row.Row)
			out = append(out, row.Row.Runs)
		}
		return out
	}
	require.Equal(t, []int64{10, 10, 100}, runs(repository.SumsQuery{Job: a}), "the end of a span is not part of it")
	require.Equal(t, []int64{1, 1}, runs(repository.SumsQuery{Job: b}))
	require.Equal(t, []int64{5, 5},
		runs(repository.SumsQuery{Kind: statistics.KindGroup, Names: []string{"none", "gü\xff"}}))
	require.Equal(t, []int64{500}, runs(repository.SumsQuery{Kind: statistics.KindCluster, Names: []string{""}}))
	require.Empty(t, runs(repository.SumsQuery{Kind: statistics.KindGroup}))
	require.Empty(t, runs(repository.SumsQuery{Kind: statistics.KindNode, Names: []string{"gü\xff"}}))

	top, err := s.Statistics.TopJobs(t.Context(), repository.TopRuns, hours, days, 5)
	require.NoError(t, err)
	require.Equal(t, []repository.BinaryID{a, b}, top)
	totals, err := s.Statistics.JobTotals(t.Context(), []repository.BinaryID{b, a, {9}}, repository.TopRuns, hours, days)
	require.NoError(t, err)
	require.Equal(t, []repository.JobTotal{
		{Job: a, Runs: 120, Failures: 2, DurationMs: 120_000}, {Job: b, Runs: 2, Failures: 4, DurationMs: 2000},
	}, totals)
	totals, err = s.Statistics.JobTotals(t.Context(), []repository.BinaryID{a, b}, repository.TopFailures, hours, days)
	require.NoError(t, err)
	require.Equal(t, []repository.BinaryID{b, a}, []repository.BinaryID{totals[0].Job, totals[1].Job})
	totals, err = s.Statistics.JobTotals(t.Context(), nil, repository.TopRuns, hours, days)
	require.NoError(t, err)
	require.Empty(t, totals)
	top, err = s.Statistics.TopJobs(t.Context(), repository.TopFailures, hours, days, 1)
	require.NoError(t, err)
	require.Equal(t, []repository.BinaryID{b}, top)
	top, err = s.Statistics.TopJobs(t.Context(), repository.TopSkipped, hours, days, 5)
	require.NoError(t, err)
	require.Empty(t, top)
	_, err = s.Statistics.TopJobs(t.Context(), "runs; DROP TABLE", hours, days, 1)
	require.ErrorContains(t, err, "cannot be ordered")
	_, err = s.Statistics.JobTotals(t.Context(), top, "runs; DROP TABLE", hours, days)
	require.ErrorContains(t, err, "cannot be ordered")

	var old []repository.SumKey
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) (err error) {
		if old, err = w.OldSums(ctx, statistics.Hour, at(1), 10); err != nil {
			return err
		}
		return w.DropSums(ctx, old)
	})
	require.ElementsMatch(t, keys[:3], old, "the hour before")
	require.Equal(t, []int64{10, 10, 100}, runs(repository.SumsQuery{Job: a}))
}

// A baseline is written over, and read with and without a transaction.
func baselines(t *testing.T, s *persistence.Store) {
	ids := []repository.BinaryID{{1}, {2, 0xff}, {3}}
	whole := make([]byte, 256)
	for i := range whole {
		whole[i] = byte(i)
	}
	for seq, data := range [][]byte{{9}, whole} {
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error {
			return w.PutBaselines(ctx, []repository.StoredBaseline{
				{Job: ids[0], Data: data, FoldSeq: int64(seq)}, {Job: ids[1], Data: data, FoldSeq: int64(seq)},
			})
		})
	}
	want := map[repository.BinaryID]repository.StoredBaseline{
		ids[0]: {Job: ids[0], Data: whole, FoldSeq: 1}, ids[1]: {Job: ids[1], Data: whole, FoldSeq: 1},
	}
	got, err := s.Statistics.BaselinesOf(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, want, got)
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) (err error) {
		got, err = w.Baselines(ctx, ids)
		return err
	})
	require.Equal(t, want, got)
	got, err = s.Statistics.BaselinesOf(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

// A fire keeps when it was opened, whatever is written over it.
func fires(t *testing.T, s *persistence.Store) {
	keys := []repository.FireKey{{Job: repository.BinaryID{1}, Fire: 1<<64 - 1}, {Job: repository.BinaryID{2}, Fire: 0}}
	put := func(at time.Time, data byte, seq int64, keys ...repository.FireKey) {
		change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error {
			var all []repository.OpenFire
			for _, key := range keys {
				all = append(all, repository.OpenFire{FireKey: key, Opened: at, Data: []byte{data, 0x80}, FoldSeq: seq})
			}
			return w.PutOpenFires(ctx, all)
		})
	}
	put(storetest.Noon, 1, 1, keys[0])
	put(storetest.Noon.Add(time.Hour), 2, 2, keys...)
	var got map[repository.FireKey]repository.OpenFire
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) (err error) {
		got, err = w.OpenFires(ctx, append(keys, repository.FireKey{Job: keys[0].Job, Fire: 5}))
		return err
	})
	require.Equal(t, map[repository.FireKey]repository.OpenFire{
		keys[0]: {FireKey: keys[0], Opened: storetest.Noon, Data: []byte{2, 0x80}, FoldSeq: 2},
		keys[1]: {FireKey: keys[1], Opened: storetest.Noon.Add(time.Hour), Data: []byte{2, 0x80}, FoldSeq: 2},
	}, got)
	old, err := s.Statistics.OpenedBefore(t.Context(), storetest.Noon.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Equal(t, keys[:1], old)
	change(t, s, func(ctx context.Context, w repository.StatisticsWriter) error { return w.DropOpenFires(ctx, keys) })
	old, err = s.Statistics.OpenedBefore(t.Context(), storetest.Noon.AddDate(1, 0, 0), 10)
	require.NoError(t, err)
	require.Empty(t, old)
}

// A deleted job has its group until it is purged.
func groupsOf(t *testing.T, s *persistence.Store) {
	jobs := []*entity.Job{storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)}
	jobs[0].Group, jobs[1].Group = "Gruppe 零", "other"
	storetest.Add(t, s, jobs)
	storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
		jobs[1].Version++
		jobs[1].NextFireTime, jobs[1].DueTime = time.Time{}, time.Time{}
		return tx.Jobs.Update(ctx, jobs[1], true)
	})
	one, _ := identity.Bytes(jobs[0].ID)
	two, _ := identity.Bytes(jobs[1].ID)
	got, err := s.Statistics.GroupsOf(t.Context(), []repository.BinaryID{one, two, {9}})
	require.NoError(t, err)
	require.Equal(t, map[repository.BinaryID]string{one: "Gruppe 零", two: "other"}, got)
}
