package storecopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// snapshot reads a store as it is at one moment, while others write. It takes no lock that they wait for. When the
// schema changes meanwhile, SQLite keeps the old one, and a server fails the next statement about the table.
type snapshot struct {
	db   *sql.DB
	conn *sql.Conn
	// server: the store is MySQL or MariaDB.
	server bool
	// taken is the moment, by the store's clock.
	taken time.Time
}

func openSnapshot(ctx context.Context, cfg sqldb.Config) (_ *snapshot, err error) {
	s := &snapshot{server: cfg.Driver == dialect.MySQL}
	// The level of our sessions would show each table at a moment of its own.
	begin, now := []string{
		"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	}, "SELECT UTC_TIMESTAMP(3)"
	if s.server {
		// A large table may take long before its first row.
		s.db, err = connect.MySQL(ctx, cfg.DSN, 1, func(c *mysql.Config) { c.ReadTimeout = maxAge })
	} else {
		begin = []string{"BEGIN", "SELECT COUNT(*) FROM sqlite_master"} // the first read begins it
		now = "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')"
		s.db, err = connect.SQLite(ctx, cfg.Path, 1, "query_only(1)")
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close(ctx))
		}
	}()
	if s.server {
		unfinished, err := migrate.CopyUnfinished(ctx, s.db)
		if err != nil {
			return nil, err
		}
		if unfinished {
			return nil, errors.New("the store to back up is what an interrupted copy left")
		}
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return nil, err
	}
	for _, statement := range begin {
		if _, err := s.conn.ExecContext(ctx, statement); err != nil {
			return nil, fmt.Errorf("begin to read the store: %w", err)
		}
	}
	times, err := sqlvalue.ReadAll(ctx, s.conn, now, nil, func(rows *sql.Rows) (t sqlvalue.DBTime, err error) {
		return t, rows.Scan(&t)
	})
	if err != nil || len(times) != 1 {
		return nil, fmt.Errorf("read the store's time: %w", err)
	}
	s.taken = times[0].Time()
	return s, nil
}

// schema is the version of the schema that the snapshot shows.
func (s *snapshot) schema(ctx context.Context) (version int64, err error) {
	err = s.conn.QueryRowContext(ctx, "SELECT MAX(version_id) FROM "+migrate.SchemaTable+" WHERE is_applied = 1").
		Scan(&version)
	if err != nil {
		err = fmt.Errorf("read the schema's version: %w", err)
	}
	return version, err
}

// count is how many rows of a table there are to read, of a server by its own estimate.
func (s *snapshot) count(ctx context.Context, t *table) error {
	if !s.server || t.where != "" {
		return t.count(ctx, s.conn)
	}
	return s.conn.QueryRowContext(ctx, "SELECT COALESCE(SUM(TABLE_ROWS), 0) FROM information_schema.TABLES WHERE "+
		"TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", t.name).Scan(&t.rows)
}

// apart reads a table and lets its definition go: whoever changes that need not wait for the other tables.
func (s *snapshot) apart(ctx context.Context, read func() error) error {
	if !s.server {
		return read()
	}
	if _, err := s.conn.ExecContext(ctx, "SAVEPOINT one_table"); err != nil {
		return err
	}
	if err := read(); err != nil {
		return err
	}
	_, err := s.conn.ExecContext(ctx, "ROLLBACK TO SAVEPOINT one_table")
	return err
}

// close ends the snapshot; a second call does nothing.
func (s *snapshot) close(ctx context.Context) error {
	db, conn := s.db, s.conn
	s.db, s.conn = nil, nil
	if db == nil {
		return nil
	}
	var err error
	if conn != nil {
		_, err = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, conn.Close())
	}
	return errors.Join(err, db.Close())
}
