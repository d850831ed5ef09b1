package workers

import (
	"context"
	"math"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// anyEpoch is behind all epochs.
const anyEpoch = math.MaxInt64

// isRowless reports whether nobody looks after the runs of a holder.
func (w *Watch) isRowless(ctx context.Context, id string) (bool, error) {
	one, err := w.Store.Worker(ctx, id)
	if apperror.Is(err, apperror.KindNotFound) {
		return true, nil
	}
	return err == nil && one.Status == worker.Down && one.Former.Epoch == 0, err
}
