// Package storeretry repeats reads that must outlast an outage of the store.
package storeretry

import (
	"context"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// pause is the time between two tries. It is short beside the time after which a run
// counts as lost, and it spares a store that comes back.
const pause = 200 * time.Millisecond

// unknownFor is how long Read repeats a read that meets an unknown answer; one that lasts longer is an error of the
// program.
const unknownFor = 30 * time.Second

// Read repeats a read while the store is unavailable, and for 30 s while it gives an unknown answer. When ctx ends, it
// returns the last error. Use it only for reads that this node's live runs need: an outage for all nodes must not end
// them (engine rule 27).
func Read(ctx context.Context, c clock.Clock, read func() error) error {
	began := c.Monotonic()
	for {
		err := read()
		passes := apperror.Is(err, apperror.KindUnavailable) ||
			errors.As(err, new(*repository.UnknownError)) && c.Monotonic()-began < unknownFor
		if !passes || clock.Sleep(ctx, c, pause) != nil {
			return err
		}
	}
}
