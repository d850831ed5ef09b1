package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// mysqlMaxConns is the number of a node's connections where none is given.
const mysqlMaxConns = 32

// shares are how a node's connections to a server are divided
// (docs/adr/0007-connections-and-the-lease.md): whoever calls the API cannot
// take those of the engine, and neither those of clock, locks and registry. One
// more is the beats' own.
type shares struct{ engine, callers, side int }

func sharesOf(total int) shares {
	if total <= 0 {
		total = mysqlMaxConns
	}
	s := shares{callers: max(total*3/8, 1), side: min(max(total/8, 1), 3)}
	s.engine = max(total-s.callers-s.side-1, 1)
	return s
}

// The bounds of the sessions of each share.
const (
	// engineLockWaitSec is short, because a row that somebody holds must not hold
	// up the others of a batch; callers are there for one job.
	engineLockWaitSec, callerLockWaitSec = 1, 3
	// engineSilence is how long a statement of the engine waits for an answer:
	// each loop knows what to do without. Callers are bound by their own time-outs.
	engineSilence, callerSilence = 5 * time.Second, 20 * time.Second
)

// poolSettings are the bounds of one share of the connections.
type poolSettings struct {
	conns, lockWaitSec int
	silence            time.Duration
	// sessions are told of each connection, unless nil.
	sessions *sessions
	// connect is sql.OpenDB when nil.
	connect func(driver.Connector) *sql.DB
}

// openPool gives connections with these bounds; a time-out that the DSN names
// stays as it is.
func openPool(base *mysql.Config, p poolSettings) (*sql.DB, error) {
	cfg := base.Clone()
	cfg.Params["innodb_lock_wait_timeout"] = strconv.Itoa(p.lockWaitSec)
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = p.silence
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = p.silence
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	if p.sessions != nil {
		connector = noted{connector, p.sessions}
	}
	if p.connect == nil {
		p.connect = sql.OpenDB
	}
	db := p.connect(connector)
	db.SetMaxOpenConns(p.conns)
	db.SetMaxIdleConns(p.conns)
	db.SetConnMaxIdleTime(time.Minute)
	db.SetConnMaxLifetime(10 * time.Minute) // follow a fail-over behind a name
	return db, nil
}

// pools are the connections of a node but for the beats': what a caller of the
// API asks for has those of callers, see repository.WithStatementTimeout.
type pools struct{ own, callers *sql.DB }

func (p pools) of(ctx context.Context) *sql.DB {
	if p.callers != nil && repository.HasStatementTimeout(ctx) {
		return p.callers
	}
	return p.own
}

// PrepareContext implements gorm.ConnPool.
func (p pools) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return p.of(ctx).PrepareContext(ctx, query)
}

// ExecContext implements gorm.ConnPool.
func (p pools) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return p.of(ctx).ExecContext(ctx, query, args...)
}

// QueryContext implements gorm.ConnPool.
func (p pools) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return p.of(ctx).QueryContext(ctx, query, args...)
}

// QueryRowContext implements gorm.ConnPool.
func (p pools) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return p.of(ctx).QueryRowContext(ctx, query, args...)
}

// HasServer reports whether the store is a server, not a file.
func (s *Core) HasServer() bool { return s.side != nil }

// SideConn takes one of the connections of clock, locks and registry. Only a
// store with a server has them. The caller closes it.
func (s *Core) SideConn(ctx context.Context) (*sql.Conn, error) { return s.side.Conn(ctx) }

// SessionIDs are the ids of this process's sessions at the server, in ascending
// order and a bounded number. Only a store with a server has them.
func (s *Core) SessionIDs() []int64 { return s.sessions.list() }

// OpenDedicated opens connections that nothing else uses and that never end by
// themselves. dial bounds the network's part of a new one, silence how long a
// statement waits for an answer. Only a store with a server has them.
func (s *Core) OpenDedicated(dial, silence time.Duration) (*sql.DB, error) {
	settings := s.settings.Clone()
	settings.Timeout = dial                      // the network alone; signing in comes on top
	settings.Params["wait_timeout"] = "31536000" // its node may be suspended for long
	// Two, so that a new one need not wait for the end of one that hangs.
	db, err := openPool(settings, poolSettings{conns: 2, lockWaitSec: engineLockWaitSec, silence: silence, sessions: s.sessions})
	if err != nil {
		return nil, err
	}
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	return db, nil
}
