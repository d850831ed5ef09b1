// Package storeretry repeats reads that must outlast an outage of the store.
package storeretry

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// pause is the time between two tries. It is short beside the time after which a run
// counts as lost, and it spares a store that comes back.
const pause = 200 * time.Millisecond

// Read repeats a read while the store is unavailable. When ctx ends, it returns the last
// error. Use it only for reads on which runs depend that this node holds already: an
// outage for all nodes must not end them (engine rule 27).
func Read(ctx context.Context, c clock.Clock, read func() error) error {
	for {
		err := read()
		if !apperror.Is(err, apperror.KindUnavailable) || clock.Sleep(ctx, c, pause) != nil {
			return err
		}
	}
}
