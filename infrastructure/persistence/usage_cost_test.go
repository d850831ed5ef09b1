package persistence_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// TestUsageIsOneStatementABatch counts what a batch of ends of commands has more than one of other ends, which pay
// nothing: TestWhatPlainExecutionsCost. SQLite runs one prepared statement for each row.
func TestUsageIsOneStatementABatch(t *testing.T) {
	usages := make([]entity.AttemptUsage, 100)
	for i := range usages {
		usages[i] = entity.AttemptUsage{
			ExecutionID: (history{}).run(i).ID, Attempt: 1, Usage: entity.Usage{CPUMs: 1200, PeakKb: 35 << 10},
		}
	}
	for driver, want := range map[string]traffic{
		"sqlite": price(100, 100, 400, 17500), "mysql": price(1, 100, 400, 7124),
	} {
		t.Run(driver, func(t *testing.T) {
			cfg := dbtest.SQLite(t)
			if driver == "mysql" {
				dbtest.NeedMySQL(t)
				cfg = dbtest.Migrated(t)
			}
			s, meter := metered(t, cfg, false)
			cost := func(rows []entity.AttemptUsage) traffic {
				meter.Reset()
				require.NoError(t, s.Write(t.Context(), repository.LaneComplete, "x",
					func(ctx context.Context, tx repository.Tx) error { return tx.Records.AddUsages(ctx, rows) }))
				sum, _ := meter.Transactions()
				return sum
			}
			none, all := cost(nil), cost(usages)
			require.Equal(t, want, price(all.Statements-none.Statements, all.Rows-none.Rows, all.Values-none.Values,
				all.Bytes-none.Bytes))
		})
	}
}
