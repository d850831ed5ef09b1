package faillog

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// readAgain is the pause between two tries of Outlast: short beside the looks by
// which a run counts as lost, and no burden for a store that comes back.
const readAgain = 200 * time.Millisecond

// Outlast repeats a read for as long as the store is unavailable, and returns its
// last error when ctx ends. Only for reads on which runs depend that this node
// holds already: an outage for everybody may not end them (engine rule 27).
func Outlast(ctx context.Context, c clock.Clock, read func() error) error {
	for {
		err := read()
		if !apperror.Is(err, apperror.KindUnavailable) || clock.Sleep(ctx, c, readAgain) != nil {
			return err
		}
	}
}
