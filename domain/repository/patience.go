package repository

import (
	"context"
	"time"
)

type patienceKey struct{}

// WithPatience bounds each read and each transaction of the store below ctx,
// and not ctx itself: a call that lasts, such as an export, goes on as long as
// the store answers. A store that has not answered within d counts as
// unavailable. What is not positive is no bound.
func WithPatience(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, patienceKey{}, d)
}

// HasPatience reports whether somebody waits for the answers below ctx: a caller
// of the API, whose work has a share of the store's connections of its own.
func HasPatience(ctx context.Context) bool {
	d, ok := ctx.Value(patienceKey{}).(time.Duration)
	return ok && d > 0
}

// Patient is ctx for one read or one transaction. The function must be called
// when that has ended.
func Patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if d, ok := ctx.Value(patienceKey{}).(time.Duration); ok && d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return ctx, func() {}
}
