package storecopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// Verify reads a backup whole and compares it with the sums in it. It changes nothing.
func Verify(ctx context.Context, path string, progress func(Progress)) (info Info, err error) {
	db, err := connect.SQLiteUnchanged(ctx, path)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	info, err = verifyOpen(ctx, db, progress)
	if err == nil {
		err = sized(ctx, db, path)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return info, err
}

// sized compares the length of a file with that of its pages.
func sized(ctx context.Context, db *sql.DB, path string) error {
	stat, err := os.Stat(path)
	if err != nil {
		return err
	}
	var pages int64
	err = db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&pages)
	if err == nil && pages != stat.Size() {
		err = fmt.Errorf("it has %d bytes, and its pages %d: %w", stat.Size(), pages, errAltered)
	}
	return err
}

func verifyOpen(ctx context.Context, db *sql.DB, progress func(Progress)) (info Info, err error) {
	info, tables, err := readInfo(ctx, db)
	if err != nil {
		return info, err
	}
	if found, err := shape(ctx, db); err != nil || found != info.Shape {
		return info, errors.Join(fmt.Errorf("its tables are defined in another way: %w", errAltered), err)
	}
	target, err := migrate.Target()
	if err != nil {
		return info, err
	}
	if info.Schema > target {
		return info, fmt.Errorf("its schema is version %d and this program knows up to %d; use the program that wrote it, "+
			"or a newer one", info.Schema, target)
	}
	for _, said := range tables {
		t, err := planTable(ctx, db, nil, said.name)
		if err != nil {
			return info, err
		}
		if err := t.sound(ctx, db); err != nil {
			return info, errors.Join(errAltered, err)
		}
		sum, err := t.sum(ctx, db)
		if err != nil {
			return info, errors.Join(errAltered, err)
		}
		if sum.rows != said.rows || sum.text() != said.sum {
			return info, fmt.Errorf("%s has %d rows with the sum %s instead of %d with %s: %w", said.name, sum.rows, sum.text(),
				said.rows, said.sum, errAltered)
		}
		progress(Progress{Table: said.name, Done: sum.rows, Rows: sum.rows, Verified: true})
	}
	return info, nil
}

// Restore puts a backup into an empty store, which then stands by; info is what Verify found. It changes nothing of it.
// A restore that was interrupted leaves a store that no server opens, and is started over when it is called again.
func Restore(ctx context.Context, path string, info Info, to sqldb.Config, progress func(Progress)) error {
	if to.Driver == dialect.MySQL {
		return restoreServer(ctx, path, info, to, progress)
	}
	// What a killed server left beside its store would be taken for a part of the restored one.
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if _, err := os.Stat(to.Path + end); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("a store, or what was left of one, is there (%s); name an empty data folder, or "+
				"move it away", to.Path+end), err)
		}
	}
	err := restoreFile(ctx, path, to.Path)
	if err != nil {
		_ = removeFile(migrate.UnfinishedFile(to.Path)) // the first error says why
	}
	return err
}

// restoreFile makes the backup the store of a standalone server.
func restoreFile(ctx context.Context, path, to string) error {
	part := migrate.UnfinishedFile(to)
	if err := copyFile(path, part); err != nil {
		return err
	}
	if err := unmark(ctx, part); err != nil {
		return err
	}
	// A server opens no folder in which the part lies. The rename takes it away and names the store in one.
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return fmt.Errorf("name the restored store: %w", err)
	}
	return errors.Join(removeFile(part), syncFile(filepath.Dir(to)))
}

// copyFile writes the file anew: what an interrupted restore left is thrown away.
func copyFile(from, to string) (err error) {
	if err := removeFile(to); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(target, source); err != nil {
		err = fmt.Errorf("copy the backup to %s: %w", to, err)
	}
	return errors.Join(err, target.Close())
}

// unmark makes a copy of a backup a store of this program's schema.
func unmark(ctx context.Context, path string) (err error) {
	m, err := migrate.Open(ctx, sqldb.Config{Driver: dialect.SQLite, Path: path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if _, err := m.Up(ctx); err != nil {
		return err
	}
	for _, statement := range []string{"DROP TABLE " + infoTable, "DROP TABLE " + sumTable, "PRAGMA journal_mode = DELETE"} {
		if _, err := m.DB().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make the backup a store: %w", err)
		}
	}
	return nil
}

// restoreServer copies the backup into a database of a server. One of an older schema is migrated first, in a copy.
func restoreServer(ctx context.Context, path string, info Info, to sqldb.Config, progress func(Progress)) (err error) {
	target, err := migrate.Target()
	if err != nil {
		return err
	}
	if info.Schema < target {
		folder, err := os.MkdirTemp("", "restore-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(folder) }()
		newer := filepath.Join(folder, "newer.db")
		if err := copyFile(path, newer); err != nil {
			return err
		}
		if err := unmark(ctx, newer); err != nil {
			return err
		}
		path = newer
	}
	from, err := connect.SQLiteUnchanged(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	_, err = into(ctx, from, to, progress)
	return err
}
