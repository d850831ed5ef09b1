package maintenance

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const (
	// unreadAge is how long events wait for the rules of alerting.
	unreadAge = 24 * time.Hour
	// unreadGrace is how long a node that has just started drops none by age: where all
	// nodes were down for longer, the leader reads first what waited.
	unreadGrace = 5 * time.Minute
	// unreadShown is how long a drop is shown as a trouble, and how often it is logged.
	unreadShown = 10 * time.Minute
)

// UnreadDeps are the parts of an Unread.
type UnreadDeps struct {
	Outbox repository.Outbox
	// Clock measures time passed, StoreClock is that of the events.
	Clock      clock.Clock
	StoreClock clock.StoreClock
	// Dropped counts events that were dropped.
	Dropped func(events int)
	Logger  *slog.Logger
}

// Unread bounds the events that wait for the rules of alerting, by number and by age. It
// is a task of each node: they wait for long only where no node leads, or the leader
// cannot read them. Two at once drop no more than one. Safe for concurrent use.
type Unread struct {
	UnreadDeps
	limit int
	began time.Duration

	mu sync.Mutex
	// unlogged are events that were dropped and not logged.
	unlogged int
	// dropped is when some were dropped last, logged when that was logged last, in
	// monotonic time; nil is never.
	dropped, logged *time.Duration
}

// NewUnread wires the parts.
func NewUnread(d UnreadDeps) *Unread {
	return &Unread{UnreadDeps: d, limit: outboxLimit, began: d.Clock.Monotonic()}
}

// RunOnce drops what waits for too long, and the oldest of too many.
func (u *Unread) RunOnce(ctx context.Context) error {
	drops := []func() (int, error){
		func() (int, error) { return u.Outbox.DropOldest(ctx, entity.ReaderRules, u.limit, dropBatch) },
	}
	if u.Clock.Monotonic()-u.began >= unreadGrace {
		before := u.StoreClock.Now().Add(-unreadAge)
		drops = append(drops, func() (int, error) {
			return u.Outbox.DropOlder(ctx, entity.ReaderRules, before, dropBatch)
		})
	}
	for _, drop := range drops {
		for range dropBatches {
			n, err := drop()
			u.note(n)
			if err != nil {
				return fmt.Errorf("drop events that wait for the rules: %w", err)
			}
			if n == 0 {
				break
			}
		}
	}
	return nil
}

// note counts what was dropped, and logs it: at once, then at most each unreadShown.
func (u *Unread) note(events int) {
	if events > 0 {
		u.Dropped(events)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.Clock.Monotonic()
	if events > 0 {
		u.dropped, u.unlogged = &now, u.unlogged+events
	}
	if u.unlogged == 0 || u.logged != nil && now-*u.logged < unreadShown {
		return
	}
	u.Logger.Error("events that the rules of alerting did not read in time were dropped: alerts about these ends of runs "+
		"are missing. See that a node leads, and that its task alerts works", "events", u.unlogged,
		"kept", u.limit, "keptFor", unreadAge.String())
	u.logged, u.unlogged = &now, 0
}

// Trouble says that events were dropped a short time ago. It never blocks the node.
func (u *Unread) Trouble() (reason string, blocks bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dropped == nil || u.Clock.Monotonic()-*u.dropped >= unreadShown {
		return "", false
	}
	return "the rules of alerting did not read events in time, and the oldest were dropped: alerts are missing; see " +
		"that a node leads, and that its task alerts works", false
}
