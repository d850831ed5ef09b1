package repository

import (
	"context"
	"time"
)

type statementTimeoutKey struct{}

// WithStatementTimeout bounds each read and each transaction of the store below ctx, but
// not ctx itself. A long call, such as an export, goes on while the store answers. A store
// that has not answered within d counts as unavailable. A d of 0 or less is no bound.
func WithStatementTimeout(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, statementTimeoutKey{}, d)
}

// HasStatementTimeout reports whether ctx belongs to a caller of the API. Such calls
// have their own share of the store's connections.
func HasStatementTimeout(ctx context.Context) bool {
	d, ok := ctx.Value(statementTimeoutKey{}).(time.Duration)
	return ok && d > 0
}

// BoundStatement returns the context for one read or one transaction. The caller must
// call the function when that has ended.
func BoundStatement(ctx context.Context) (context.Context, context.CancelFunc) {
	if d, ok := ctx.Value(statementTimeoutKey{}).(time.Duration); ok && d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return ctx, func() {}
}
