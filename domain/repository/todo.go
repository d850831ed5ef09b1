package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// TodoWriter keeps what stored changes owe, inside a transaction.
type TodoWriter interface {
	// AddTodos adds rows; one that is there stays as it is.
	AddTodos(ctx context.Context, todos []entity.Todo) error
	// DropTodos deletes those that are there, and returns how many these were.
	DropTodos(ctx context.Context, todos []entity.Todo) (int, error)
}

// TodoReader reads what is owed.
type TodoReader interface {
	// Todos are those of a kind that came to be up to a moment, the oldest first, at most limit.
	Todos(ctx context.Context, kind entity.TodoKind, until time.Time, limit int) ([]entity.Todo, error)
}
