package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// StoreStates keeps what a store knows of itself.
type StoreStates interface {
	// StoreState is what the store knows; active, and nothing else, where nobody has
	// written anything.
	StoreState(ctx context.Context) (entity.StoreState, error)
	// SetStoreMode writes mode, reason and who set them; Since is the store's time. It leaves the mark. ACTIVE removes the
	// address of nodes that have not beaten for a minute. So no node asks whether they work on another store. The first
	// standby makes the store refuse programs that do not know the mode. apperror.KindInvalid for texts that are too long
	// or an unknown mode.
	SetStoreMode(ctx context.Context, s entity.StoreState) error
	// MoveStoreMark writes the mark if it is still from; zero stands for none. ok is false
	// where somebody else has moved it. to is to the millisecond.
	MoveStoreMark(ctx context.Context, from, to time.Time) (ok bool, err error)
}
