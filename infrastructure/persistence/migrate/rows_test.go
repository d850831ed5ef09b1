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

// The window binds FIRE_ONCE since. A job that holds the former default loses no catch-up, also not by a rollback to a
// version of before; a window that somebody chose, and that of another policy, stay.
func TestTheFormerWindowOfFireOnceBecomesAYear(t *testing.T) {
	const day, year = 86_400, 31_536_000
	cases := []struct {
		policy       entity.MisfirePolicy
		before, then int
	}{
		{entity.MisfireFireOnce, day, year},
		{entity.MisfireFireOnce, 3600, 3600},
		{entity.MisfireFireOnce, 0, 0},
		{entity.MisfireFireOnce, day + 1, day + 1},
		{entity.MisfireFireAll, day, day},
		{entity.MisfireSkip, day, day},
	}
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		jobs := make([]*entity.Job, len(cases))
		for i, c := range cases {
			jobs[i] = storetest.PlannedJob(i+1, storetest.Noon)
			jobs[i].Misfire = entity.Misfire{Policy: c.policy, ThresholdSec: 60, WindowSec: c.before, MaxFires: 1000}
			jobs[i].Description = `{"misfire":{"Policy":"FIRE_ONCE","WindowSec":86400,"MaxFires":1}}`
			jobs[i].Data = jobs[i].Description
		}
		func() { storetest.Add(t, dbtest.Open(t, cfg), jobs) }()
		again(t, cfg, "misfire_window.sql")
		s := dbtest.Open(t, cfg)
		for i, c := range cases {
			want := *jobs[i]
			want.Misfire.WindowSec = c.then
			got, err := s.Jobs.Get(t.Context(), want.ID)
			require.NoError(t, err)
			require.Equal(t, &want, got, "%+v", c)
			version, err := s.Jobs.Version(t.Context(), want.ID, 1)
			require.NoError(t, err)
			require.Equal(t, want.Misfire, version.Misfire, "%+v", c)
			require.Equal(t, want.Data, version.Data)
		}
	})
}
