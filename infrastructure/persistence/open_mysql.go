package persistence

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// The settings of our MySQL sessions.
const (
	// lockWaitSec is short, because a node that is frozen inside a transaction
	// must not hold up the others (engine rule 11).
	lockWaitSec = 3
	// idleInTransactionSec ends such a transaction where the server can
	// (MariaDB). No transaction of ours waits for anything but the store.
	idleInTransactionSec = 10
	mysqlMaxConns        = 16
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
		return nil, mistaken("store.dsn (PS_STORE_DSN) names no database; write user:password@tcp(host:port)/database")
	}
	if err := cfg.Apply(mysql.Charset("utf8mb4", "utf8mb4_bin")); err != nil {
		return nil, fmt.Errorf("read store.dsn: %w", err)
	}
	cfg.ParseTime = false // times are text, see stamp
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
	if cfg.ReadTimeout == 0 {
		cfg.ReadTimeout = 20 * time.Second
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = 20 * time.Second
	}
	return cfg, nil
}

// mysqlVariables asks a server for what differs between servers.
func mysqlVariables(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SHOW VARIABLES WHERE Variable_name IN ('version', 'tx_isolation', 'transaction_isolation',
		'idle_transaction_timeout', 'max_allowed_packet', 'log_bin', 'sync_binlog', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite')`)
	if err != nil {
		return nil, fmt.Errorf("reach the store: %w", err)
	}
	defer rows.Close()
	vars := make(map[string]string)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read the store's settings: %w", err)
		}
		vars[strings.ToLower(name)] = value
	}
	return vars, rows.Err()
}

// mysqlSession sets what every session needs, in the one SET that the driver
// sends after connecting. The isolation is part of it because naming it at
// each BEGIN costs a round trip a transaction.
func mysqlSession(cfg *mysql.Config, vars map[string]string) {
	set := map[string]string{
		"sql_mode":                 "'" + sqlMode + "'",
		"innodb_lock_wait_timeout": strconv.Itoa(lockWaitSec),
		"time_zone":                "'+00:00'",
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
}

// connectMySQL gives a pool with our session settings, changed by adjust if
// that is given.
func connectMySQL(ctx context.Context, dsn string, maxConns int, adjust func(*mysql.Config)) (*sql.DB, map[string]string, error) {
	cfg, err := mysqlConfig(dsn)
	if err != nil {
		return nil, nil, err
	}
	if adjust != nil {
		adjust(cfg)
	}
	plain, err := mysql.NewConnector(cfg.Clone())
	if err != nil {
		return nil, nil, fmt.Errorf("read store.dsn: %w", err)
	}
	probe := sql.OpenDB(plain)
	bounded, cancel := context.WithTimeout(ctx, probeBound)
	defer cancel()
	vars, err := mysqlVariables(bounded, probe)
	_ = probe.Close()
	if err != nil {
		return nil, nil, connectError(cfg, err)
	}
	mysqlSession(cfg, vars)
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("read store.dsn: %w", err)
	}
	db := sql.OpenDB(connector)
	if maxConns <= 0 {
		maxConns = mysqlMaxConns
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(time.Minute)
	db.SetConnMaxLifetime(10 * time.Minute) // follow a fail-over behind a name
	return db, vars, nil
}

func (s *core) openMySQL(ctx context.Context, cfg Config) (gorm.Dialector, error) {
	db, vars, err := connectMySQL(ctx, cfg.DSN, cfg.MaxConns, nil)
	if err != nil {
		return nil, err
	}
	s.dialect, s.pool = newMySQLDialect(), db
	s.dialect.valuesLists = strings.Contains(vars["version"], "MariaDB")
	s.closers = append(s.closers, lastly(db.Close))
	s.info = Info{Driver: driverMySQL, Version: vars["version"]}
	for _, name := range []string{"innodb_flush_log_at_trx_commit", "innodb_doublewrite", "log_bin", "sync_binlog"} {
		s.info.Durability = append(s.info.Durability, name+"="+vars[name])
	}
	return gormmysql.New(gormmysql.Config{Conn: db, SkipInitializeWithVersion: true}), nil
}

// lastly closes what may have lost its server already: then there is nothing to
// say good-bye to, and no reason for a stop to fail.
func lastly(closing func() error) func() error {
	return func() error {
		_ = closing()
		return nil
	}
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
