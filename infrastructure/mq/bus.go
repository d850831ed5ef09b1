// Package mq carries events to their subscribers. The standalone profile has
// this in-process bus.
package mq

import (
	"context"
	"errors"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Subscriber takes events, at least once and in order. An error makes the
// outbox keep the events and send them again.
type Subscriber func(ctx context.Context, events []entity.Event) error

// Bus hands events to subscribers in the process. Safe for concurrent use.
type Bus struct {
	mu   sync.RWMutex
	subs []Subscriber
}

// NewBus returns a bus without subscribers.
func NewBus() *Bus { return &Bus{} }

// Subscribe adds a subscriber; it sees what is published from now on.
func (b *Bus) Subscribe(s Subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = append(b.subs, s)
}

// Publish hands the events to every subscriber. When one of them fails, the
// others have still seen the events, and see them again.
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
