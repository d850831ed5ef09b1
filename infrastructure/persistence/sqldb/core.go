// Package sqldb runs statements and transactions on SQLite, MySQL and MariaDB: each
// statement under a name, each transaction in its lane. It knows no table.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"

	litegorm "github.com/libtnb/sqlite"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
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
	// MaxConns bounds the connections, see package connect; 0 means 32 (MySQL) or 4
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
	// EventsAdded is called after each commit that added events to the outbox, also when
	// nobody knows whether it did. It must not wait; may be nil.
	EventsAdded func()
	// TodosAdded is called likewise for each kind of what a commit added that is owed.
	TodosAdded func(kind entity.TodoKind)
}

// Info describes a store, for the output of benches and the log.
type Info struct {
	Driver  string
	Version string
	// Durability holds the settings that decide what survives, such as
	// "synchronous=FULL" or "log_bin=ON".
	Durability []string
	// Doubt is a sentence about a server that is not known; empty for others.
	Doubt string
}

// Core is what every part of a store works with.
type Core struct {
	Dialect *dialect.Dialect
	// conns runs reads, and on MySQL writes; writer is SQLite's only writer.
	conns  pools
	writer *sqliteWriter
	// Server holds the connections of a store that is a server; nil on SQLite.
	Server *connect.Server
	// Pool runs statements outside of transactions.
	Pool    *Conn
	orm     *gorm.DB
	Clock   clock.Clock
	Log     *slog.Logger
	observe Observer
	unread  *unreadRows
	full    *fullness
	wary    *wary
	// eventsAdded and todosAdded are Config's.
	eventsAdded func()
	todosAdded  func(kind entity.TodoKind)
	info        Info
	closers     *closers
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
	s := &Core{
		Clock:       cfg.Clock,
		Log:         cfg.Logger,
		observe:     cfg.Observe,
		eventsAdded: cfg.EventsAdded, todosAdded: cfg.TodosAdded,
		closers: &closers{},
		wary:    &wary{},
	}
	s.full = &fullness{clock: cfg.Clock, log: cfg.Logger}
	s.unread = &unreadRows{clock: cfg.Clock, log: cfg.Logger, count: cfg.Unreadable, seen: map[unreadKey]*sighting{}}
	if err := s.open(ctx, cfg); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Core) open(ctx context.Context, cfg Config) error {
	if cfg.Connect == nil {
		cfg.Connect = sql.OpenDB
	}
	var orm gorm.Dialector
	var pool gorm.ConnPool
	var err error
	switch cfg.Driver {
	case dialect.MySQL:
		orm, err = s.openServer(ctx, cfg)
		pool = s.conns
	case dialect.SQLite:
		orm, err = s.openFile(ctx, cfg)
		pool = newSQLiteReader(s.conns.own)
	default:
		return dialect.UnknownDriver(cfg.Driver)
	}
	if err != nil {
		return err
	}
	s.orm, err = gorm.Open(orm, ormConfig())
	if err == nil {
		err = boundGormReads(s.orm)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", cfg.Driver, err)
	}
	s.Pool = s.ConnOver(pool)
	return nil
}

func (s *Core) openServer(ctx context.Context, cfg Config) (gorm.Dialector, error) {
	server, err := connect.OpenServer(ctx, cfg.DSN, cfg.MaxConns, cfg.Connect)
	if err != nil {
		return nil, err
	}
	s.OnClose(server.Close)
	if server.Doubt != "" {
		s.Log.Warn(server.Doubt)
	}
	s.Server, s.Dialect = server, dialect.NewMySQL(server.IsMariaDB())
	s.conns = pools{own: server.Engine, callers: server.Callers}
	s.info = Info{Driver: dialect.MySQL, Version: server.Version, Durability: server.Durability, Doubt: server.Doubt}
	return gormmysql.New(gormmysql.Config{Conn: s.conns.own, SkipInitializeWithVersion: true}), nil
}

func (s *Core) openFile(ctx context.Context, cfg Config) (gorm.Dialector, error) {
	file, err := connect.OpenFile(ctx, cfg.Path, cfg.Synchronous, cfg.MaxConns, cfg.Connect)
	if err != nil {
		return nil, err
	}
	s.Dialect, s.writer, s.conns.own = dialect.NewSQLite(), &sqliteWriter{db: file.Writer}, file.Readers
	s.OnClose(s.writer.close)
	s.OnClose(file.Readers.Close)
	s.OnClose(file.Keeper.Close)
	s.OnClose(s.startCheckpoints(file.Keeper))
	s.info = Info{Driver: dialect.SQLite, Version: file.Version, Durability: file.Durability}
	return litegorm.New(litegorm.Config{Conn: s.conns.own}), nil
}

// ormConfig: no transaction of GORM's own, no statement cache, no log; names
// and durations of statements go to the Observer.
func ormConfig() *gorm.Config {
	return &gorm.Config{
		SkipDefaultTransaction:   true,
		DisableNestedTransaction: true,
		DisableAutomaticPing:     true,
		Logger:                   logger.Discard,
	}
}

// Aside is the same store over the connections of clock, locks and registry. A
// caller of the API has those of callers here, too.
func (s *Core) Aside() *Core {
	if s.Server == nil {
		return s
	}
	out := *s
	out.conns.own = s.Server.Side
	read := *s.Pool
	read.ConnPool = out.conns
	out.Pool = &read
	return &out
}

// ConnOver is a Conn whose statements run over a connection of the caller's.
func (s *Core) ConnOver(pool gorm.ConnPool) *Conn {
	return &Conn{
		ConnPool: pool, Dialect: s.Dialect, Clock: s.Clock, observe: s.observe, orm: s.orm, unread: s.unread, full: s.full,
	}
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
