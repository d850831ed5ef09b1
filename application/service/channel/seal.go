// Package channel keeps the configurations of channels sealed, and tries channels.
package channel

import (
	"context"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Seals keeps the configurations of channels sealed. Safe for concurrent use.
type Seals struct{ sealer secret.Sealer }

// NewSeals seals with sealer.
func NewSeals(s secret.Sealer) *Seals { return &Seals{s} }

// sealedName binds a sealed configuration to its channel.
func sealedName(id string) string { return "alert channel " + id }

// Config opens the configuration of a channel.
func (s *Seals) Config(v alert.Setting) (alert.ChannelConfig, error) {
	if v.KeyID == "" {
		return alert.ChannelConfig(v.Sealed), nil
	}
	if !s.sealer.Has(v.KeyID) {
		return "", fmt.Errorf("this node does not have the key %s; secrets.key (PS_SECRETS_KEY) must be the same on every "+
			"node", v.KeyID)
	}
	text, err := s.sealer.Open(sealedName(v.ID), v.KeyID, v.Sealed)
	return alert.ChannelConfig(text), err
}

// Seal puts a configuration into a setting. One without secrets needs no key.
func (s *Seals) Seal(v *alert.Setting, config alert.ChannelConfig, secret bool) (err error) {
	if s.sealer.Current() == "" {
		if secret {
			return apperror.InvalidField("config", "no_key",
				"this configuration has secrets, and the server has no key to seal "+
					"them: set secrets.key (PS_SECRETS_KEY) on every node")
		}
		v.KeyID, v.Sealed = "", []byte(string(config))
		return nil
	}
	v.KeyID, v.Sealed, err = s.sealer.Seal(sealedName(v.ID), string(config))
	if err != nil {
		return fmt.Errorf("seal the configuration of the channel %s: %w", v.Name, err)
	}
	return nil
}

// Reseal puts every configuration under the current key, and returns how many it moved. It
// goes on after one that cannot be opened, whose error it returns. Calling it again, also
// on several nodes at once, does no harm.
func (s *Seals) Reseal(ctx context.Context, settings repository.AlertSettings) (moved int, err error) {
	current := s.sealer.Current()
	if current == "" {
		return 0, nil
	}
	all, err := settings.AlertSettings(ctx, []alert.Kind{alert.KindChannel}, bounds.Settings)
	if err != nil {
		return 0, fmt.Errorf("read the channels: %w", err)
	}
	var errs []error
	for _, v := range all {
		if v.KeyID == current {
			continue
		}
		former := v.KeyID
		config, err := s.Config(v)
		if err == nil {
			err = s.Seal(&v, config, true)
		}
		ok := false
		if err == nil {
			ok, err = settings.ResealAlertSetting(ctx, v, former)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the channel %s: %w", v.Name, err))
		} else if ok {
			moved++
		}
	}
	return moved, errors.Join(errs...)
}
