package sqldb

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

	litegorm "github.com/libtnb/sqlite"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	lite "modernc.org/sqlite/lib"
)

// The settings of SQLite.
const (
	sqliteReaders = 4
	// checkpointEvery moves committed pages into the file in the background,
	// so that no commit has to.
	checkpointEvery = time.Second
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

// ConnectSQLite opens one pool and tells clearly what is wrong with the file.
func ConnectSQLite(ctx context.Context, path string, conns int, pragmas ...string) (*sql.DB, error) {
	return connectSQLiteOver(ctx, sql.OpenDB, path, conns, pragmas...)
}

// connectSQLiteOver is ConnectSQLite with connections that connect makes of the
// driver's.
func connectSQLiteOver(ctx context.Context, connect func(driver.Connector) *sql.DB, path string, conns int, pragmas ...string) (*sql.DB, error) {
	if path == "" {
		return nil, errNoPath
	}
	makePrivate(path)
	connector, err := sqlite.NewConnector(sqliteDSN(path, pragmas...))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db := connect(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if _, err := db.ExecContext(ctx, "SELECT count(*) FROM sqlite_master"); err != nil {
		_ = db.Close()
		return nil, fileError(path, err)
	}
	return db, nil
}

// makePrivate makes the file where there is none, for this user alone: SQLite
// makes it by the mask of the process, and its log like the file. What stands
// against it, SQLite will meet and tell.
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
			return fmt.Errorf("%s is not a usable SQLite database: it is damaged or another kind of file; move it away or restore a backup: %w", path, err)
		case lite.SQLITE_CANTOPEN, lite.SQLITE_PERM, lite.SQLITE_READONLY, lite.SQLITE_IOERR:
			return fmt.Errorf("%s cannot be opened for writing; check that its directory exists and belongs to this user: %w", path, err)
		case lite.SQLITE_BUSY:
			return fmt.Errorf("%s is locked by another process: %w", path, err)
		}
	}
	return fmt.Errorf("open %s: %w", path, err)
}

func (s *Core) openSQLite(ctx context.Context, cfg Config) (gorm.Dialector, error) {
	level, err := synchronousLevel(cfg.Synchronous)
	if err != nil {
		return nil, err
	}
	common := []string{
		"foreign_keys(0)", "cache_size(-32768)", "temp_store(MEMORY)", "synchronous(" + level + ")",
		fmt.Sprintf("wal_autocheckpoint(%d)", autoCheckpointPages),
	}
	s.Dialect = newSQLiteDialect()
	connect := cfg.Connect
	if connect == nil {
		connect = sql.OpenDB
	}
	write, err := connectSQLiteOver(ctx, connect, cfg.Path, 1, common...)
	if err != nil {
		return nil, err
	}
	s.writer = &sqliteWriter{db: write}
	s.OnClose(s.writer.close)
	readers := cfg.MaxConns
	if readers <= 0 {
		readers = sqliteReaders
	}
	s.conns.own, err = connectSQLiteOver(ctx, connect, cfg.Path, readers, append(common, "query_only(1)")...)
	if err != nil {
		return nil, err
	}
	s.OnClose(s.conns.own.Close)
	keeper, err := ConnectSQLite(ctx, cfg.Path, 1, common...)
	if err != nil {
		return nil, err
	}
	s.OnClose(keeper.Close)
	s.OnClose(s.startCheckpoints(keeper))

	s.info = Info{Driver: SQLite, Durability: []string{"journal_mode=WAL", "synchronous=" + level}}
	if err := s.conns.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&s.info.Version); err != nil {
		return nil, fileError(cfg.Path, err)
	}
	return litegorm.New(litegorm.Config{Conn: s.conns.own}), nil
}

// startCheckpoints runs the background checkpoints and returns what stops them.
func (s *Core) startCheckpoints(db *sql.DB) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		timer := s.Clock.NewTimer(checkpointEvery)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C():
				s.checkpoint(ctx, db)
				timer.Reset(checkpointEvery)
			}
		}
	}()
	return func() error {
		cancel()
		<-ended
		return nil
	}
}

// checkpoint copies what it can without making anybody wait.
func (s *Core) checkpoint(ctx context.Context, db *sql.DB) {
	start := s.Clock.Monotonic()
	_, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	if s.observe != nil {
		s.observe("store.checkpoint", s.Clock.Monotonic()-start, err)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("the write-ahead log was not copied into the database file", "error", err)
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
