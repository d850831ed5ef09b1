// Package dbtest gives every test a store of its own: a new SQLite file, or a
// scratch database on the MySQL or MariaDB server that PS_TEST_MYSQL_DSN names.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// The environment of the tests. The user of the DSN must be allowed to create
// and drop databases whose names begin with ps_test_; the DSN's own database
// is not touched.
const (
	envDSN     = "PS_TEST_MYSQL_DSN"
	envRequire = "PS_TEST_REQUIRE_SERVICES"
)

// Each runs a test on SQLite, and on MySQL or MariaDB; see NeedMySQL.
func Each(t *testing.T, test func(t *testing.T, cfg persistence.Config)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("mysql", func(t *testing.T) {
		NeedMySQL(t)
		test(t, MySQL(t))
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
	dir, err := os.MkdirTemp("", "dbtest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	s, err := persistence.Open(context.Background(), persistence.Config{Driver: "sqlite", Path: path, AutoMigrate: true})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// SQLite is the configuration of a fresh file.
func SQLite(t testing.TB) persistence.Config {
	t.Helper()
	data, err := template()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "scheduler.db")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return persistence.Config{Driver: "sqlite", Path: path, Synchronous: "NORMAL", AutoMigrate: true}
}

// MySQL is the configuration of a scratch database, which is dropped at the
// end of the test.
func MySQL(t testing.TB) persistence.Config {
	t.Helper()
	cfg, err := mysql.ParseDSN(os.Getenv(envDSN))
	require.NoError(t, err)
	name := "ps_test_" + random(t)
	cfg.DBName = ""
	admin, err := sql.Open("mysql", cfg.FormatDSN())
	require.NoError(t, err)
	_, err = admin.ExecContext(context.Background(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name)
		require.NoError(t, err)
		require.NoError(t, admin.Close())
	})
	cfg.DBName = name
	return persistence.Config{Driver: "mysql", DSN: cfg.FormatDSN(), AutoMigrate: true}
}

// Open opens a store and closes it at the end of the test.
func Open(t testing.TB, cfg persistence.Config) *persistence.Store {
	t.Helper()
	s, err := persistence.Open(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func random(t testing.TB) string {
	t.Helper()
	b := make([]byte, 6)
	_, err := rand.Read(b)
	require.NoError(t, err, fmt.Sprintf("read %d random bytes", len(b)))
	return hex.EncodeToString(b)
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
