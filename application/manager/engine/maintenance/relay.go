// Package maintenance holds the tasks of the leader that keep the store in order: it
// repairs what waits, publishes the outbox, and deletes what is older than its
// retention. The rules of the engine are in docs/rules.md.
package maintenance

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Publisher hands events to their subscribers. It returns nil only when all of
// them were taken.
type Publisher interface {
	Publish(ctx context.Context, events []entity.Event) error
}

// relayBatch is the number of events published at once.
const relayBatch = 500

// Relay publishes the outbox: at least once, in order of insertion.
type Relay struct {
	outbox    repository.Outbox
	publisher Publisher
}

// NewRelay wires the parts.
func NewRelay(outbox repository.Outbox, publisher Publisher) *Relay {
	return &Relay{outbox: outbox, publisher: publisher}
}

// RunOnce publishes what waits and returns how many events that were.
func (r *Relay) RunOnce(ctx context.Context) (int, error) {
	total := 0
	for {
		events, err := r.outbox.PendingEvents(ctx, relayBatch)
		if err != nil {
			return total, fmt.Errorf("read the outbox: %w", err)
		}
		if len(events) == 0 {
			return total, nil
		}
		if err := r.publisher.Publish(ctx, events); err != nil {
			return total, fmt.Errorf("publish %d events: %w", len(events), err)
		}
		ids := make([]string, len(events))
		for i, e := range events {
			ids[i] = e.ID
		}
		if err := r.outbox.DropEvents(ctx, ids); err != nil {
			return total, fmt.Errorf("drop published events: %w", err)
		}
		total += len(events)
		if len(events) < relayBatch {
			return total, nil
		}
	}
}
