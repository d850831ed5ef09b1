package connect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	lite "modernc.org/sqlite/lib"
)

// The settings of SQLite.
const (
	sqliteReaders = 4
	// autoCheckpointPages is the back-stop: beyond this length of the log (80
	// MB) a commit does it after all.
	autoCheckpointPages = 20000
	busyTimeoutMs       = 5000
)

var errNoPath = errors.New("the SQLite store has no path")

// synchronousLevel checks Config.Synchronous.
func synchronousLevel(level string) (string, error) {
	switch strings.ToUpper(level) {
	case "", "FULL":
		return "FULL", nil
	case "NORMAL", "EXTRA":
		return strings.ToUpper(level), nil
	default:
		return "", fmt.Errorf("store.synchronous is %q; it must be FULL, NORMAL or EXTRA", level)
	}
}

// sqliteDSN names the file and the settings of each connection to it.
func sqliteDSN(path string, pragmas ...string) string {
	q := url.Values{"_txlock": {"immediate"}}
	for _, p := range append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeoutMs), "journal_mode(WAL)"}, pragmas...) {
		q.Add("_pragma", p)
	}
	return fileURI(path, q)
}

// fileURI names a file so that no character of its path is taken for an option.
func fileURI(path string, q url.Values) string {
	opaque := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	return (&url.URL{Scheme: "file", Opaque: opaque, RawQuery: q.Encode()}).String()
}

// SQLite opens one pool and tells clearly what is wrong with the file.
func SQLite(ctx context.Context, path string, conns int, pragmas ...string) (*sql.DB, error) {
	return sqliteOver(ctx, sql.OpenDB, path, conns, pragmas...)
}

// sqliteOver is SQLite with connections that over makes of the
// driver's.
func sqliteOver(ctx context.Context, over func(driver.Connector) *sql.DB, path string, conns int,
	pragmas ...string,
) (*sql.DB, error) {
	if path == "" {
		return nil, errNoPath
	}
	makePrivate(path)
	widenLookaside()
	connector, err := sqlite.NewConnector(sqliteDSN(path, pragmas...))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db := over(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if _, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil {
		_ = db.Close()
		return nil, fileError(path, err)
	}
	return db, nil
}

// SQLiteUnchanged reads a file that nobody writes, and changes nothing of it, nor beside it.
func SQLiteUnchanged(ctx context.Context, path string) (*sql.DB, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err = errors.Join(err, f.Close()); err == nil && stat.IsDir() {
		err = fmt.Errorf("%s is a folder; name the file in it", path)
	}
	if err != nil {
		return nil, err
	}
	widenLookaside()
	db, err := sql.Open("sqlite", fileURI(path, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(2)
	if _, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil {
		_ = db.Close()
		return nil, fileError(path, err)
	}
	return db, nil
}

// makePrivate makes the file where there is none, for this user alone: SQLite
// makes it by the mask of the process, and its log like the file. SQLite will
// meet any obstacle, and tell.
func makePrivate(path string) {
	if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
	}
}

// fileError says what a person can do about a file that does not open.
func fileError(path string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case lite.SQLITE_NOTADB, lite.SQLITE_CORRUPT:
			return fmt.Errorf("%s is not a usable SQLite database: it is damaged or another kind of file; move it away or "+
				"restore a backup: %w", path, err)
		case lite.SQLITE_CANTOPEN, lite.SQLITE_PERM, lite.SQLITE_READONLY, lite.SQLITE_IOERR:
			return fmt.Errorf("%s cannot be opened for writing; check that its directory exists and belongs to this user: %w",
				path, err)
		case lite.SQLITE_BUSY:
			return fmt.Errorf("%s is locked by another process: %w", path, err)
		}
	}
	return fmt.Errorf("open %s: %w", path, err)
}

// File holds the connections to a SQLite file. The caller closes each of them.
type File struct {
	// Writer has one connection, Readers the others. Keeper has one that writes
	// the log back into the file.
	Writer, Readers, Keeper *sql.DB
	// Version is SQLite's.
	Version string
	// Durability holds the settings that decide what survives, such as
	// "synchronous=FULL".
	Durability []string
}

// OpenFile opens the file at path with so many readers; 0 means 4. synchronous is
// SQLite's level: FULL, which is the default, NORMAL or EXTRA. Connections of
// writer and readers are made by over.
func OpenFile(
	ctx context.Context, path, synchronous string, readers int, over func(driver.Connector) *sql.DB,
) (f *File, err error) {
	level, err := synchronousLevel(synchronous)
	if err != nil {
		return nil, err
	}
	common := []string{
		"foreign_keys(0)", "cache_size(-32768)", "temp_store(MEMORY)", "synchronous(" + level + ")",
		fmt.Sprintf("wal_autocheckpoint(%d)", autoCheckpointPages),
	}
	f = &File{Durability: []string{"journal_mode=WAL", "synchronous=" + level}}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if readers <= 0 {
		readers = sqliteReaders
	}
	if f.Writer, err = sqliteOver(ctx, over, path, 1, common...); err != nil {
		return nil, err
	}
	if f.Readers, err = sqliteOver(ctx, over, path, readers, append(common, "query_only(1)")...); err != nil {
		return nil, err
	}
	if f.Keeper, err = SQLite(ctx, path, 1, common...); err != nil {
		return nil, err
	}
	if err = f.Readers.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&f.Version); err != nil {
		return nil, fileError(path, err)
	}
	return f, nil
}

// close closes what is open of a file that does not open in whole.
func (f *File) close() {
	for _, db := range []*sql.DB{f.Keeper, f.Readers, f.Writer} {
		if db != nil {
			_ = db.Close()
		}
	}
}

// LockBeside takes the write lock of a small database beside the file of a store,
// for which it waits at most wait. The lock ends with unlock, or with the process.
func LockBeside(ctx context.Context, path string, wait time.Duration) (unlock func() error, err error) {
	if path == "" {
		return nil, errNoPath
	}
	lock := path + "-migrate"
	makePrivate(lock)
	widenLookaside()
	db, err := sql.Open("sqlite", fileURI(lock, url.Values{
		"_txlock": {"exclusive"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds())},
	}))
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		_ = db.Close()
		return nil, fileError(lock, err)
	}
	return func() error {
		err := tx.Rollback()
		_ = db.Close()
		return err
	}, nil
}
