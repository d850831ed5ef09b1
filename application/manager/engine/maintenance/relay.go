// Package maintenance holds the tasks of the leader that keep the store in order: it
// repairs what waits, publishes the outbox, and deletes what is older than its
// retention. The rules of the engine are in docs/rules.md.
package maintenance

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/turns"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Publisher hands events to the brokers.
type Publisher interface {
	// Publish returns the ids of the events that were taken. It sends events of one key
	// in their order, and sends none behind one that was not taken. The error says why
	// some were not taken. It may send an event twice. A context that ends leaves it
	// open what was taken.
	Publish(ctx context.Context, events []entity.Event) (taken []string, err error)
}

const (
	// relayBatch is the number of events published at once.
	relayBatch = 500
	// relayPages bounds how far a turn looks past events that nobody takes.
	relayPages  = 10
	slowFailure = time.Second
)

// RelayInterval is how often an idle relay looks for events.
const RelayInterval = time.Second

const (
	// busyInterval is how often it looks for busyFor after it had some.
	busyInterval = 200 * time.Millisecond
	busyFor      = 5 * time.Second
	// busyPause is the least time between two turns of a busy relay.
	busyPause = 50 * time.Millisecond
	// retryLeast and retryMost bound the pause after a failure; it doubles.
	retryLeast = 200 * time.Millisecond
	retryMost  = 5 * time.Second
)

// RelayDeps are the parts of a Relay.
type RelayDeps struct {
	Outbox    repository.Outbox
	Publisher Publisher
	Clock     clock.Clock
	// Leads tells whether this node does the tasks of the leader.
	Leads func() bool
	// Note is told how each turn of the leader ended; brokers that are away are no error.
	Note func(err error)
}

// Relay publishes the outbox to the brokers: at least once, and for each key in order of
// insertion. Two relays at once send twice, and harm nothing else. Wake is safe for
// concurrent use; Run is one loop.
type Relay struct {
	RelayDeps
	turns turns.Loop
	// worked is when some were sent last.
	worked time.Duration
}

// NewRelay wires the parts.
func NewRelay(d RelayDeps) *Relay {
	r := &Relay{RelayDeps: d, worked: -busyFor}
	r.turns = turns.Loop{
		Signal: turns.NewSignal(), Clock: d.Clock, Leads: d.Leads, Interval: RelayInterval, Turn: r.turn,
	}
	return r
}

// Wake makes the relay look at once, for example after a commit that added events.
func (r *Relay) Wake() { r.turns.Wake() }

// Run publishes while this node leads, until ctx ends.
func (r *Relay) Run(ctx context.Context) { r.turns.Run(ctx) }

// turn publishes what waits and tells when to look again.
func (r *Relay) turn(ctx context.Context, failures int) turns.Next {
	var sent int
	var refused error
	err := batch.Guard(func() (err error) {
		sent, refused, err = r.RunOnce(ctx)
		return err
	})
	if ctx.Err() == nil {
		r.Note(err)
	}
	now := r.Clock.Monotonic()
	if sent > 0 {
		r.worked = now
	}
	if err != nil || refused != nil {
		return turns.Next{Wait: min(retryLeast<<min(failures, 10), retryMost), Failed: true}
	}
	if now-r.worked < busyFor {
		return turns.Next{Wait: busyInterval, Pause: busyPause}
	}
	return turns.Next{Wait: RelayInterval}
}

// RunOnce publishes what waits and returns how many events that were; refused is why
// others were not taken. It looks past those, so that they do not hold up the keys behind
// them, and sends none of their keys.
func (r *Relay) RunOnce(ctx context.Context) (sent int, refused, err error) {
	held := map[string]bool{}
	after, pages := int64(0), 0
	for pages < relayPages && ctx.Err() == nil {
		page, err := r.Outbox.PendingEvents(ctx, entity.ReaderKafka, after, relayBatch)
		if err != nil {
			return sent, refused, fmt.Errorf("read the outbox: %w", err)
		}
		if len(page) == 0 {
			break
		}
		after = page[len(page)-1].Seq
		began := r.Clock.Monotonic()
		taken, failure := r.publish(ctx, page, held)
		// A failure at once may be one topic; a slow one is the brokers.
		slow := failure != nil && r.Clock.Monotonic()-began > slowFailure
		if failure != nil {
			refused = failure
		}
		if refused != nil {
			pages++
		}
		// Taken events are cleared, also when the node is about to stop.
		err = r.Outbox.ClearEvents(context.WithoutCancel(ctx), entity.ReaderKafka, taken)
		if err != nil {
			return sent, refused, fmt.Errorf("clear published events: %w", err)
		}
		sent += len(taken)
		if slow || len(page) < relayBatch || !r.Leads() {
			break
		}
	}
	return sent, refused, nil
}

// publish sends those of a page whose key is not held, and holds the keys of what was not
// taken.
func (r *Relay) publish(ctx context.Context, page []entity.Event, held map[string]bool) (taken []string, err error) {
	var free []entity.Event
	for _, e := range page {
		if !held[orderOf(e)] {
			free = append(free, e)
		}
	}
	if len(free) == 0 {
		return nil, nil
	}
	taken, err = r.Publisher.Publish(ctx, free)
	done := make(map[string]bool, len(taken))
	for _, id := range taken {
		done[id] = true
	}
	for _, e := range free {
		if !done[e.ID] {
			held[orderOf(e)] = true
		}
	}
	return taken, err
}

// orderOf names what is to stay in order.
func orderOf(e entity.Event) string { return e.Topic + "\x00" + e.Key }

// Forget clears what waits for readers that are off, and returns how many events that
// were: rows of a time when they were on, and of nodes of older releases.
func Forget(ctx context.Context, outbox repository.Outbox, on entity.EventReaders) (cleared int, err error) {
	for reader, reads := range map[entity.EventReader]bool{
		entity.ReaderRules: on.Rules, entity.ReaderKafka: on.Kafka,
	} {
		for n := dropBatch; !reads && n == dropBatch; cleared += n {
			if n, err = outbox.DropOldest(ctx, reader, 0, dropBatch); err != nil {
				return cleared, fmt.Errorf("clear events for the reader %s, which is off: %w", reader, err)
			}
		}
	}
	return cleared, nil
}
