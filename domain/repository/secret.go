package repository

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Secrets keeps sealed values. It never sees a value itself.
type Secrets interface {
	// AddSecret fails with apperror.KindConflict when the name is taken.
	AddSecret(ctx context.Context, s entity.Secret) error
	// ReplaceSecret stores s over version s.Version-1; an empty s.Sealed leaves the value
	// as it is. The error is apperror.KindNotFound without such a secret, and
	// apperror.KindConflict at another version.
	ReplaceSecret(ctx context.Context, s entity.Secret) error
	// ResealSecret stores the same value under another key, if the secret still
	// is of s.Version; ok is false when it is not.
	ResealSecret(ctx context.Context, s entity.Secret) (ok bool, err error)
	// DropSecret removes version s.Version; it fails as ReplaceSecret does.
	DropSecret(ctx context.Context, name string, version int) error
	// ListSecrets is ordered by name: of all secrets, or of those for every group
	// and those for one of the groups within; nil is all.
	ListSecrets(ctx context.Context, within []string, p Page) (secrets []entity.Secret, next string, err error)
	// SecretsByName returns those that exist, in any order.
	SecretsByName(ctx context.Context, names []string) ([]entity.Secret, error)
	// Seals counts the secrets by the key that sealed them.
	Seals(ctx context.Context) ([]Seal, error)
}

// Seal is how many secrets one key sealed, and how many of these are bound to
// groups.
type Seal struct {
	KeyID          string
	Secrets, Bound int
}

// SecretUses finds who uses a secret.
type SecretUses interface {
	// JobsNaming returns at most limit jobs whose definition names a secret, by id. They
	// are of the groups within, nil is all, but not of the groups of except.
	JobsNaming(ctx context.Context, secret string, within, except []string, limit int) ([]*entity.Job, error)
}
