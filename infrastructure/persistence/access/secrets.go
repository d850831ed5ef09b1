package access

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Secrets keeps sealed values: repository.Secrets.
type Secrets struct{ s *sqldb.Core }

// secretRow is a row of scheduler_secret.
type secretRow struct {
	Name        string `gorm:"column:name;primaryKey"`
	Description string
	// JobGroups is a JSON list; NULL is every group.
	JobGroups  *string
	KeyID      string
	Sealed     []byte
	Version    int
	CreateTime sqlvalue.DBTime
	UpdateTime sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (secretRow) TableName() string { return "scheduler_secret" }

func (r secretRow) entity() (entity.Secret, error) {
	s := entity.Secret{
		Name: r.Name, Description: r.Description, KeyID: r.KeyID, Sealed: r.Sealed, Version: r.Version,
		CreateTime: r.CreateTime.Time(), UpdateTime: r.UpdateTime.Time(),
	}
	if r.JobGroups == nil {
		return s, nil
	}
	// Groups that cannot be read must not widen who uses the secret.
	s.Groups = []string{}
	if err := json.Unmarshal([]byte(*r.JobGroups), &s.Groups); err != nil || s.Groups == nil {
		return entity.Secret{}, fmt.Errorf("read the groups of the secret %s: %w", r.Name, errors.Join(err, errGroups))
	}
	return s, nil
}

var errGroups = errors.New("they are no list of names")

// secretGroups writes the groups of a secret; nil is NULL.
func secretGroups(groups []string) (*string, error) {
	if groups == nil {
		return nil, nil
	}
	b, err := json.Marshal(groups)
	text := string(b)
	return &text, err
}

// AddSecret implements repository.Secrets.
func (r *Secrets) AddSecret(ctx context.Context, s entity.Secret) error {
	groups, err := secretGroups(s.Groups)
	if err != nil {
		return err
	}
	err = r.s.Change(ctx, repository.LaneAPI, "secret-add", func(ctx context.Context, c *sqldb.Conn) error {
		return c.GORM(ctx, "secret.insert").Create(&secretRow{
			Name: s.Name, Description: s.Description, JobGroups: groups, KeyID: s.KeyID, Sealed: s.Sealed, Version: s.Version,
			CreateTime: sqlvalue.DBTime(s.CreateTime), UpdateTime: sqlvalue.DBTime(s.UpdateTime),
		}).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) {
		return apperror.Conflict("name_taken", "a secret with the name %q exists", s.Name)
	}
	return err
}

// ReplaceSecret implements repository.Secrets.
func (r *Secrets) ReplaceSecret(ctx context.Context, s entity.Secret) error {
	groups, err := secretGroups(s.Groups)
	if err != nil {
		return err
	}
	set, args := "", []any{s.Description, groups}
	if len(s.Sealed) > 0 {
		set, args = ", key_id = ?, sealed = ?", append(args, s.KeyID, s.Sealed)
	}
	args = append(args, s.Version, sqlvalue.TimeArg(s.UpdateTime), s.Name, s.Version-1)
	return r.s.Change(ctx, repository.LaneAPI, "secret-replace", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "secret.replace",
			"UPDATE scheduler_secret SET description = ?, job_groups = ?"+set+", version = ?, update_time = ? WHERE name = ? "+
				"AND version = ?", args...)
		if err != nil || n == 1 {
			return err
		}
		return secretAt(ctx, c, s.Name, s.Version-1)
	})
}

// secretAt says why a secret is not at a version.
func secretAt(ctx context.Context, c *sqldb.Conn, name string, version int) error {
	now, err := sqldb.One(ctx, c, "secret.version", "SELECT version FROM scheduler_secret WHERE name = ?",
		[]any{name}, sqlvalue.ScanInt, apperror.NotFound("secret", name))
	if err != nil {
		return err
	}
	return apperror.Conflict("stale_version", "the secret is at version %d, not %d: read it again and repeat the edit",
		now, version)
}

// ResealSecret implements repository.Secrets.
func (r *Secrets) ResealSecret(ctx context.Context, s entity.Secret) (ok bool, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "secret-reseal", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "secret.reseal",
			"UPDATE scheduler_secret SET key_id = ?, sealed = ? WHERE name = ? AND version = ?",
			s.KeyID, s.Sealed, s.Name, s.Version)
		ok = n == 1
		return err
	})
	return ok, err
}

// DropSecret implements repository.Secrets.
func (r *Secrets) DropSecret(ctx context.Context, name string, version int) error {
	return r.s.Change(ctx, repository.LaneAPI, "secret-drop", func(ctx context.Context, c *sqldb.Conn) error {
		if !sqlvalue.IsASCIIID(name) {
			return apperror.NotFound("secret", name)
		}
		n, err := c.Exec(ctx, "secret.drop", "DELETE FROM scheduler_secret WHERE name = ? AND version = ?", name, version)
		if err != nil || n == 1 {
			return err
		}
		return secretAt(ctx, c, name, version)
	})
}

// ListSecrets implements repository.Secrets.
func (r *Secrets) ListSecrets(ctx context.Context, within []string,
	p repository.Page,
) ([]entity.Secret, string, error) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	query := r.s.Pool.GORM(ctx, "secret.list").Where("name > ?", after)
	if within != nil {
		open, args := "job_groups IS NULL", []any{}
		for _, group := range within {
			// A quote inside of a name stands there escaped: only whole names match.
			quoted, err := json.Marshal(group)
			if err != nil {
				return nil, "", err
			}
			open, args = open+" OR INSTR(job_groups, ?) > 0", append(args, string(quoted))
		}
		query = query.Where("("+open+")", args...)
	}
	var rows []secretRow
	if err := query.Order("name").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(r secretRow) string { return r.Name })
	secrets, err := secretsOf(rows)
	return secrets, next, err
}

// SecretsByName implements repository.Secrets.
func (r *Secrets) SecretsByName(ctx context.Context, names []string) ([]entity.Secret, error) {
	names = sqlvalue.OnlyASCIIIDs(names)
	if len(names) == 0 {
		return nil, nil
	}
	var rows []secretRow
	if err := r.s.Pool.GORM(ctx, "secret.by-name").Where("name IN ?", names).Find(&rows).Error; err != nil {
		return nil, err
	}
	return secretsOf(rows)
}

// Seals implements repository.Secrets.
func (r *Secrets) Seals(ctx context.Context) ([]repository.Seal, error) {
	return sqldb.Collect(ctx, r.s.Pool, "secret.seals",
		"SELECT key_id, COUNT(*), COUNT(job_groups) FROM scheduler_secret GROUP BY key_id ORDER BY key_id", nil,
		func(rows *sql.Rows) (s repository.Seal, err error) {
			return s, rows.Scan(&s.KeyID, &s.Secrets, &s.Bound)
		})
}

func secretsOf(rows []secretRow) ([]entity.Secret, error) {
	out := make([]entity.Secret, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = row.entity(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
