// Package sqldb is the way to the database: connections to SQLite or MySQL and
// MariaDB, transactions in lanes, what the two say differently, and the forms of
// values, pages and bulk statements that all tables share. It knows no table.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Config says which store to open. Exactly one of DSN and Path is used.
type Config struct {
	// Driver is "sqlite" or "mysql"; MariaDB is "mysql" too.
	Driver string
	// DSN is go-sql-driver's "user:password@tcp(host:port)/database"; TLS and
	// time-outs may be given, everything else about sessions is set here.
	DSN string
	// Path is the SQLite file. Its directory must exist.
	Path string
	// Synchronous is SQLite's: FULL (default) survives a loss of power, NORMAL
	// only a crash of the process.
	Synchronous string
	// MaxConns bounds the connections, see sharesOf; 0 means 32 (MySQL) or 4
	// readers (SQLite).
	MaxConns int
	// Clock is the machine's clock when nil.
	Clock clock.Clock
	// Logger discards when nil.
	Logger *slog.Logger
	// Observe is told of each statement and transaction; may be nil.
	Observe Observer
	// Connect opens the connections of the engine and of callers over those of the
	// driver, so that a measurement can stand between; sql.OpenDB when nil.
	Connect func(driver.Connector) *sql.DB
	// Unreadable is told of each row that cannot be read in whole, each time that
	// it is met: "job", "execution", "group", "node" or "backfill". May be nil.
	Unreadable func(kind string)
}

// Info describes a store, for the output of benches and the log.
type Info struct {
	Driver  string
	Version string
	// Durability holds the settings that decide what survives, such as
	// "synchronous=FULL" or "log_bin=ON".
	Durability []string
}

// Core is what every part of a store works with.
type Core struct {
	Dialect *Dialect
	// conns runs reads, and on MySQL writes; writer is SQLite's only writer.
	conns  pools
	writer *sqliteWriter
	// side is the pool of clock, locks and registry, which no load of the engine
	// may keep waiting; nil on SQLite.
	side     *sql.DB
	sessions *sessions
	// settings are those of a session, for further connections.
	settings *mysql.Config
	// Pool runs statements outside of transactions.
	Pool    *Conn
	orm     *gorm.DB
	Clock   clock.Clock
	Log     *slog.Logger
	observe Observer
	unread  *unreadRows
	info    Info
	closers *closers
}

// Open opens the connections, whatever the schema is. Close must be called on
// what is returned. The error is an OpenError where a setting may be wrong.
func Open(ctx context.Context, cfg Config) (*Core, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.NewSystem()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Core{Clock: cfg.Clock, Log: cfg.Logger, observe: cfg.Observe, closers: &closers{}}
	s.unread = &unreadRows{clock: cfg.Clock, log: cfg.Logger, count: cfg.Unreadable, seen: map[unreadKey]*sighting{}}
	if err := s.open(ctx, cfg); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Core) open(ctx context.Context, cfg Config) error {
	var dialector gorm.Dialector
	var err error
	switch cfg.Driver {
	case MySQL:
		dialector, err = s.openMySQL(ctx, cfg)
	case SQLite:
		dialector, err = s.openSQLite(ctx, cfg)
	default:
		return UnknownDriver(cfg.Driver)
	}
	if err != nil {
		return err
	}
	s.orm, err = gorm.Open(dialector, ormConfig())
	if err == nil {
		err = boundGormReads(s.orm)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", cfg.Driver, err)
	}
	var pool gorm.ConnPool = s.conns
	if s.Dialect.IsSQLite() {
		pool = newSQLiteReader(s.conns.own)
	}
	s.Pool = s.ConnOver(pool)
	return nil
}

// UnknownDriver is the error for a driver that is neither of the two.
func UnknownDriver(name string) error {
	return fmt.Errorf("store.driver is %q; it must be sqlite or mysql", name)
}

// Aside is the same store over the connections of clock, locks and registry. A
// caller of the API has those of callers here, too.
func (s *Core) Aside() *Core {
	if s.side == nil {
		return s
	}
	out := *s
	out.conns.own = s.side
	read := *s.Pool
	read.ConnPool = out.conns
	out.Pool = &read
	return &out
}

// ConnOver is a Conn whose statements run over a connection of the caller's.
func (s *Core) ConnOver(pool gorm.ConnPool) *Conn {
	return &Conn{ConnPool: pool, Dialect: s.Dialect, Clock: s.Clock, observe: s.observe, orm: s.orm, unread: s.unread}
}

// closers end what a store has opened, the latest first.
type closers struct{ calls []func() error }

// OnClose has Close call closing before what was registered earlier.
func (s *Core) OnClose(closing func() error) { s.closers.calls = append(s.closers.calls, closing) }

// Close ends the background work and closes all connections. A transaction
// that runs on SQLite is waited for.
func (s *Core) Close() error {
	var errs []error
	for i := len(s.closers.calls) - 1; i >= 0; i-- {
		errs = append(errs, s.closers.calls[i]())
	}
	s.closers.calls = nil
	return errors.Join(errs...)
}

// Info describes the store.
func (s *Core) Info() Info { return s.info }
