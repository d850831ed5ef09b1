package persistence_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

var (
	copiedJob  = repository.BinaryID{1, 0xff, 0, '\'', '\\', 0x80}
	copiedFire = repository.FireKey{Job: copiedJob, Fire: 1<<63 + 7}
	copiedSums = []repository.SumKey{
		{Period: statistics.Hour, Start: 3_600_000, Job: copiedJob},
		{Period: statistics.Hour, Start: 3_600_000, Kind: statistics.KindCluster},
		{Period: statistics.Day, Start: 86_400_000, Kind: statistics.KindGroup, Name: "Gruppe 零\xff"},
	}
)

// fillStatistics writes what ends add up to. No batch is open: its ids are empty bytes,
// which are not NULL.
func fillStatistics(t *testing.T, s *persistence.Store, at time.Time) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "fill", func(ctx context.Context, tx repository.Tx) error {
		fold, err := tx.Statistics.LockFold(ctx)
		if err != nil {
			return err
		}
		fold.Seq, fold.Until = 1<<40, at
		if err := tx.Statistics.SaveFold(ctx, fold); err != nil {
			return err
		}
		if err := tx.Statistics.AddDigests(ctx, at, []statistics.Digest{{Ends: 2, Data: []byte{0, 0xff, 0x80}}}); err != nil {
			return err
		}
		empty, full := &statistics.StoredRow{FoldSeq: 1}, &statistics.StoredRow{FoldSeq: 2}
		full.Runs, full.DurationMs = 1<<40, 1<<50
		full.Duration.Add(time.Second)
		if err := tx.Statistics.PutSums(ctx, copiedSums, map[repository.SumKey]*statistics.StoredRow{
			copiedSums[0]: full, copiedSums[1]: empty, copiedSums[2]: full,
		}); err != nil {
			return err
		}
		if err := tx.Statistics.PutBaselines(ctx,
			[]repository.StoredBaseline{{Job: copiedJob, Data: []byte{}, FoldSeq: 3}}); err != nil {
			return err
		}
		return tx.Statistics.PutOpenFires(ctx,
			[]repository.OpenFire{{FireKey: copiedFire, Opened: at, Data: []byte{0x80, 0}, FoldSeq: 4}})
	}))
	require.NoError(t, s.PutMetrics(t.Context(), []series.Row{{
		Name: "node.cpu", Period: series.Minute, Time: at.Truncate(time.Minute), NodeID: "n1", Samples: 3, Sum: 1.0 / 3,
		Max: 1e-9,
	}}))
}

// storedStatistics reads what fillStatistics wrote.
func storedStatistics(t *testing.T, s *persistence.Store) any {
	t.Helper()
	type all struct {
		Fold      repository.Fold
		Digests   []repository.Digest
		Sums      map[repository.SumKey]statistics.StoredRow
		Baselines map[repository.BinaryID]repository.StoredBaseline
		Fires     map[repository.FireKey]repository.OpenFire
		Metrics   []series.Row
	}
	var out all
	require.NoError(t, s.Write(t.Context(), repository.LaneAPI, "read",
		func(ctx context.Context, tx repository.Tx) (err error) {
			if out.Fold, err = tx.Statistics.LockFold(ctx); err != nil {
				return err
			}
			heads, err := tx.Statistics.OldestDigests(ctx, 10)
			if err != nil {
				return err
			}
			require.Len(t, heads, 1)
			if out.Digests, err = s.Statistics.Digests(ctx, []repository.BinaryID{heads[0].ID}); err != nil {
				return err
			}
			sums, _, err := tx.Statistics.Sums(ctx, copiedSums)
			if err != nil {
				return err
			}
			out.Sums = map[repository.SumKey]statistics.StoredRow{}
			for key, row := range sums {
				out.Sums[key] = *row
			}
			if out.Baselines, err = tx.Statistics.Baselines(ctx, []repository.BinaryID{copiedJob}); err != nil {
				return err
			}
			out.Fires, err = tx.Statistics.OpenFires(ctx, []repository.FireKey{copiedFire})
			return err
		}))
	var err error
	out.Metrics, err = s.ReadMetrics(t.Context(), repository.MetricQuery{
		Name: "node.cpu", Period: series.Minute, To: time.Now().AddDate(100, 0, 0), ByNode: true, Limit: 10,
	})
	require.NoError(t, err)
	require.Len(t, out.Metrics, 1)
	require.Len(t, out.Sums, len(copiedSums))
	for job, b := range out.Baselines { // the drivers differ in how they tell of empty bytes
		b.Data = append([]byte{}, b.Data...)
		out.Baselines[job] = b
	}
	require.Len(t, out.Baselines, 1)
	require.Len(t, out.Fires, 1)
	return out
}
