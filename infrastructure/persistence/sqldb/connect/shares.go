package connect

import (
	"database/sql"
	"database/sql/driver"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
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
	// over opens the connections over those of the driver.
	over func(driver.Connector) *sql.DB
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
	db := p.over(connector)
	db.SetMaxOpenConns(p.conns)
	db.SetMaxIdleConns(p.conns)
	db.SetConnMaxIdleTime(time.Minute)
	db.SetConnMaxLifetime(10 * time.Minute) // follow a fail-over behind a name
	return db, nil
}
