package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	migrations "github.com/platform-scheduler/platform-scheduler/sql"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// Schema is where the schema of a store stands, and where this program would
// bring it. A version is the number of a migration; 0 is a store without tables.
type Schema struct {
	Migrations []Migration
	Current    int64
	Target     int64
	// Serves is the version of the oldest program that works with the schema as
	// it is, ServesThen with the schema as this program would make it.
	Serves     int64
	ServesThen int64
}

// Pending are the migrations that this program would apply.
func (s Schema) Pending() []Migration {
	return slices.DeleteFunc(slices.Clone(s.Migrations), func(m Migration) bool { return !m.AppliedAt.IsZero() })
}

// WayBack reports whether the program that made the schema as it is still works
// with it when this one has migrated it.
func (s Schema) WayBack() bool { return s.Current == 0 || s.ServesThen <= s.Current }

// ReadSchema looks at the schema of a store and changes nothing, so that it may
// be asked beside a running server. A SQLite file that is not there is a store
// without tables.
func ReadSchema(ctx context.Context, cfg sqldb.Config) (s Schema, err error) {
	var db *sql.DB
	tables := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?"
	files, folder := fs.FS(migrations.MySQL), "mysql"
	switch cfg.Driver {
	case dialect.MySQL:
		db, err = connect.MySQL(ctx, cfg.DSN, 1, func(c *mysql.Config) { c.ParseTime = true })
	case dialect.SQLite:
		files, folder = migrations.SQLite, "sqlite"
		tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
		if _, err := os.Stat(cfg.Path); errors.Is(err, fs.ErrNotExist) {
			return schemaOf(files, folder, nil, 0)
		}
		db, err = connect.SQLite(ctx, cfg.Path, 1, "query_only(1)")
	default:
		return s, dialect.UnknownDriver(cfg.Driver)
	}
	if err != nil {
		return s, err
	}
	defer db.Close()
	r := schemaReader{db: db, tables: tables}
	applied, err := r.applied(ctx)
	if err != nil {
		return s, fmt.Errorf("read the schema's version: %w", err)
	}
	serves, err := r.serves(ctx)
	if err != nil {
		return s, fmt.Errorf("read which programs the schema serves: %w", err)
	}
	return schemaOf(files, folder, applied, serves)
}

// Target is the version of the schema to which this program brings a store.
func Target() (int64, error) {
	s, err := schemaOf(migrations.SQLite, "sqlite", nil, 0)
	return s.Target, err
}

// schemaReader reads what the schema says of itself.
type schemaReader struct {
	db *sql.DB
	// tables counts the tables of a name.
	tables string
}

func (r schemaReader) has(ctx context.Context, table string) (bool, error) {
	n := 0
	err := r.db.QueryRowContext(ctx, r.tables, table).Scan(&n)
	return n > 0, err
}

// applied are the migrations that were applied, by version.
func (r schemaReader) applied(ctx context.Context) (map[int64]Migration, error) {
	if there, err := r.has(ctx, SchemaTable); err != nil || !there {
		return nil, err
	}
	rows, err := r.db.QueryContext(ctx,
		"SELECT version_id, tstamp FROM "+SchemaTable+" WHERE is_applied AND version_id > 0 ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	applied := map[int64]Migration{}
	for rows.Next() {
		var m Migration
		if err := rows.Scan(&m.Version, &m.AppliedAt); err != nil {
			return nil, err
		}
		applied[m.Version] = m
	}
	return applied, rows.Err()
}

// serves is the oldest program that the schema says it serves; 0 where it says
// nothing.
func (r schemaReader) serves(ctx context.Context) (oldest int64, err error) {
	if there, err := r.has(ctx, CompatTable); err != nil || !there {
		return 0, err
	}
	err = r.db.QueryRowContext(ctx, "SELECT min_version FROM "+CompatTable+" WHERE id = 1").Scan(&oldest)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return oldest, err
}

// schemaOf puts what a store says beside the migrations of this program.
func schemaOf(files fs.FS, folder string, applied map[int64]Migration, serves int64) (s Schema, err error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return s, fmt.Errorf("read the migrations: %w", err)
	}
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return s, fmt.Errorf("the migration %s has no number", e.Name())
		}
		s.Migrations = append(s.Migrations, Migration{
			Version: version, Name: path.Base(e.Name()),
			AppliedAt: applied[version].AppliedAt,
		})
		s.Target = max(s.Target, version)
	}
	for version, m := range applied {
		s.Current = max(s.Current, version)
		if version > s.Target { // of a newer program
			s.Migrations = append(s.Migrations, m)
		}
	}
	slices.SortFunc(s.Migrations, func(a, b Migration) int { return int(a.Version - b.Version) })
	// A schema that does not say is not trusted by older programs.
	s.Serves = s.Current
	if serves > 0 {
		s.Serves = serves
	}
	s.ServesThen = s.Serves
	if s.Current < s.Target {
		s.ServesThen = max(serves, oldestServed)
	}
	return s, nil
}
