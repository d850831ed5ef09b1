// Package persistence is the store: one schema in SQLite or MySQL/MariaDB. It
// implements the interfaces of domain/repository. Package sqldb connects, engine
// and access hold the tables, migrate and storecopy change and copy them. One
// contract suite (package persistencetest) runs against both stores. The cost
// of the tables and their indexes is measured in
// docs/adr/0001-execution-table-and-indexes.md.
package persistence

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/access"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/monitoring"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Config says which store to open, and what to do about its schema.
type Config struct {
	sqldb.Config
	// AutoMigrate brings the schema up to date at Open. Without it an older
	// schema is refused.
	AutoMigrate bool
}

// The repositories of a store by what they are for.
type (
	engineTables = engine.Tables
	accessTables = access.Tables
	metricTable  = monitoring.MetricTable
	alertTables  = alerting.Tables
)

// Store is an open store. It implements every interface of domain/repository
// but three: JobReader and ExecutionReader, whose methods have the same names,
// and Locker, whose names say too little alone. These parts are Jobs, Executions and
// Locks. Safe for concurrent use.
type Store struct {
	*sqldb.Core
	// aside asks over the connections of clock, locks and registry.
	aside *sqldb.Core
	*engineTables
	*accessTables
	*metricTable
	*alertTables
	// Statistics reads digests and what they add up to.
	Statistics *monitoring.Reader
}

// Open opens the store, checks that it answers, and checks or migrates its
// schema. A store with a newer schema is refused unless that serves this
// program. The error is an OpenError where a setting may be wrong; see Waitable
// too. Close must be called on what is returned.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	ahead, err := migrate.Prepare(ctx, cfg.Config, cfg.AutoMigrate)
	if err != nil {
		return nil, err
	}
	s, err := sqldb.Open(ctx, cfg.Config)
	if err != nil {
		return nil, err
	}
	if ahead {
		s.Log.Warn("the store's schema is newer than this program, and serves it: other nodes run a newer version")
	}
	aside := s.Aside()
	return &Store{
		Core: s, aside: aside, engineTables: engine.NewTables(s, aside), accessTables: access.NewTables(s),
		metricTable: monitoring.NewMetricTable(s),
		alertTables: alerting.NewTables(s),
		Statistics:  monitoring.NewReader(s.Pool),
	}, nil
}

// Write implements repository.Store.
func (s *Store) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return s.ChangeWaiting(ctx, lane, name, lane <= repository.LaneComplete,
		func(ctx context.Context, c *sqldb.Conn) error {
			tx := engine.NewTx(c)
			tx.Alerts, tx.Statistics = alerting.NewWriter(c), monitoring.NewWriter(c)
			return fn(ctx, tx)
		})
}

// Beats opens the way of a node's beats. A statement may take each, a new
// connection dial.
func (s *Store) Beats(node string, each, dial time.Duration) (*registry.Beats, error) {
	return registry.NewBeats(s.Nodes, node, each, dial)
}

// Ping checks that the store answers; the error is of apperror.KindUnavailable
// when it does not. It waits for no other call of the API.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := repository.BoundStatement(ctx)
	defer cancel()
	_, err := sqldb.Collect(repository.WithStatementTimeout(ctx, 0), s.aside.Pool, "store.ping", "SELECT 1", nil,
		sqlvalue.ScanInt)
	return err
}

// StoreTime implements repository.TimeSource: the server's clock in UTC, to
// the millisecond. SQLite has no server, so its time is the process's clock.
func (s *Store) StoreTime(ctx context.Context) (time.Time, error) {
	return s.aside.Pool.StoreTime(ctx)
}
