package offline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// Backup is a file that BackUp wrote, or that was read.
type Backup struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	// Age is how old its moment is when it is written; zero for one that was read.
	Age time.Duration `json:"-"`
	storecopy.Info
}

// BackUp writes a backup of the configured store into a folder, which it makes where needed. Servers may use the store
// meanwhile.
func BackUp(ctx context.Context, cfg config.Config, folder string, o storecopy.Options,
	progress func(storecopy.Progress),
) (b Backup, err error) {
	if folder == "" {
		return b, errors.New("name the folder for the backup")
	}
	store := schemaConfig(cfg)
	if err := exists(store); err != nil {
		return b, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return b, fmt.Errorf("make the folder for the backup: %w", err)
	}
	began := o.Clock.Monotonic()
	b.File = filepath.Join(folder, "platform-scheduler-"+o.Clock.Now().Format("20060102T150405.000Z")+".db")
	if b.Info, err = storecopy.Backup(ctx, store, b.File, o, progress); err != nil {
		return b, err
	}
	b.Age = (o.Clock.Monotonic() - began).Round(time.Second)
	err = b.measure()
	return b, err
}

func (b *Backup) measure() error {
	stat, err := os.Stat(b.File)
	if err == nil {
		b.Bytes = stat.Size()
	}
	return err
}

// VerifyBackup reads a backup whole. It needs no configuration.
func VerifyBackup(ctx context.Context, file string, progress func(storecopy.Progress)) (b Backup, err error) {
	b.File = file
	if b.Info, err = storecopy.Verify(ctx, file, progress); err == nil {
		err = b.measure()
	}
	return b, err
}

// Target is the store that a backup is restored into: of a data folder, of a DSN, or else the configured one.
type Target struct{ Folder, DSN string }

// configure makes the target the store of a configuration.
func (t Target) configure(cfg config.Config) config.Config {
	switch {
	case t.DSN != "":
		cfg.Store.Driver, cfg.Store.DSN = config.DriverMySQL, t.DSN
	case t.Folder != "":
		cfg.Store.Driver, cfg.DataDir = config.DriverSQLite, t.Folder
	}
	return cfg
}

// Restore puts a backup into an empty store, which then stands by. A store whose servers could not open the secrets of
// the backup is refused, unless anyKey is true.
func Restore(ctx context.Context, cfg config.Config, file string, to Target, anyKey bool,
	progress func(storecopy.Progress),
) (b Backup, err error) {
	cfg = to.configure(cfg)
	if stat, err := os.Stat(cfg.DataDir); err == nil && !stat.IsDir() {
		return b, fmt.Errorf("%s is no folder; name the data folder of the new server", cfg.DataDir)
	}
	if b, err = VerifyBackup(ctx, file, func(storecopy.Progress) {}); err != nil {
		return b, err
	}
	if err := checkSealed(cfg, b.Keys); err != nil && !anyKey {
		return b, err
	}
	if cfg.Store.Driver != config.DriverSQLite {
		return b, storecopy.Restore(ctx, file, b.Info, sqldb.Config{Driver: cfg.Store.Driver, DSN: cfg.Store.DSN}, progress)
	}
	folder, err := datafolder.Open(cfg.DataDir)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	return b, storecopy.Restore(ctx, file, b.Info, sqldb.Config{
		Driver: cfg.Store.Driver, Path: folder.File(datafolder.DatabaseFile), Synchronous: cfg.Store.Synchronous,
	}, progress)
}

// checkSealed is an error where the servers of a configuration lack a key that sealed secrets.
func checkSealed(cfg config.Config, keys []string) error {
	ring, err := keyring(cfg)
	if err != nil {
		return err
	}
	var lacking []string
	for _, id := range keys {
		if !ring.Has(id) {
			lacking = append(lacking, id)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return fmt.Errorf("secrets of the backup are sealed by a key that is not here (%s): copy %s of the former data "+
		"folder to %s first, or give the former secrets.key; or restore it with --without-key, and set each secret anew",
		strings.Join(lacking, ", "), datafolder.KeyFile, filepath.Join(cfg.DataDir, datafolder.KeyFile))
}

// keyring reads the keys of a configuration without making one.
func keyring(cfg config.Config) (*secret.Keyring, error) {
	if cfg.Secrets.Key == "" && cfg.Secrets.FormerKeys == "" && cfg.Profile != config.ProfileCluster {
		if _, err := os.Stat(filepath.Join(cfg.DataDir, datafolder.KeyFile)); errors.Is(err, fs.ErrNotExist) {
			return secret.NewKeyring()
		}
	}
	return datafolder.OpenKeyring(cfg)
}
