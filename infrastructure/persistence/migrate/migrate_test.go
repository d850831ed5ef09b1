package migrate_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
)

// newer makes the schema one of a release to come, which serves programs from a
// version on; nothing is said of that where oldest is 0.
func newer(t *testing.T, cfg persistence.Config, oldest int) {
	t.Helper()
	s := dbtest.Open(t, cfg)
	require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "test",
		func(ctx context.Context, tx dbtest.Tx) error {
			if _, err := tx.Exec(ctx,
				"INSERT INTO scheduler_schema_version (version_id, is_applied) VALUES (99999, 1)"); err != nil {
				return err
			}
			if oldest == 0 {
				_, err := tx.Exec(ctx, "DELETE FROM scheduler_schema_compat")
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE scheduler_schema_compat SET min_version = ?", oldest)
			return err
		}))
}

func TestANewerSchemaIsRefusedUnlessItServesThisProgram(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		for _, oldest := range []int{99999, 0} {
			newer(t, cfg, oldest)
			for _, auto := range []bool{true, false} {
				cfg.AutoMigrate = auto
				_, err := persistence.Open(t.Context(), cfg)
				require.ErrorContains(t, err, "version 99999, newer than this program")
				require.False(t, connect.Waitable(err))
			}
			require.NoError(t, pretend(t, cfg))
			cfg.AutoMigrate = true
		}
	})
}

// pretend takes the release to come back.
func pretend(t *testing.T, cfg persistence.Config) error {
	t.Helper()
	driver, dsn := "mysql", cfg.DSN
	if cfg.Path != "" {
		driver, dsn = "sqlite", cfg.Path
	}
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "DELETE FROM scheduler_schema_version WHERE version_id = 99999")
	return err
}

func TestANewerSchemaThatServesThisProgramIsServed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		newer(t, cfg, 31)
		for _, auto := range []bool{true, false} {
			cfg.AutoMigrate = auto
			require.NoError(t, dbtest.Open(t, cfg).Ping(t.Context()))
		}
		m, err := migrate.Open(t.Context(), cfg.Config)
		require.NoError(t, err)
		defer m.Close()
		applied, err := m.Up(t.Context())
		require.NoError(t, err)
		require.Empty(t, applied)
		_, err = m.Down(t.Context())
		require.ErrorContains(t, err, "undo it with the program that made it")
	})
}

func TestAnOlderSchemaIsRefusedWithoutAutoMigrate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		require.NoError(t, dbtest.Open(t, cfg).Ping(t.Context()))
		m, err := migrate.Open(t.Context(), cfg.Config)
		require.NoError(t, err)
		defer m.Close()
		schema, err := migrate.ReadSchema(t.Context(), cfg.Config)
		require.NoError(t, err)
		states := schema.Migrations
		undone, err := m.Down(t.Context())
		require.NoError(t, err)
		require.Equal(t, states[len(states)-1].Name, undone.Name, "the latest")
		cfg.AutoMigrate = false
		_, err = persistence.Open(t.Context(), cfg)
		require.ErrorContains(t, err, "migrate up")
		require.True(t, connect.Waitable(err), "somebody else may do it")
		applied, err := m.Up(t.Context())
		require.NoError(t, err)
		require.Len(t, applied, 1)
		schema, err = migrate.ReadSchema(t.Context(), cfg.Config)
		require.NoError(t, err)
		require.Empty(t, schema.Pending())
		dbtest.Open(t, cfg)
	})
}

func TestEveryMigrationCanBeUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		m, err := migrate.Open(t.Context(), cfg.Config)
		require.NoError(t, err)
		defer m.Close()
		for range 2 {
			_, err = m.Up(t.Context())
			require.NoError(t, err)
			schema, err := migrate.ReadSchema(t.Context(), cfg.Config)
			require.NoError(t, err)
			for range schema.Migrations {
				_, err = m.Down(t.Context())
				require.NoError(t, err)
			}
		}
	})
}

func TestNodesMayStartTogetherOnAnEmptyStore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		if cfg.Path != "" {
			cfg.Path = filepath.Join(t.TempDir(), "fresh.db")
		}
		const nodes = 4
		errs := make([]error, nodes)
		var wg sync.WaitGroup
		for i := range nodes {
			wg.Go(func() {
				s, err := persistence.Open(t.Context(), cfg)
				if err == nil {
					err = s.Close()
				}
				errs[i] = err
			})
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
	})
}
