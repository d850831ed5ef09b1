package persistence_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// A store that has no room says so by itself, on SQLite and on a server, and no longer than a minute.
func TestAStoreWithoutRoomSaysSo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		cfg.Clock = clocktest.NewManual(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
		s := dbtest.Open(t, cfg)
		require.Empty(t, s.Full())
		// The clock stands still, so a transaction that is tried again waits until its context ends.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stop := func(err error) error {
			if s.Full() != "" {
				cancel()
			}
			return err
		}
		err := s.Change(ctx, repository.LaneAPI, "fill", func(ctx context.Context, c *sqldb.Conn) error {
			if cfg.Driver == "sqlite" {
				return stop(fillSQLite(ctx, t, c))
			}
			return stop(fillServer(ctx, c))
		})
		require.Error(t, err)
		require.NotEmpty(t, s.Full())
		require.Contains(t, strings.ToLower(s.Full()), "full")
		cfg.Clock.(*clocktest.Manual).Advance(time.Minute + time.Second)
		require.Empty(t, s.Full(), "the store has said nothing of it for a minute")
	})
}

// fillSQLite lets the file grow no more, as a full disk does, and writes.
func fillSQLite(ctx context.Context, t *testing.T, c *sqldb.Conn) error {
	var pages int
	_, err := sqldb.Collect(ctx, c, "pages", "PRAGMA max_page_count = 1", nil, func(rows *sql.Rows) (int, error) {
		return 0, rows.Scan(&pages) // SQLite sets it to the pages that there are
	})
	require.NoError(t, err)
	return write(ctx, c, "CREATE TABLE filler (text BLOB)", "INSERT INTO filler VALUES (randomblob(1000000))")
}

// fillServer fills a table in memory, whose bound is answered as that of a disk is.
func fillServer(ctx context.Context, c *sqldb.Conn) error {
	return write(ctx, c, "SET SESSION max_heap_table_size = 16384",
		"CREATE TEMPORARY TABLE filler (text CHAR(200)) ENGINE = MEMORY",
		"INSERT INTO filler VALUES ('a'), ('b')",
		"INSERT INTO filler SELECT a.text FROM information_schema.columns i, (SELECT 'c' AS text) a LIMIT 1000")
}

func write(ctx context.Context, c *sqldb.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := c.Exec(ctx, "fill", statement); err != nil {
			return err
		}
	}
	return nil
}
