package connect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Server holds the connections of a node to a MySQL or MariaDB server.
type Server struct {
	// Engine and Callers are the pools of the engine and of callers of the API.
	Engine, Callers *sql.DB
	// Side is the pool of clock, locks and registry, which no load of the engine
	// may keep waiting.
	Side *sql.DB
	// Version is what the server calls itself.
	Version string
	// Doubt is a sentence about a server that is not known; see assess.
	Doubt string
	// Durability holds the settings that decide what survives, such as "log_bin=ON".
	Durability []string

	sessions *sessions
	// settings are those of a session, for further connections.
	settings *mysql.Config
}

// OpenServer opens the shares of maxConns connections, see sharesOf. Connections of the
// engine and of callers are made by over. Close must be called on what is returned.
// The error is an OpenError where a setting may be wrong.
func OpenServer(
	ctx context.Context, dsn string, maxConns int, over func(driver.Connector) *sql.DB,
) (*Server, error) {
	at, err := reachMySQL(ctx, dsn, nil)
	if err != nil {
		return nil, err
	}
	s := &Server{Version: at.vars["version"], Doubt: at.doubt, sessions: newSessions(), settings: at.settings}
	n := sharesOf(maxConns)
	for _, share := range []struct {
		pool **sql.DB
		of   poolSettings
	}{
		{&s.Engine, poolSettings{conns: n.engine, lockWaitSec: engineLockWaitSec, silence: engineSilence, over: over}},
		{&s.Callers, poolSettings{conns: n.callers, lockWaitSec: callerLockWaitSec, silence: callerSilence, over: over}},
		{&s.Side, poolSettings{conns: n.side, lockWaitSec: engineLockWaitSec, silence: engineSilence, over: sql.OpenDB}},
	} {
		share.of.sessions = s.sessions
		if *share.pool, err = openPool(at.settings, share.of); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	for _, name := range []string{"innodb_flush_log_at_trx_commit", "innodb_doublewrite", "log_bin", "sync_binlog"} {
		s.Durability = append(s.Durability, name+"="+at.vars[name])
	}
	return s, nil
}

// IsMariaDB tells MariaDB from MySQL.
func (s *Server) IsMariaDB() bool { return strings.Contains(s.Version, "MariaDB") }

// SessionIDs are the ids of this process's sessions at the server, in ascending
// order and a bounded number.
func (s *Server) SessionIDs() []int64 { return s.sessions.list() }

// Close closes the shares. They may have lost their server already: then there is
// nothing to say good-bye to, and no reason for a stop to fail.
func (s *Server) Close() error {
	for _, db := range []*sql.DB{s.Side, s.Callers, s.Engine} {
		if db != nil {
			_ = db.Close()
		}
	}
	return nil
}

// OpenDedicated opens connections that nothing else uses and that never end by
// themselves. dial bounds the network's part of a new one, silence how long a
// statement waits for an answer.
func (s *Server) OpenDedicated(dial, silence time.Duration) (*sql.DB, error) {
	settings := s.settings.Clone()
	settings.Timeout = dial                      // the network alone; signing in comes on top
	settings.Params["wait_timeout"] = "31536000" // its node may be suspended for long
	// Two, so that a new one need not wait for the end of one that hangs.
	db, err := openPool(settings, poolSettings{
		conns: 2, lockWaitSec: engineLockWaitSec, silence: silence,
		sessions: s.sessions, over: sql.OpenDB,
	})
	if err != nil {
		return nil, err
	}
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	return db, nil
}
