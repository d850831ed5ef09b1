package persistence_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

func TestFilesThatCannotBeUsedAreExplained(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	require.NoError(t, os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 1000)), 0o600))
	good := dbtest.SQLite(t)
	data, err := os.ReadFile(good.Path)
	require.NoError(t, err)
	truncated := filepath.Join(dir, "truncated.db")
	require.NoError(t, os.WriteFile(truncated, data[:len(data)/3], 0o600))
	for path, want := range map[string]string{
		garbage:                                "not a usable SQLite database",
		truncated:                              "not a usable SQLite database",
		filepath.Join(dir, "missing", "db.db"): "check that its directory exists",
		dir:                                    "check that its directory exists",
		"":                                     "no path",
	} {
		_, err := persistence.Open(t.Context(), persistence.Config{
			Config:      sqldb.Config{Driver: "sqlite", Path: path},
			AutoMigrate: true,
		})
		require.ErrorContains(t, err, want, path)
	}
	left, err := os.ReadFile(garbage)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("not a database ", 1000), string(left), "a foreign file is left alone")
}

func TestPathsMayHoldAnything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ä dir with ? & # % 'quote'", "db.db")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	dbtest.Open(t, persistence.Config{Config: sqldb.Config{Driver: "sqlite", Path: path}, AutoMigrate: true})
	_, err := os.Stat(path)
	require.NoError(t, err)
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for want, cfg := range map[string]sqldb.Config{
		"store.driver":      {Driver: "postgres"},
		"store.synchronous": {Driver: "sqlite", Path: filepath.Join(t.TempDir(), "x.db"), Synchronous: "OFF"},
		"store.dsn (PS_STORE_DSN) is not of the form": {Driver: "mysql", DSN: "::"},
		"names no database":                           {Driver: "mysql", DSN: "u:p@tcp(127.0.0.1:1)/"},
	} {
		_, err := persistence.Open(t.Context(), persistence.Config{Config: cfg, AutoMigrate: true})
		require.ErrorContains(t, err, want)
	}
	_, err := persistence.Open(t.Context(),
		persistence.Config{Config: sqldb.Config{Driver: "mysql", DSN: "u:secret@tcp(127.0.0.1:1)/db"}})
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.NotContains(t, err.Error(), "audit")
}

func TestDurabilityIsReported(t *testing.T) {
	cfg := dbtest.SQLite(t)
	for level, want := range map[string]string{
		"": "synchronous=FULL", "full": "synchronous=FULL",
		"NORMAL": "synchronous=NORMAL",
	} {
		cfg.Synchronous = level
		info := dbtest.Open(t, cfg).Info()
		require.Contains(t, info.Durability, want)
		require.NotEmpty(t, info.Version)
	}
}

func TestSessionsOfMySQLAreSetUp(t *testing.T) {
	dbtest.NeedMySQL(t)
	s := dbtest.Open(t, dbtest.MySQL(t))
	require.NotEmpty(t, s.Info().Durability)
	for name, c := range map[string]struct {
		ctx      context.Context
		lockWait string
	}{
		"the engine's": {t.Context(), "1"},
		"callers'":     {repository.WithStatementTimeout(t.Context(), time.Minute), "3"},
	} {
		want := map[string]string{"time_zone": "+00:00", "innodb_lock_wait_timeout": c.lockWait}
		if strings.Contains(s.Info().Version, "MariaDB") { // MySQL has no such time-out, and another name
			want["idle_transaction_timeout"], want["tx_isolation"] = "10", "READ-COMMITTED"
		} else {
			want["transaction_isolation"] = "READ-COMMITTED"
		}
		require.NoError(t, dbtest.Write(c.ctx, s, repository.LaneAPI, "test", func(ctx context.Context, tx dbtest.Tx) error {
			for variable, value := range want {
				got, err := tx.QueryText(ctx, "SELECT @@SESSION."+variable)
				require.NoError(t, err)
				require.Equal(t, value, got, "%s of %s sessions", variable, name)
			}
			return nil
		}))
	}
}

// A process that is frozen inside of a transaction holds rows until the server
// ends it (engine rule 11): what it holds is free then, and nothing of it stays.
func TestAnIdleTransactionIsEndedByTheServer(t *testing.T) {
	dbtest.NeedMySQL(t)
	s := dbtest.Open(t, dbtest.MySQL(t))
	if !strings.Contains(s.Info().Version, "MariaDB") {
		return // MySQL 8 cannot: nodes end the sessions of those that are dead
	}
	insert := "INSERT INTO scheduler_job_group (name, create_time) VALUES ('held', '2026-01-01 00:00:00.000')"
	times := 0
	require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "idle",
		func(ctx context.Context, tx dbtest.Tx) error {
			if times++; times > 1 {
				return nil // a transaction whose connection has gone begins anew
			}
			_, err := tx.Exec(ctx, "SET SESSION idle_transaction_timeout = 1")
			require.NoError(t, err)
			_, err = tx.Exec(ctx, insert)
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				return dbtest.Write(t.Context(), s, repository.LaneFire, "test", func(ctx context.Context, tx dbtest.Tx) error {
					_, err := tx.Exec(ctx, insert)
					return err
				}) == nil
			}, 20*time.Second, 50*time.Millisecond, "the row is free, although its transaction has not ended")
			_, err = tx.QueryText(ctx, "SELECT 1")
			require.Error(t, err)
			return err
		}))
	require.Equal(t, 2, times)
}

func TestACrashLosesNothingCommitted(t *testing.T) {
	cfg := dbtest.SQLite(t)
	cfg.Synchronous = "FULL"
	s := dbtest.Open(t, cfg)
	_, err := s.Register(t.Context(), nodeOf("n1"))
	require.NoError(t, err)
	// What a killed process leaves behind: the file and its log, as they are.
	copied := persistence.Config{Config: sqldb.Config{Driver: "sqlite", Path: filepath.Join(t.TempDir(), "copy.db")}}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(cfg.Path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied.Path+suffix, data, 0o600))
	}
	nodes, err := dbtest.Open(t, copied).All(t.Context())
	require.NoError(t, err)
	require.Len(t, nodes, 1)
}

func TestTwoProcessesMayShareAFileForAWhile(t *testing.T) {
	cfg := dbtest.SQLite(t)
	s := dbtest.Open(t, cfg)
	other, err := sql.Open("sqlite", cfg.Path)
	require.NoError(t, err)
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(),
		"INSERT INTO scheduler_job_group (name, create_time) VALUES ('g', '2026-01-01 00:00:00.000')")
	require.NoError(t, err)
	written := make(chan error, 1)
	go func() {
		_, err := s.Register(context.Background(), nodeOf("n1"))
		written <- err
	}()
	select {
	case err := <-written:
		require.Fail(t, "the writer did not wait", "%v", err)
	default:
	}
	require.NoError(t, tx.Commit())
	require.NoError(t, <-written)
}
