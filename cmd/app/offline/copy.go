package offline

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

// CopyStore copies the SQLite store of a standalone server, which must be
// stopped, into the MySQL or MariaDB store of a DSN. See storecopy.Copy.
func CopyStore(ctx context.Context, cfg config.Config, dsn string,
	progress func(storecopy.Progress),
) (r storecopy.Result, err error) {
	if cfg.Store.Driver != config.DriverSQLite {
		return r, fmt.Errorf("the configuration names a store of driver %s; only the SQLite store of a standalone server "+
			"is copied", cfg.Store.Driver)
	}
	if _, err := os.Stat(cfg.DataDir); err != nil { // it must not be made
		return r, fmt.Errorf("there is no store to copy: %w; name the data folder with dataDir (PS_DATA_DIR)", err)
	}
	folder, err := datafolder.Open(cfg.DataDir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	path := folder.File(datafolder.DatabaseFile)
	if _, err := os.Stat(path); err != nil {
		return r, fmt.Errorf("there is no store to copy: %w; name the data folder with dataDir (PS_DATA_DIR)", err)
	}
	return storecopy.Copy(ctx,
		sqldb.Config{Driver: config.DriverSQLite, Path: path, Synchronous: cfg.Store.Synchronous},
		sqldb.Config{Driver: config.DriverMySQL, DSN: dsn}, progress)
}

// KeyAdvice says which key opens the secrets of a store, for somebody who
// moves it.
func KeyAdvice(cfg config.Config) string {
	if cfg.Secrets.Key != "" {
		return "give the new server the same secrets.key (and secrets.formerKeys)"
	}
	return fmt.Sprintf("take %s/%s along into the data folder of the new server, or give the key in it, which is the "+
		"line below the comment, to every node as secrets.key (PS_SECRETS_KEY_FILE)", cfg.DataDir, datafolder.KeyFile)
}
