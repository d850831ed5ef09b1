package worker

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const tokenKind = "worker token"

// tokenRow is a row of scheduler_worker_token.
type tokenRow struct {
	ID          string `gorm:"column:id;primaryKey"`
	WorkerGroup string
	Name        string
	TokenHash   string
	CreatedBy   string
	ExpiresAt   sqlvalue.DBTime
	LastUsedAt  sqlvalue.DBTime
	CreateTime  sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (tokenRow) TableName() string { return "scheduler_worker_token" }

func (r tokenRow) entity() worker.Token {
	return worker.Token{
		ID: r.ID, Group: r.WorkerGroup, Name: r.Name, Hash: r.TokenHash, CreatedBy: r.CreatedBy,
		ExpiresAt: r.ExpiresAt.Time(), LastUsedAt: r.LastUsedAt.Time(), CreateTime: r.CreateTime.Time(),
	}
}

// AddWorkerToken implements repository.WorkerGroups.
func (r *Groups) AddWorkerToken(ctx context.Context, t worker.Token, most int) error {
	row := tokenRow{
		ID: t.ID, WorkerGroup: t.Group, Name: t.Name, TokenHash: t.Hash, CreatedBy: t.CreatedBy,
		ExpiresAt: sqlvalue.DBTime(t.ExpiresAt), LastUsedAt: sqlvalue.DBTime(t.LastUsedAt),
		CreateTime: sqlvalue.DBTime(t.CreateTime),
	}
	return r.s.Change(ctx, repository.LaneAPI, "worker-token-add", func(ctx context.Context, c *sqldb.Conn) error {
		if _, err := lockGroup(ctx, c, c.Dialect.ForUpdate, t.Group); err != nil {
			return err
		}
		n, err := c.Number(ctx, "worker.token.count", "SELECT COUNT(*) FROM scheduler_worker_token WHERE worker_group = ? "+
			"AND expires_at > ?", t.Group, sqlvalue.TimeArg(t.CreateTime))
		if err != nil {
			return err
		}
		if n >= most {
			return apperror.Conflict("too_many_tokens", "the worker group %s has %d valid tokens, and may have no more; "+
				"revoke one that nobody needs", t.Group, n)
		}
		return c.GORM(ctx, "worker.token.insert").Create(&row).Error
	})
}

// WorkerTokenByHash implements repository.WorkerGroups.
func (r *Groups) WorkerTokenByHash(ctx context.Context, hash string, now time.Time) (worker.Token, error) {
	unknown := apperror.NotFound(tokenKind, "given")
	if !sqlvalue.IsASCII(hash) {
		return worker.Token{}, unknown
	}
	var found tokenRow
	err := r.s.Pool.GORM(ctx, "worker.token.get").Where("token_hash = ? AND expires_at > ?", hash,
		sqlvalue.TimeText(now)).Take(&found).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		err = unknown
	}
	return found.entity(), err
}

// WorkerTokens implements repository.WorkerGroups.
func (r *Groups) WorkerTokens(ctx context.Context, group string) ([]worker.Token, error) {
	query := r.s.Pool.GORM(ctx, "worker.tokens").Order("id")
	if group != "" {
		if !worker.ValidGroup(group) {
			return nil, nil
		}
		query = query.Where("worker_group = ?", group)
	}
	var rows []tokenRow
	err := query.Find(&rows).Error
	return convert.All(rows, tokenRow.entity), err
}

// DropWorkerToken implements repository.WorkerGroups.
func (r *Groups) DropWorkerToken(ctx context.Context, group, id string) (worker.Token, error) {
	missing := apperror.NotFound(tokenKind, id)
	if !sqlvalue.IsASCIIID(id) || !worker.ValidGroup(group) {
		return worker.Token{}, missing
	}
	var found tokenRow
	err := r.s.Change(ctx, repository.LaneAPI, "worker-token-drop", func(ctx context.Context, c *sqldb.Conn) error {
		found = tokenRow{}
		err := c.GORM(ctx, "worker.token.of").Where("id = ? AND worker_group = ?", id, group).Take(&found).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return missing
		}
		if err != nil {
			return err
		}
		n, err := c.Exec(ctx, "worker.token.drop", "DELETE FROM scheduler_worker_token WHERE id = ?", id)
		if err == nil && n == 0 {
			err = missing
		}
		return err
	})
	return found.entity(), err
}

// UseWorkerToken implements repository.WorkerGroups.
func (r *Groups) UseWorkerToken(ctx context.Context, id string, at time.Time) error {
	_, err := r.s.ExecAtOnce(ctx, repository.LaneAPI, "worker.token.use", "UPDATE scheduler_worker_token SET "+
		"last_used_at = ? WHERE id = ?", sqlvalue.TimeArg(at), id)
	return err
}
