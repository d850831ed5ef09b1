package offline

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// Migrate runs fn on the schema of the configured store, with the data folder
// taken, so that no server runs on it meanwhile.
func Migrate(ctx context.Context, cfg config.Config, fn func(ctx context.Context, m *migrate.Migrator) error) error {
	folder, err := datafolder.Open(cfg.DataDir)
	if err != nil {
		return err
	}
	m, err := migrate.Open(ctx, schemaConfig(cfg))
	if err != nil {
		return errors.Join(err, folder.Close())
	}
	return errors.Join(fn(ctx, m), m.Close(), folder.Close())
}

// ReadSchema looks at the schema of the configured store. It takes nothing and
// changes nothing, so that it may be asked beside a running server.
func ReadSchema(ctx context.Context, cfg config.Config) (migrate.Schema, error) {
	return migrate.ReadSchema(ctx, schemaConfig(cfg))
}

func schemaConfig(cfg config.Config) sqldb.Config {
	return sqldb.Config{
		Driver: cfg.Store.Driver, DSN: cfg.Store.DSN, Path: filepath.Join(cfg.DataDir, datafolder.DatabaseFile),
		Synchronous: cfg.Store.Synchronous,
	}
}
