package datafolder

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/secret"
)

// OpenKeyring reads the keys of secrets: those of the configuration, or those of a
// standalone server's data folder, which it makes at the first start.
func OpenKeyring(cfg config.Config) (*secret.Keyring, error) {
	if cfg.Secrets.Key == "" {
		if cfg.Secrets.FormerKeys != "" {
			return nil, fmt.Errorf("secrets.formerKeys needs secrets.key, the key that seals")
		}
		if cfg.Profile == config.ProfileCluster {
			return secret.NewKeyring()
		}
		return secret.LoadFile(filepath.Join(cfg.DataDir, KeyFile))
	}
	keys := []string{cfg.Secrets.Key}
	for key := range strings.SplitSeq(cfg.Secrets.FormerKeys, ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	ring, err := secret.NewKeyring(keys...)
	if err != nil {
		return nil, fmt.Errorf("secrets.key and secrets.formerKeys: %w", err)
	}
	return ring, nil
}
