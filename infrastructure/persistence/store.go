// Package persistence is the store: GORM and, on the hot path, batched SQL
// over one schema in SQLite or MySQL/MariaDB. It implements the interfaces of
// domain/repository; one contract suite (package persistencetest) runs against
// both stores. What the tables and their indexes cost is measured in
// docs/adr/0001-execution-table-and-indexes.md.
package persistence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
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

// Store is an open store. It implements every interface of domain/repository
// but three: JobReader and ExecutionReader, whose methods have the same names,
// and Locker, whose names say too little alone. Those are Jobs, Executions and
// Locks. Safe for concurrent use.
type Store struct {
	*core
	// aside asks over the connections of clock, locks and registry.
	aside      *core
	Jobs       *Jobs
	Executions *Executions
	Locks      *Locks
	*Plans
	*Claims
	*Tallies
	*Records
	*RunTokens
	*Outbox
	*Nodes
	*Users
	*Groups
	*Backfills
	*Secrets
	*Tokens
	*Audit
	*IdempotentCalls
	*Retention
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
	// read is pool as a conn.
	read    *conn
	orm     *gorm.DB
	clock   clock.Clock
	log     *slog.Logger
	observe Observer
	unread  *unreadRows
	info    Info
	closers []func() error
}

// Open opens the store, checks that it answers, and checks or migrates its
// schema. A store with a newer schema is refused unless that serves this
// program. The error is an OpenError where a setting may be wrong; see Waitable
// too. Close
// must be called on what is returned.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Clock == nil {
		cfg.Clock = clock.NewSystem()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &core{clock: cfg.Clock, log: cfg.Logger, observe: cfg.Observe}
	s.unread = &unreadRows{clock: cfg.Clock, log: cfg.Logger, count: cfg.Unreadable, seen: map[unreadKey]*sighting{}}
	if err := s.open(ctx, cfg); err != nil {
		_ = s.Close()
		return nil, err
	}
	apart := s.apart()
	return &Store{
		core: s, aside: apart, Jobs: &Jobs{s.read}, Executions: &Executions{s.read}, Plans: &Plans{s.read}, Claims: &Claims{s.read}, Tallies: &Tallies{s.read}, Locks: &Locks{apart},
		Records: &Records{s.read}, RunTokens: &RunTokens{s.read}, Outbox: &Outbox{s}, Nodes: &Nodes{s: apart}, Users: &Users{s}, Groups: &Groups{s}, Backfills: &Backfills{s.read}, Secrets: &Secrets{s}, Tokens: &Tokens{s}, Audit: &Audit{s, newAuditQueue()},
		IdempotentCalls: &IdempotentCalls{s}, Retention: &Retention{s: s},
	}, nil
}

func (s *core) open(ctx context.Context, cfg Config) error {
	m, err := OpenMigrator(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	ahead, err := m.prepare(ctx, cfg.AutoMigrate)
	if err != nil {
		return err
	}
	if ahead {
		s.log.Warn("the store's schema is newer than this program, and serves it: other nodes run a newer version")
	}
	if err := m.refuseUnfinished(ctx, cfg.Driver); err != nil {
		return err
	}
	var dialector gorm.Dialector
	switch cfg.Driver {
	case driverMySQL:
		dialector, err = s.openMySQL(ctx, cfg)
	default: // OpenMigrator refused anything else
		dialector, err = s.openSQLite(ctx, cfg)
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
	s.read = &conn{ConnPool: pool, d: s.dialect, clock: s.clock, observe: s.observe, orm: s.orm, unread: s.unread}
	return nil
}

// apart is the same store over the connections of clock, locks and registry. A
// caller of the API has those of callers here, too.
func (s *core) apart() *core {
	if s.side == nil {
		return s
	}
	out := *s
	out.closers = nil
	out.pool.own = s.side
	read := *s.read
	read.ConnPool = out.pool
	out.read = &read
	return &out
}

// Close ends the background work and closes all connections. A transaction
// that runs on SQLite is waited for.
func (s *core) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// Info describes the store.
func (s *core) Info() Info { return s.info }

// Ping checks that the store answers; the error is of apperror.KindUnavailable
// when it does not. It waits for no other call of the API.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := repository.Patient(ctx)
	defer cancel()
	_, err := collect(repository.WithPatience(ctx, 0), s.aside.read, "store.ping", "SELECT 1", nil, scanInt)
	return err
}

// StoreTime implements repository.TimeSource: the server's clock in UTC, to
// the millisecond. SQLite has no server, so its time is the process's clock.
func (s *Store) StoreTime(ctx context.Context) (time.Time, error) {
	return s.aside.read.storeTime(ctx)
}

func (c *conn) storeTime(ctx context.Context) (time.Time, error) {
	if c.d.lite() {
		return c.clock.Now().Truncate(time.Millisecond), nil
	}
	rows, err := collect(ctx, c, "store.time", "SELECT UTC_TIMESTAMP(3)", nil, func(rows *sql.Rows) (t stamp, err error) {
		err = rows.Scan(&t)
		return t, err
	})
	if err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("store.time: %d rows", len(rows))
	}
	return rows[0].time(), nil
}
