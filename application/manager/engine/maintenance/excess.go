package maintenance

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// outboxLimit is how many events wait for a reader; the oldest beyond it go.
	outboxLimit = 1_000_000
	// dropBatch bounds what one look deletes of them.
	dropBatch = 10_000
	// dropBatches bounds what one turn deletes.
	dropBatches = 10
)

// Excess bounds the events that wait for the brokers. It is a task of each node: they are
// many also where no node leads, so that nobody publishes. Two at once drop no more than
// one. Safe for concurrent use.
type Excess struct {
	outbox  repository.Outbox
	dropped func(events int)
	limit   int
}

// NewExcess wires the parts; dropped is told of events that were deleted unread.
func NewExcess(outbox repository.Outbox, dropped func(events int)) *Excess {
	return &Excess{outbox: outbox, dropped: dropped, limit: outboxLimit}
}

// RunOnce drops the oldest of too many.
func (x *Excess) RunOnce(ctx context.Context) error {
	dropped := 0
	for range dropBatches {
		n, err := x.outbox.DropOldest(ctx, entity.ReaderKafka, x.limit, dropBatch)
		dropped += n
		if err != nil {
			x.tell(dropped)
			return fmt.Errorf("drop the oldest events that wait for Kafka: %w", err)
		}
		if n < dropBatch {
			break
		}
	}
	x.tell(dropped)
	return nil
}

func (x *Excess) tell(events int) {
	if events > 0 {
		x.dropped(events)
	}
}
