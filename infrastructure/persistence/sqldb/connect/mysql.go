package connect

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// The settings of our MySQL sessions.
const (
	// idleInTransactionSec ends such a transaction where the server can
	// (MariaDB). No transaction of ours waits for anything but the store.
	idleInTransactionSec = 10
	// probeBound is how long the first look at a server may take.
	probeBound = 5 * time.Second
	sqlMode    = "STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
)

// mysqlConfig reads the DSN and sets what must not be left to it.
func mysqlConfig(dsn string) (*mysql.Config, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, dsnError(err)
	}
	if cfg.DBName == "" {
		return nil, Misconfigured("store.dsn (PS_STORE_DSN) names no database; write user:password@tcp(host:port)/database")
	}
	if err := cfg.Apply(mysql.Charset("utf8mb4", "utf8mb4_bin")); err != nil {
		return nil, fmt.Errorf("read store.dsn: %w", err)
	}
	cfg.ParseTime = false // times are text, see sqlvalue.DBTime
	cfg.Loc = time.UTC
	cfg.InterpolateParams = true // one round trip a statement
	// Rows found, not rows changed: a conditional update that finds its row
	// and changes nothing has done its work.
	cfg.ClientFoundRows = true
	cfg.RejectReadOnly = true // leave a server that became a replica
	cfg.MultiStatements = false
	cfg.Collation = "utf8mb4_bin"
	cfg.Logger = &mysql.NopLogger{} // what matters comes back as an error
	if cfg.Timeout == 0 {
		cfg.Timeout = 3 * time.Second
	}
	return cfg, nil
}

// mysqlVariables asks a server for what differs between servers.
func mysqlVariables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	vars, err := pairs(ctx, db, `SHOW VARIABLES WHERE Variable_name IN ('version', 'version_comment', 'tidb_current_ts',
		'ob_query_timeout', 'tx_isolation', 'transaction_isolation', 'idle_transaction_timeout', 'max_allowed_packet',
		'log_bin', 'sync_binlog', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite')`)
	if err != nil {
		return nil, fmt.Errorf("reach the store: %w", err)
	}
	return vars, nil
}

// mysqlSession sets what every session needs, in the one SET that the driver
// sends after connecting. The isolation is part of it because naming it at
// each BEGIN costs a round trip a transaction. It refuses servers, and doubts others, as assess does.
func mysqlSession(cfg *mysql.Config, vars map[string]string) (doubt string, err error) {
	if doubt, err = assess(vars); err != nil {
		return "", err
	}
	set := map[string]string{
		"sql_mode":  "'" + sqlMode + "'",
		"time_zone": "'+00:00'",
	}
	isolation := "transaction_isolation"
	if _, ok := vars[isolation]; !ok {
		isolation = "tx_isolation" // MariaDB before 11.1
	}
	set[isolation] = "'READ-COMMITTED'"
	if _, ok := vars["idle_transaction_timeout"]; ok {
		set["idle_transaction_timeout"] = strconv.Itoa(idleInTransactionSec)
	}
	if n, err := strconv.Atoi(vars["max_allowed_packet"]); err == nil {
		cfg.MaxAllowedPacket = n - 1
	}
	cfg.Params = set
	return doubt, nil
}

// reached is a server that answered.
type reached struct {
	settings *mysql.Config
	// vars are what the server says of itself.
	vars  map[string]string
	doubt string
}

// reachMySQL gives the settings of our sessions on a server, changed by adjust
// if that is given, and what it is.
func reachMySQL(ctx context.Context, dsn string, adjust func(*mysql.Config)) (*reached, error) {
	cfg, err := mysqlConfig(dsn)
	if err != nil {
		return nil, err
	}
	if adjust != nil {
		adjust(cfg)
	}
	plain, err := mysql.NewConnector(cfg.Clone())
	if err != nil {
		return nil, fmt.Errorf("read store.dsn: %w", err)
	}
	probe := sql.OpenDB(plain)
	bounded, cancel := context.WithTimeout(ctx, probeBound)
	defer cancel()
	vars, err := mysqlVariables(bounded, probe)
	_ = probe.Close()
	if err != nil {
		return nil, connectError(cfg, err)
	}
	doubt, err := mysqlSession(cfg, vars)
	if err != nil {
		return nil, err
	}
	return &reached{settings: cfg, vars: vars, doubt: doubt}, nil
}

// MySQL gives a pool of its own with our sessions, for what is done once.
func MySQL(ctx context.Context, dsn string, conns int, adjust func(*mysql.Config)) (*sql.DB, error) {
	server, err := reachMySQL(ctx, dsn, adjust)
	if err != nil {
		return nil, err
	}
	return openPool(server.settings, poolSettings{
		conns: conns, lockWaitSec: callerLockWaitSec, silence: callerSilence,
		over: sql.OpenDB,
	})
}
