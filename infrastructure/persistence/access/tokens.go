package access

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Tokens keeps API tokens: repository.Tokens.
type Tokens struct{ s *sqldb.Core }

// tokenRow is a row of scheduler_api_token.
type tokenRow struct {
	ID         string `gorm:"column:id;primaryKey"`
	UserID     string
	Name       string
	TokenHash  string
	Scopes     *string
	ExpiresAt  sqlvalue.DBTime
	LastUsedAt sqlvalue.DBTime
	CreateTime sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (tokenRow) TableName() string { return "scheduler_api_token" }

func (r tokenRow) entity() (entity.Token, error) {
	t := entity.Token{
		ID: r.ID, UserID: r.UserID, Name: r.Name, Hash: r.TokenHash,
		ExpiresAt: r.ExpiresAt.Time(), LastUsedAt: r.LastUsedAt.Time(), CreateTime: r.CreateTime.Time(),
	}
	if r.Scopes == nil {
		return t, nil
	}
	// Scopes that cannot be read must not widen what the token may do.
	return t, json.Unmarshal([]byte(*r.Scopes), &t.Scopes)
}

// AddToken implements repository.Tokens.
func (r *Tokens) AddToken(ctx context.Context, t entity.Token, most int) error {
	row := tokenRow{
		ID: t.ID, UserID: t.UserID, Name: t.Name, TokenHash: t.Hash,
		ExpiresAt: sqlvalue.DBTime(t.ExpiresAt), LastUsedAt: sqlvalue.DBTime(t.LastUsedAt),
		CreateTime: sqlvalue.DBTime(t.CreateTime),
	}
	if t.Scopes != nil {
		scopes, err := json.Marshal(t.Scopes)
		if err != nil {
			return err
		}
		text := string(scopes)
		row.Scopes = &text
	}
	return r.s.Change(ctx, repository.LaneAPI, "token-add", func(ctx context.Context, c *sqldb.Conn) error {
		// The lock makes calls of one user count one after the other.
		if _, err := sqldb.Collect(ctx, c, "user.lock", "SELECT id FROM scheduler_user WHERE id = ?"+c.Dialect.ForUpdate,
			[]any{t.UserID}, sqlvalue.ScanText); err != nil {
			return err
		}
		n, err := c.Number(ctx, "token.count",
			"SELECT COUNT(*) FROM scheduler_api_token WHERE user_id = ? AND expires_at > ?",
			t.UserID, sqlvalue.TimeArg(t.CreateTime))
		switch {
		case err != nil:
			return err
		case n >= most:
			return apperror.Conflict("too_many_tokens",
				"you have %d API tokens, and may have no more; revoke one that you do not need", n)
		}
		return c.GORM(ctx, "token.insert").Create(&row).Error
	})
}

// TokenByHash implements repository.Tokens.
func (r *Tokens) TokenByHash(ctx context.Context, hash string, now time.Time) (entity.Token, error) {
	var row tokenRow
	if err := takeValid(ctx, r.s.Pool, "token", hash, now, &row); err != nil {
		return entity.Token{}, err
	}
	return row.entity()
}

// takeValid reads the token or session of a hash, unless it has expired.
func takeValid(ctx context.Context, c *sqldb.Conn, kind, hash string, now time.Time, row any) error {
	unknown := apperror.NotFound(kind, "given")
	if !sqlvalue.IsASCII(hash) {
		return unknown
	}
	err := c.GORM(ctx, kind+".get").Where("token_hash = ? AND expires_at > ?", hash, sqlvalue.TimeText(now)).Take(row).
		Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return unknown
	}
	return err
}

// ListTokens implements repository.Tokens.
func (r *Tokens) ListTokens(ctx context.Context, userID string, p repository.Page) ([]entity.Token, string, error) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	query := r.s.Pool.GORM(ctx, "token.list").Where("id > ?", after)
	if userID != "" {
		query = query.Where("user_id = ?", userID)
	}
	var rows []tokenRow
	if err := query.Order("id").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(r tokenRow) string { return r.ID })
	tokens := make([]entity.Token, len(rows))
	for i, row := range rows {
		if tokens[i], err = row.entity(); err != nil {
			return nil, "", err
		}
	}
	return tokens, next, r.nameOwners(ctx, tokens)
}

// nameOwners fills in the names of the users of a page.
func (r *Tokens) nameOwners(ctx context.Context, tokens []entity.Token) error {
	if len(tokens) == 0 {
		return nil
	}
	ids := convert.All(tokens, func(t entity.Token) string { return t.UserID })
	slices.Sort(ids)
	var users []struct{ ID, Name string }
	if err := r.s.Pool.GORM(ctx, "token.owners").Table("scheduler_user").Select("id", "name").
		Where("id IN ?", slices.Compact(ids)).Find(&users).Error; err != nil {
		return err
	}
	for i := range tokens {
		for _, u := range users {
			if u.ID == tokens[i].UserID {
				tokens[i].UserName = u.Name
			}
		}
	}
	return nil
}

// DropToken implements repository.Tokens.
func (r *Tokens) DropToken(ctx context.Context, id, userID string) (entity.Token, error) {
	if !sqlvalue.IsASCIIID(id) {
		return entity.Token{}, apperror.NotFound("token", id)
	}
	var row tokenRow
	err := r.s.Change(ctx, repository.LaneAPI, "token-drop", func(ctx context.Context, c *sqldb.Conn) error {
		row = tokenRow{}
		err := c.GORM(ctx, "token.of").Where("id = ? AND (? = '' OR user_id = ?)", id, userID, userID).Take(&row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return apperror.NotFound("token", id)
		}
		if err != nil {
			return err
		}
		n, err := c.Exec(ctx, "token.drop", "DELETE FROM scheduler_api_token WHERE id = ?", id)
		if err == nil && n == 0 {
			return apperror.NotFound("token", id)
		}
		return err
	})
	if err != nil {
		return entity.Token{}, err
	}
	return row.entity()
}

// UseToken implements repository.Tokens.
func (r *Tokens) UseToken(ctx context.Context, id string, at time.Time) error {
	return r.s.Change(ctx, repository.LaneAPI, "token-use", func(ctx context.Context, c *sqldb.Conn) error {
		_, err := c.Exec(ctx, "token.use", "UPDATE scheduler_api_token SET last_used_at = ? WHERE id = ?",
			sqlvalue.TimeArg(at), id)
		return err
	})
}
