package repository

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Secrets keeps sealed values. It never sees a value itself.
type Secrets interface {
	// AddSecret fails with fault.KindConflict when the name is taken.
	AddSecret(ctx context.Context, s entity.Secret) error
	// ReplaceSecret stores s over version s.Version-1; fault.KindNotFound when
	// there is no such secret, fault.KindConflict when it is at another version.
	ReplaceSecret(ctx context.Context, s entity.Secret) error
	// ResealSecret stores the same value under another key, if the secret still
	// is of s.Version; ok is false when it is not.
	ResealSecret(ctx context.Context, s entity.Secret) (ok bool, err error)
	// DropSecret fails with fault.KindNotFound when there is none.
	DropSecret(ctx context.Context, name string) error
	// ListSecrets is ordered by name.
	ListSecrets(ctx context.Context, p Page) (secrets []entity.Secret, next string, err error)
	// SecretsByName returns those that exist, in any order.
	SecretsByName(ctx context.Context, names []string) ([]entity.Secret, error)
}
