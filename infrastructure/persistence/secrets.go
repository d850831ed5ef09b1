package persistence

import (
	"context"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Secrets keeps sealed values: repository.Secrets.
type Secrets struct{ s *core }

// secretRow is a row of scheduler_secret.
type secretRow struct {
	Name        string `gorm:"column:name;primaryKey"`
	Description string
	KeyID       string
	Sealed      []byte
	Version     int
	CreateTime  stamp
	UpdateTime  stamp
}

// TableName implements GORM's Tabler.
func (secretRow) TableName() string { return "scheduler_secret" }

func (r secretRow) entity() entity.Secret {
	return entity.Secret{
		Name: r.Name, Description: r.Description, KeyID: r.KeyID, Sealed: r.Sealed, Version: r.Version,
		CreateTime: r.CreateTime.time(), UpdateTime: r.UpdateTime.time(),
	}
}

// AddSecret implements repository.Secrets.
func (r *Secrets) AddSecret(ctx context.Context, s entity.Secret) error {
	err := r.s.change(ctx, repository.LaneAPI, "secret-add", func(ctx context.Context, c *conn) error {
		return c.gorm(ctx, "secret.insert").Create(&secretRow{
			Name: s.Name, Description: s.Description, KeyID: s.KeyID, Sealed: s.Sealed, Version: s.Version,
			CreateTime: stamp(s.CreateTime), UpdateTime: stamp(s.UpdateTime),
		}).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) {
		return fault.Conflict("name_taken", "a secret with the name %q exists", s.Name)
	}
	return err
}

// ReplaceSecret implements repository.Secrets.
func (r *Secrets) ReplaceSecret(ctx context.Context, s entity.Secret) error {
	return r.s.change(ctx, repository.LaneAPI, "secret-replace", func(ctx context.Context, c *conn) error {
		n, err := c.exec(ctx, "secret.replace",
			"UPDATE scheduler_secret SET description = ?, key_id = ?, sealed = ?, version = ?, update_time = ? WHERE name = ? AND version = ?",
			s.Description, s.KeyID, s.Sealed, s.Version, text(s.UpdateTime), s.Name, s.Version-1)
		if err != nil || n == 1 {
			return err
		}
		found, err := collect(ctx, c, "secret.version", "SELECT version FROM scheduler_secret WHERE name = ?", []any{s.Name}, scanInt)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return fault.NotFound("secret", s.Name)
		}
		return fault.Conflict("stale_version", "the secret is at version %d, not %d: read it again and repeat the edit", found[0], s.Version-1)
	})
}

// ResealSecret implements repository.Secrets.
func (r *Secrets) ResealSecret(ctx context.Context, s entity.Secret) (ok bool, err error) {
	err = r.s.change(ctx, repository.LaneAPI, "secret-reseal", func(ctx context.Context, c *conn) error {
		n, err := c.exec(ctx, "secret.reseal", "UPDATE scheduler_secret SET key_id = ?, sealed = ? WHERE name = ? AND version = ?",
			s.KeyID, s.Sealed, s.Name, s.Version)
		ok = n == 1
		return err
	})
	return ok, err
}

// DropSecret implements repository.Secrets.
func (r *Secrets) DropSecret(ctx context.Context, name string) error {
	return r.s.change(ctx, repository.LaneAPI, "secret-drop", func(ctx context.Context, c *conn) error {
		if !plain(name) {
			return fault.NotFound("secret", name)
		}
		n, err := c.exec(ctx, "secret.drop", "DELETE FROM scheduler_secret WHERE name = ?", name)
		if err == nil && n == 0 {
			return fault.NotFound("secret", name)
		}
		return err
	})
}

// ListSecrets implements repository.Secrets.
func (r *Secrets) ListSecrets(ctx context.Context, p repository.Page) ([]entity.Secret, string, error) {
	after, err := readCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := pageSize(p.Limit)
	var rows []secretRow
	if err := r.s.read.gorm(ctx, "secret.list").Where("name > ?", after).Order("name").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(r secretRow) string { return r.Name })
	return secretsOf(rows), next, nil
}

// SecretsByName implements repository.Secrets.
func (r *Secrets) SecretsByName(ctx context.Context, names []string) ([]entity.Secret, error) {
	names = plainOnly(names)
	if len(names) == 0 {
		return nil, nil
	}
	var rows []secretRow
	err := r.s.read.gorm(ctx, "secret.by-name").Where("name IN ?", names).Find(&rows).Error
	return secretsOf(rows), err
}

func secretsOf(rows []secretRow) []entity.Secret {
	out := make([]entity.Secret, len(rows))
	for i, row := range rows {
		out[i] = row.entity()
	}
	return out
}
