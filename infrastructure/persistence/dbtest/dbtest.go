// Package dbtest gives every test a store of its own: a new SQLite file, or a
// scratch database on the MySQL or MariaDB server that PS_TEST_MYSQL_DSN names.
package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// The environment of the tests. The user of the DSN must be allowed to create
// and drop databases whose names begin with ps_test_; the DSN's own database
// is not touched.
const (
	envDSN     = "PS_TEST_MYSQL_DSN"
	envRequire = "PS_TEST_REQUIRE_SERVICES"
	// envTemplates names a folder in which the processes of one run share what the migrations made.
	envTemplates = "PS_TEST_TEMPLATES"
)

// Each runs a test on SQLite, and on MySQL or MariaDB; see NeedMySQL.
func Each(t *testing.T, test func(t *testing.T, cfg persistence.Config)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("mysql", func(t *testing.T) {
		NeedMySQL(t)
		test(t, Migrated(t))
	})
}

// NeedMySQL skips the test where no server is given, and fails it where services
// are required.
func NeedMySQL(t testing.TB) {
	t.Helper()
	if !HasMySQL(t) {
		t.Skipf("it needs a MySQL or MariaDB server: set %s, or run make test", envDSN)
	}
}

// HasMySQL reports whether a server is given. Where services are required, its
// absence fails the test.
func HasMySQL(t testing.TB) bool {
	t.Helper()
	if os.Getenv(envDSN) != "" {
		return true
	}
	if os.Getenv(envRequire) == "1" {
		require.Fail(t, "no MySQL server", "%s is not set and %s=1", envDSN, envRequire)
	}
	return false
}

// template is an empty, migrated SQLite file that tests copy.
var template = sync.OnceValues(func() ([]byte, error) {
	return shared("sqlite", func() ([]byte, error) {
		return Template(func(context.Context, *persistence.Store) error { return nil })
	})
})

// Template returns a migrated SQLite file with what fill puts into it, for SQLiteFrom.
func Template(fill func(ctx context.Context, s *persistence.Store) error) ([]byte, error) {
	dir, err := os.MkdirTemp("", "dbtest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	s, err := persistence.Open(context.Background(), persistence.Config{
		Config:      sqldb.Config{Driver: "sqlite", Path: path},
		AutoMigrate: true,
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(fill(context.Background(), s), s.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// SQLite is the configuration of a fresh file.
func SQLite(t testing.TB) persistence.Config {
	t.Helper()
	data, err := template()
	require.NoError(t, err)
	return SQLiteFrom(t, data)
}

// SQLiteAt puts a fresh file where a server looks for its own, so that its start has nothing to migrate.
func SQLiteAt(t testing.TB, path string) {
	t.Helper()
	data, err := template()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// SQLiteFrom is the configuration of a copy of a Template.
func SQLiteFrom(t testing.TB, data []byte) persistence.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scheduler.db")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return persistence.Config{Config: sqldb.Config{Driver: "sqlite", Path: path, Synchronous: "NORMAL"}, AutoMigrate: true}
}

// Open opens a store and closes it at the end of the test.
func Open(t testing.TB, cfg persistence.Config) *persistence.Store {
	t.Helper()
	s, err := persistence.Open(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Raw is a bare connection to a scratch database, to look or to meddle behind
// the store's back.
func Raw(t testing.TB, cfg persistence.Config) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", cfg.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Tx is a transaction with a way around its repositories, for measurements and
// for looking behind them.
type Tx struct {
	repository.Tx
	conn *sqldb.Conn
}

// Write is Store.Write with a Tx.
func Write(ctx context.Context, s *persistence.Store, lane repository.Lane, name string,
	fn func(ctx context.Context, tx Tx) error,
) error {
	return s.ChangeWaiting(ctx, lane, name, lane <= repository.LaneComplete,
		func(ctx context.Context, c *sqldb.Conn) error {
			return fn(ctx, Tx{Tx: engine.NewTx(c), conn: c})
		})
}

// Exec runs a bare statement and returns how many rows it found.
func (tx Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return tx.conn.Exec(ctx, "test", query, args...)
}

// QueryText reads one value; it is empty where there is no row.
func (tx Tx) QueryText(ctx context.Context, query string, args ...any) (string, error) {
	rows, err := sqldb.Collect(ctx, tx.conn, "test", query, args, sqlvalue.ScanText)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0], nil
}
