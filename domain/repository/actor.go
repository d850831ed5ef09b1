package repository

import "context"

type actorKey struct{}

// WithActor says who is behind what is written below ctx: the name of a user.
// Versions of jobs keep it.
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

// Actor is who is behind a write; empty where nobody is, such as the engine.
func Actor(ctx context.Context) string {
	name, _ := ctx.Value(actorKey{}).(string)
	return name
}
