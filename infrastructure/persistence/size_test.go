package persistence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestEachTableSaysWhatItTakesOfTheDisk(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		before := sizeOf(t, s, "scheduler_job_execution")
		fillHistory(t, s, 3000)
		after := sizeOf(t, s, "scheduler_job_execution")
		if cfg.Driver == "sqlite" {
			require.EqualValues(t, 3000, after.Rows)
			require.Greater(t, after.Bytes-before.Bytes, int64(3000*100), "the rows and their indexes")
		}
		require.Positive(t, after.Bytes)
	})
}

func sizeOf(t *testing.T, s *persistence.Store, table string) persistence.TableSize {
	t.Helper()
	all, err := s.Sizes(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(all), 30)
	for i, size := range all {
		require.Contains(t, size.Table, "scheduler_")
		if i > 0 {
			require.LessOrEqual(t, size.Bytes, all[i-1].Bytes, "the largest first")
		}
		if size.Table == table {
			return size
		}
	}
	require.Fail(t, "no "+table)
	return persistence.TableSize{}
}
