package migrate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// again undoes the migrations down to one, and applies them again to the rows there are.
func again(t *testing.T, cfg persistence.Config, name string) {
	t.Helper()
	m, err := migrate.Open(t.Context(), cfg.Config)
	require.NoError(t, err)
	defer m.Close()
	for undone := (migrate.Migration{}); !strings.Contains(undone.Name, name); {
		undone, err = m.Down(t.Context())
		require.NoError(t, err)
	}
	_, err = m.Up(t.Context())
	require.NoError(t, err)
}

// The ranges of the former release have decided time, too.
func TestRangesThatAreKeptHaveDecidedTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		jobs := []*entity.Job{storetest.PlannedJob(1, storetest.Noon), storetest.PlannedJob(2, storetest.Noon)}
		func() {
			s := dbtest.Open(t, cfg)
			storetest.Write(t, s, func(ctx context.Context, tx repository.Tx) error {
				if err := tx.Jobs.Insert(ctx, jobs...); err != nil {
					return err
				}
				var execs []*entity.Execution
				for _, hour := range []time.Duration{1, 5, 3} {
					from := storetest.Noon.Add(hour * time.Hour)
					execs = append(execs, entity.NewRange(jobs[0], entity.SkippedRange{
						First: from, End: from.Add(time.Minute), Count: 2, Reason: entity.ReasonMisfire,
					}, storetest.Noon))
				}
				fire := entity.PlannedFire(storetest.Noon, storetest.Noon, entity.TriggerSchedule)
				return tx.Executions.Insert(ctx, append(execs, entity.NewExecutions(jobs[1], fire, storetest.Noon)...))
			})
		}()
		again(t, cfg, "job_decided.sql")
		s := dbtest.Open(t, cfg)
		for i, want := range []time.Time{storetest.Noon.Add(5*time.Hour + time.Minute), {}} {
			job, err := s.Jobs.Get(t.Context(), jobs[i].ID)
			require.NoError(t, err)
			require.Equal(t, want, job.DecidedUntil)
		}
	})
}
