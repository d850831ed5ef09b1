package app

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/registry"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	keyring "github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// storage is the store, its clock, and what this node keeps beside it.
type storage struct {
	Store *persistence.Store
	Clock *storeclock.Clock

	folder *datafolder.Folder
	// keys seal secrets; changes is the store for code that changes alerts: Kafka gets a copy of each change.
	keys    *keyring.Keyring
	changes repository.Store
	beats   *registry.Beats
}

// openStorage waits for the store where the configuration allows it.
func openStorage(ctx context.Context, b base, x *exports, eventsAdded func(), todosAdded func(entity.TodoKind),
) (s storage, err error) {
	if s.folder, err = datafolder.Open(b.cfg.DataDir); err != nil {
		return s, err
	}
	b.opened.add(s.folder.Close)
	for _, what := range s.folder.Mended {
		b.logger.Warn(what)
	}
	err = b.retryUntilReady(ctx, "the store", func(ctx context.Context) (err error) {
		s.Store, err = persistence.Open(ctx, storeConfig(b, s.folder, eventsAdded, todosAdded))
		return err
	}, connect.Waitable)
	if err != nil {
		return s, err
	}
	b.opened.add(s.Store.Close)
	s.changes = episode.Copying(s.Store, entity.EventReaders{Kafka: x.readers.Kafka})
	var source repository.TimeSource // nil: SQLite uses the clock of the machine
	switch own := b.options.StoreClock; {
	case b.cfg.Store.Driver == config.DriverMySQL:
		source = s.Store
	case own != nil:
		source = own
	}
	s.Clock = storeclock.New(b.machine, source)
	if err = s.Clock.Measure(ctx); err != nil {
		return s, err
	}
	if s.beats, err = s.Store.Beats(b.cfg.Node.ID, b.timing().Lease/3, b.timing().Lease); err != nil {
		return s, err
	}
	s.keys, err = datafolder.OpenKeyring(b.cfg)
	return s, err
}

func storeConfig(b base, folder *datafolder.Folder, eventsAdded func(), todosAdded func(entity.TodoKind),
) persistence.Config {
	cfg := b.cfg.Store
	if cfg.Driver != config.DriverMySQL {
		cfg.MaxConns = 0 // an SQLite file has readers of its own number
	}
	dates := b.machine
	if own := b.options.StoreClock; own != nil && cfg.Driver != config.DriverMySQL {
		dates = own
	}
	return persistence.Config{
		Config: sqldb.Config{
			Driver: cfg.Driver, DSN: cfg.DSN, Path: folder.File(datafolder.DatabaseFile), Synchronous: cfg.Synchronous,
			Clock: dates, Logger: b.logger, Observe: b.Metrics.Query, Unreadable: b.Metrics.UnreadableRow,
			MaxConns: cfg.MaxConns, EventsAdded: eventsAdded, TodosAdded: todosAdded, Connect: b.options.Connect,
		},
		AutoMigrate: cfg.AutoMigrate,
	}
}
