package entity

import "context"

type rightKey struct{}

// WithRight lets what works below ctx ask whether the node may still act. A
// process that was frozen, or a machine that slept, finds out by asking before
// its context is cancelled (engine rule 27).
func WithRight(ctx context.Context, holds func() bool) context.Context {
	return context.WithValue(ctx, rightKey{}, holds)
}

// MayAct reports whether the node may act at this moment: send a request, start
// a process. Without WithRight it always may. ErrStopLost is what an attempt that
// may not ends with.
func MayAct(ctx context.Context) bool {
	holds, ok := ctx.Value(rightKey{}).(func() bool)
	return !ok || holds()
}
