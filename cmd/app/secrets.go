package app

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// openSecrets makes the service of secrets, and puts what former keys sealed
// under the current one.
func (e *Engine) openSecrets(ctx context.Context, cfg config.Config) error {
	ring, err := datafolder.OpenKeyring(cfg)
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
		e.logger.Info("all secrets are for the jobs of every group; bind one to groups with PUT /api/v1/secrets/NAME "+
			"{groups, version}", "secrets", count.Secrets)
	}
	if moved > 0 {
		e.logger.Info("secrets were put under the current key", "count", moved, "key", ring.Current())
	}
	return nil
}
