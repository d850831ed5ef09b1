// Package persistence is the store: GORM and, on the hot path, batched SQL
// over one schema in SQLite or MySQL/MariaDB. It implements the interfaces of
// domain/repository; one contract suite (package persistencetest) runs against
// both stores. What the tables and their indexes cost is measured in
// docs/adr/0001-execution-table-and-indexes.md.
package persistence

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// The repositories of a store by what they are for.
type (
	engineTables = EngineTables
	accessTables = AccessTables
)

// Store is an open store. It implements every interface of domain/repository
// but three: JobReader and ExecutionReader, whose methods have the same names,
// and Locker, whose names say too little alone. Those are Jobs, Executions and
// Locks. Safe for concurrent use.
type Store struct {
	*core
	// aside asks over the connections of clock, locks and registry.
	aside *core
	*engineTables
	*accessTables
}

// Open opens the store, checks that it answers, and checks or migrates its
// schema. A store with a newer schema is refused unless that serves this
// program. The error is an OpenError where a setting may be wrong; see Waitable
// too. Close must be called on what is returned.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	ahead, err := PrepareSchema(ctx, cfg, cfg.AutoMigrate)
	if err != nil {
		return nil, err
	}
	s, err := openCore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if ahead {
		s.log.Warn("the store's schema is newer than this program, and serves it: other nodes run a newer version")
	}
	aside := s.apart()
	return &Store{core: s, aside: aside, engineTables: NewEngineTables(s, aside), accessTables: NewAccessTables(s)}, nil
}

// Write implements repository.Store.
func (s *Store) Write(ctx context.Context, lane repository.Lane, name string, fn func(ctx context.Context, tx repository.Tx) error) error {
	return s.changeWaiting(ctx, lane, name, lane <= repository.LaneComplete, func(ctx context.Context, c *conn) error {
		return fn(ctx, NewTx(c))
	})
}

// Beats opens the way of a node's beats. A statement may take each, a new
// connection dial.
func (s *Store) Beats(node string, each, dial time.Duration) (*Beats, error) {
	return NewBeats(s.Nodes, node, each, dial)
}

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
