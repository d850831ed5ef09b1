package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// sqliteReader is SQLite's readers. It keeps what it has prepared, because
// preparing costs as much as running most reads. Safe for concurrent use.
type sqliteReader struct {
	*sql.DB
	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

func newSQLiteReader(db *sql.DB) *sqliteReader {
	return &sqliteReader{DB: db, prepared: make(map[string]*sql.Stmt)}
}

// QueryContext implements gorm.ConnPool. Where so many statements are kept
// that texts must be made up anew each time, it prepares no more.
func (r *sqliteReader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.mu.RLock()
	stmt, full := r.prepared[query], len(r.prepared) >= maxPrepared
	r.mu.RUnlock()
	switch {
	case stmt != nil:
		return stmt.QueryContext(ctx, args...)
	case full:
		return r.DB.QueryContext(ctx, query, args...)
	}
	if err := r.prepare(ctx, query); err != nil {
		return nil, err
	}
	return r.QueryContext(ctx, query, args...)
}

// prepare keeps a statement. It outlives the call, so that the call's end must
// not end it. Of two that prepare the same, one keeps it.
func (r *sqliteReader) prepare(ctx context.Context, query string) error {
	stmt, err := r.PrepareContext(context.WithoutCancel(ctx), query)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.prepared[query] != nil {
		defer func() { _ = stmt.Close() }()
		return nil
	}
	r.prepared[query] = stmt
	return nil
}
