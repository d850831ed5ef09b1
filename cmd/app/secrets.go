package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	keyring "github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// KeyFile holds the keys of secrets in the data folder of a standalone server
// that was given none.
const KeyFile = "secret-key"

// openSecrets makes the service of secrets, and puts what former keys sealed
// under the current one.
func (e *Engine) openSecrets(ctx context.Context, cfg config.Config) error {
	ring, err := openKeyring(cfg, e.folder)
	if err != nil {
		return err
	}
	e.keys = ring
	e.Secrets = secret.NewSecretService(e.Store, e.Store, ring, e.machine)
	moved, err := e.Secrets.Reseal(ctx)
	if err != nil {
		// Runs that need these fail by themselves, and say why.
		e.logger.Error("some secrets could not be put under the current key", "error", err)
	}
	count, err := e.Secrets.Refresh(ctx)
	if err != nil {
		return err
	}
	if count.Secrets > 0 && count.Bound == 0 {
		e.logger.Info("all secrets are for the jobs of every group; bind one to groups with PUT /api/v1/secrets/NAME {groups, version}", "secrets", count.Secrets)
	}
	if moved > 0 {
		e.logger.Info("secrets were put under the current key", "count", moved, "key", ring.Current())
	}
	return nil
}

func openKeyring(cfg config.Config, folder *dataFolder) (*keyring.Keyring, error) {
	if cfg.Secrets.Key == "" {
		if cfg.Secrets.FormerKeys != "" {
			return nil, fmt.Errorf("secrets.formerKeys needs secrets.key, the key that seals")
		}
		if cfg.Profile == config.ProfileCluster {
			return keyring.NewKeyring()
		}
		return keyring.LoadFile(folder.file(KeyFile))
	}
	keys := []string{cfg.Secrets.Key}
	for key := range strings.SplitSeq(cfg.Secrets.FormerKeys, ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	ring, err := keyring.NewKeyring(keys...)
	if err != nil {
		return nil, fmt.Errorf("secrets.key and secrets.formerKeys: %w", err)
	}
	return ring, nil
}
