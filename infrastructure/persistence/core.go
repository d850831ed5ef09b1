package persistence

import (
	"context"
	"database/sql"
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
	// AutoMigrate brings the schema up to date at Open. Without it an older
	// schema is refused.
	AutoMigrate bool
	// MaxConns bounds the connections, see sharesOf; 0 means 32 (MySQL) or 4
	// readers (SQLite).
	MaxConns int
	// Clock is the machine's clock when nil.
	Clock clock.Clock
	// Logger discards when nil.
	Logger *slog.Logger
	// Observe is told of each statement and transaction; may be nil.
	Observe Observer
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

// core is what every part of a store works with.
type core struct {
	dialect *dialect
	// pool runs reads, and on MySQL writes; writer is SQLite's only writer.
	pool   pools
	writer *liteWriter
	// side is the pool of clock, locks and registry, which no load of the engine
	// may keep waiting; nil on SQLite.
	side     *sql.DB
	sessions *sessions
	// settings are those of a session, for further connections.
	settings *mysql.Config
	// read runs statements outside of transactions.
	read    *conn
	orm     *gorm.DB
	clock   clock.Clock
	log     *slog.Logger
	observe Observer
	unread  *unreadRows
	info    Info
	closers *closers
}

// openCore opens the connections, whatever the schema is. Close must be called on
// what is returned. The error is an OpenError where a setting may be wrong.
func openCore(ctx context.Context, cfg Config) (*core, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.NewSystem()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &core{clock: cfg.Clock, log: cfg.Logger, observe: cfg.Observe, closers: &closers{}}
	s.unread = &unreadRows{clock: cfg.Clock, log: cfg.Logger, count: cfg.Unreadable, seen: map[unreadKey]*sighting{}}
	if err := s.open(ctx, cfg); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *core) open(ctx context.Context, cfg Config) error {
	var dialector gorm.Dialector
	var err error
	switch cfg.Driver {
	case driverMySQL:
		dialector, err = s.openMySQL(ctx, cfg)
	case driverSQLite:
		dialector, err = s.openSQLite(ctx, cfg)
	default:
		return unknownDriver(cfg.Driver)
	}
	if err != nil {
		return err
	}
	s.orm, err = gorm.Open(dialector, ormConfig())
	if err == nil {
		err = heedPatience(s.orm)
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", cfg.Driver, err)
	}
	var pool gorm.ConnPool = s.pool
	if s.dialect.lite() {
		pool = newLiteReader(s.pool.own)
	}
	s.read = s.connOver(pool)
	return nil
}

// unknownDriver is the error for a driver that is neither of the two.
func unknownDriver(name string) error {
	return fmt.Errorf("store.driver is %q; it must be sqlite or mysql", name)
}

// apart is the same store over the connections of clock, locks and registry. A
// caller of the API has those of callers here, too.
func (s *core) apart() *core {
	if s.side == nil {
		return s
	}
	out := *s
	out.pool.own = s.side
	read := *s.read
	read.ConnPool = out.pool
	out.read = &read
	return &out
}

// connOver is a conn whose statements run over a connection of the caller's.
func (s *core) connOver(pool gorm.ConnPool) *conn {
	return &conn{ConnPool: pool, d: s.dialect, clock: s.clock, observe: s.observe, orm: s.orm, unread: s.unread}
}

// closers end what a store has opened, the latest first.
type closers struct{ calls []func() error }

// onClose has Close call closing before what was registered earlier.
func (s *core) onClose(closing func() error) { s.closers.calls = append(s.closers.calls, closing) }

// Close ends the background work and closes all connections. A transaction
// that runs on SQLite is waited for.
func (s *core) Close() error {
	var errs []error
	for i := len(s.closers.calls) - 1; i >= 0; i-- {
		errs = append(errs, s.closers.calls[i]())
	}
	s.closers.calls = nil
	return errors.Join(errs...)
}

// Info describes the store.
func (s *core) Info() Info { return s.info }
