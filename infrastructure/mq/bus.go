// Package mq carries events to their subscribers. The standalone profile uses this in-process
// bus.
package mq

import (
	"context"
	"errors"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Subscriber takes events in order, each at least once. When it fails, the outbox keeps the
// events and sends them again.
type Subscriber func(ctx context.Context, events []entity.Event) error

// Bus passes events to subscribers in the process. Safe for concurrent use.
type Bus struct {
	mu   sync.RWMutex
	subs []Subscriber
}

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{} }

// Subscribe adds a subscriber of all later events.
func (b *Bus) Subscribe(s Subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = append(b.subs, s)
}

// Publish passes the events to every subscriber. When one fails, the others still get the
// events, and get them again later.
func (b *Bus) Publish(ctx context.Context, events []entity.Event) error {
	b.mu.RLock()
	subs := b.subs
	b.mu.RUnlock()
	var failed []error
	for _, s := range subs {
		if err := s(ctx, events); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
