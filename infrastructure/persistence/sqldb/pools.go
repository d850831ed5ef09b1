package sqldb

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// pools are the connections of a node but for the beats': what a caller of the
// API asks for has those of callers, see repository.WithStatementTimeout.
type pools struct{ own, callers *sql.DB }

func (p pools) of(ctx context.Context) *sql.DB {
	if p.callers != nil && repository.HasStatementTimeout(ctx) {
		return p.callers
	}
	return p.own
}

// PrepareContext implements gorm.ConnPool.
func (p pools) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return p.of(ctx).PrepareContext(ctx, query)
}

// ExecContext implements gorm.ConnPool.
func (p pools) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return p.of(ctx).ExecContext(ctx, query, args...)
}

// QueryContext implements gorm.ConnPool.
func (p pools) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return p.of(ctx).QueryContext(ctx, query, args...)
}

// QueryRowContext implements gorm.ConnPool.
func (p pools) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return p.of(ctx).QueryRowContext(ctx, query, args...)
}

// Stats returns the state of the connections, by what they are for. The connections of the beats are not among them.
func (s *Core) Stats() map[string]sql.DBStats {
	stats := map[string]sql.DBStats{"engine": s.conns.own.Stats()}
	if s.conns.callers != nil {
		stats["callers"] = s.conns.callers.Stats()
	}
	if s.Server != nil {
		stats["side"] = s.Server.Side.Stats()
	}
	if s.writer != nil {
		stats["writer"] = s.writer.db.Stats()
	}
	return stats
}
