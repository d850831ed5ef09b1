// Package migrate brings the schema of a store to the version of this program,
// and tells which programs a schema serves.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"

	migrations "github.com/platform-scheduler/platform-scheduler/sql"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// SchemaTable is where goose keeps the schema's version.
const SchemaTable = "scheduler_schema_version"

// The wait for another node that migrates: a minute, in pieces that are
// shorter than the driver waits for a silent server.
const (
	lockTries   = 12
	lockTrySec  = 5
	lockWaitAll = lockTries * lockTrySec * time.Second
)

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string
	// AppliedAt is zero while the step is pending.
	AppliedAt time.Time
}

// Migrator changes the schema. It is used by one goroutine.
type Migrator struct {
	db       *sql.DB
	dialect  goose.Dialect
	provider *goose.Provider
	// guard keeps other processes out while work runs.
	guard func(ctx context.Context, work func() error) error
}

// Open connects to the store of cfg without looking at its schema.
func Open(ctx context.Context, cfg sqldb.Config) (*Migrator, error) {
	m := &Migrator{}
	var files fs.FS
	var err error
	switch cfg.Driver {
	case dialect.MySQL:
		m.db, err = connect.MySQL(ctx, cfg.DSN, 2, func(c *mysql.Config) { c.ParseTime = true }) // goose reads times
		m.dialect, m.guard = goose.DialectMySQL, m.mysqlGuard
		files, _ = fs.Sub(migrations.MySQL, "mysql") // the directory is embedded
	case dialect.SQLite:
		if err := RefuseRestoring(cfg.Path); err != nil {
			return nil, err
		}
		m.dialect = goose.DialectSQLite3
		m.guard = func(ctx context.Context, work func() error) error { return sqliteGuard(ctx, cfg.Path, work) }
		// Guarded too: of two that make the same new file, one would find it locked.
		err = m.guard(ctx, func() (err error) {
			m.db, err = connect.SQLite(ctx, cfg.Path, 1, "foreign_keys(0)")
			return err
		})
		files, _ = fs.Sub(migrations.SQLite, "sqlite")
	default:
		return nil, dialect.UnknownDriver(cfg.Driver)
	}
	if err != nil {
		return nil, err
	}
	m.provider, err = goose.NewProvider(m.dialect, m.db, files, goose.WithTableName(SchemaTable),
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		_ = m.db.Close()
		return nil, fmt.Errorf("read the migrations: %w", err)
	}
	return m, nil
}

// DB are the connections over which the migrator asks. They end with Close.
func (m *Migrator) DB() *sql.DB { return m.db }

// Exclusively calls work while no other process migrates the store.
func (m *Migrator) Exclusively(ctx context.Context, work func() error) error {
	return m.guard(ctx, work)
}

// Close closes the migrator's connections.
func (m *Migrator) Close() error { return m.db.Close() }

// Prepare brings the schema of a store to this program's version, or checks
// that it is; a store that a copy has not finished is refused. ahead is true for a
// newer schema that serves this program.
func Prepare(ctx context.Context, cfg sqldb.Config, auto bool) (ahead bool, err error) {
	m, err := Open(ctx, cfg)
	if err != nil {
		return false, err
	}
	defer func() { _ = m.Close() }()
	ahead, err = m.Prepare(ctx, auto)
	if err != nil {
		return false, err
	}
	return ahead, m.refuseUnfinished(ctx, cfg.Driver)
}

// Prepare brings the schema to this program's version, or checks that it is.
// ahead is true for a newer schema that serves this program.
func (m *Migrator) Prepare(ctx context.Context, auto bool) (ahead bool, err error) {
	if auto {
		if _, err := m.Up(ctx); err != nil {
			return false, err
		}
	}
	err = m.guard(ctx, func() error { // reading the version may create its table
		current, target, err := m.versions(ctx)
		if ahead = current > target; err != nil || current >= target {
			return err
		}
		return &connect.OpenError{
			Remedy: fmt.Sprintf("the store's schema is version %d and this program needs %d; run `platform-scheduler migrate "+
				"up`, or set store.autoMigrate (PS_STORE_AUTO_MIGRATE)", current, target),
		}
	})
	return ahead, err
}

// versions returns the schema's version and this program's. A newer schema that
// does not serve this program is an error: an old program must not write into
// tables it does not know.
func (m *Migrator) versions(ctx context.Context) (current, target int64, err error) {
	sources := m.provider.ListSources()
	target = sources[len(sources)-1].Version
	current, err = m.provider.GetDBVersion(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if current > target {
		return current, target, m.served(ctx, current, target)
	}
	return current, target, nil
}

// Up applies every pending step, while no other process does, and returns
// those it applied.
func (m *Migrator) Up(ctx context.Context) (applied []Migration, err error) {
	err = m.guard(ctx, func() error {
		current, target, err := m.versions(ctx)
		if err != nil || current > target {
			return err
		}
		results, err := m.provider.Up(ctx)
		if err != nil {
			return fmt.Errorf("migrate the schema: %w", err)
		}
		for _, r := range results {
			applied = append(applied, Migration{Version: r.Source.Version, Name: r.Source.Path})
		}
		return m.declare(ctx)
	})
	return applied, err
}

// Down undoes the latest step, and with it the rows of its table.
func (m *Migrator) Down(ctx context.Context) (undone Migration, err error) {
	err = m.guard(ctx, func() error {
		current, target, err := m.versions(ctx)
		if err == nil && current > target {
			err = fmt.Errorf("the latest step is version %d, which this program does not know; undo it with the program that "+
				"made it", current)
		}
		if err != nil {
			return err
		}
		r, err := m.provider.Down(ctx)
		if err != nil {
			return fmt.Errorf("undo a migration: %w", err)
		}
		undone = Migration{Version: r.Source.Version, Name: r.Source.Path}
		return nil
	})
	return undone, err
}

// mysqlGuard holds a named lock of the server, which ends with its session.
func (m *Migrator) mysqlGuard(ctx context.Context, work func() error) (err error) {
	conn, err := m.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("lock the schema: %w", err)
	}
	defer func() { _ = conn.Close() }()
	var got sql.NullInt64
	const lock = "CONCAT('platform-scheduler.migrate.', DATABASE())"
	for range lockTries {
		if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+lock+", ?)", lockTrySec).Scan(&got); err != nil {
			return fmt.Errorf("lock the schema: %w", err)
		}
		if got.Int64 == 1 {
			break
		}
	}
	if got.Int64 != 1 {
		return errors.New("another process has been migrating the schema for a minute; wait for it, or end its session")
	}
	defer func() {
		_, unlock := conn.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK("+lock+")")
		err = errors.Join(err, unlock)
	}()
	return work()
}

// sqliteGuard holds the lock beside the file: the file's own cannot be held around
// migrations that are transactions themselves.
func sqliteGuard(ctx context.Context, path string, work func() error) error {
	unlock, err := connect.LockBeside(ctx, path, lockWaitAll)
	if err != nil {
		return fmt.Errorf("lock the schema: %w", err)
	}
	err = work()
	return errors.Join(err, unlock())
}
