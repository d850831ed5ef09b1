package enginetest

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Around is a store whose write transactions change adapts before they are used: a test replaces the part that
// shall refuse something.
func Around(s repository.Store, change func(tx *repository.Tx)) repository.Store {
	return &around{s, change}
}

type around struct {
	repository.Store
	change func(tx *repository.Tx)
}

// Write implements repository.Store.
func (s *around) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	return s.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		s.change(&tx)
		return fn(ctx, tx)
	})
}
