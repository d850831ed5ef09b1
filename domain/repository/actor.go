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

type userKey struct{}

// WithUser says which user is behind what is done below ctx, by id.
func WithUser(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, userKey{}, id)
}

// User is the id of the user behind a write; empty where there is none.
func User(ctx context.Context) string {
	id, _ := ctx.Value(userKey{}).(string)
	return id
}
