package persistence_test

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A reader of the sums of some jobs of an hour locks these rows alone. The server knows nothing yet of an hour that
// has just begun: it would read and lock those of all jobs.
func TestSumsOfSomeJobsLockNoOthers(t *testing.T) {
	dbtest.NeedMySQL(t)
	s := dbtest.Open(t, dbtest.Migrated(t))
	rows, keys := map[repository.SumKey]*statistics.StoredRow{}, []repository.SumKey{}
	for i := range uint64(5000) {
		key := repository.SumKey{Period: statistics.Hour, Start: enginetest.Noon.UnixMilli()}
		binary.BigEndian.PutUint64(key.Job[:], i*0x9e3779b97f4a7c15)
		keys, rows[key] = append(keys, key), &statistics.StoredRow{}
	}
	write := func(ctx context.Context, fn func(ctx context.Context, w repository.StatisticsWriter) error) error {
		return s.Write(ctx, repository.LaneLogs, "test", func(ctx context.Context, tx repository.Tx) error {
			return fn(ctx, tx.Statistics)
		})
	}
	for part := range slices.Chunk(keys, 1000) {
		require.NoError(t, write(t.Context(), func(ctx context.Context, w repository.StatisticsWriter) error {
			return w.PutSums(ctx, part, rows)
		}))
	}
	for name, take := range map[string]func(ctx context.Context, w repository.StatisticsWriter) error{
		"read": func(ctx context.Context, w repository.StatisticsWriter) error {
			_, _, err := w.Sums(ctx, keys[:100])
			return err
		},
		"delete": func(ctx context.Context, w repository.StatisticsWriter) error { return w.DropSums(ctx, keys[:100]) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, write(t.Context(), func(ctx context.Context, w repository.StatisticsWriter) error {
				if err := take(ctx, w); err != nil {
					return err
				}
				soon, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				return write(soon, func(ctx context.Context, w repository.StatisticsWriter) error {
					found, _, err := w.Sums(ctx, keys[200:300])
					require.Len(t, found, 100)
					return err
				})
			}))
		})
	}
}
