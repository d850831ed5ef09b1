package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// UserAdmin is what managing users needs beyond signing them in.
type UserAdmin interface {
	// ListUsers is ordered by id, oldest first.
	ListUsers(ctx context.Context, p Page) (users []entity.User, next string, err error)
	// SetRole changes role and rights and ends the user's sessions. To make the
	// last admin less is apperror.KindConflict.
	SetRole(ctx context.Context, userID string, role entity.Role, rights entity.Rights, at time.Time) error
	// DropUser removes a user with sessions, tokens and contacts of alerts; the last admin
	// is apperror.KindConflict.
	DropUser(ctx context.Context, id string) error
}

// Tokens keeps API tokens by their hash.
type Tokens interface {
	// AddToken fails with apperror.KindConflict when the user has most tokens that
	// have not expired.
	AddToken(ctx context.Context, t entity.Token, most int) error
	// TokenByHash returns apperror.KindNotFound for an unknown or expired one.
	TokenByHash(ctx context.Context, hash string, now time.Time) (entity.Token, error)
	// ListTokens is ordered by id; userID narrows it when set.
	ListTokens(ctx context.Context, userID string, p Page) (tokens []entity.Token, next string, err error)
	// DropToken removes a token, of that user when userID is set, and says which
	// it was.
	DropToken(ctx context.Context, id, userID string) (entity.Token, error)
	// UseToken notes a use.
	UseToken(ctx context.Context, id string, at time.Time) error
}

// AuditFilter narrows the audit log; empty fields do not filter.
type AuditFilter struct {
	UserID, Action, Object, ObjectName string
	From, To                           time.Time
}

// Audit is append-only.
type Audit interface {
	AddAudit(ctx context.Context, e entity.AuditEntry) error
	// ListAudit is ordered newest first.
	ListAudit(ctx context.Context, f AuditFilter, p Page) (entries []entity.AuditEntry, next string, err error)
}
