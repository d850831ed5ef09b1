package kafka

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// copiesHeld bounds the events that wait in memory.
const copiesHeld = 10_000

// copyPause is the pause after copies that were not taken.
const copyPause = time.Second

// Copies sends events that nobody has to have, from memory. They wait while the brokers are known to be away; what does
// not fit, or is not taken, is dropped and counted. Safe for concurrent use; Run is one loop.
type Copies struct {
	client  *Client
	dropped func(events int)

	mu    sync.Mutex
	ring  []func() entity.Event
	first int
	held  int
	woken chan struct{}
}

// NewCopies makes the ring; dropped is told how many were dropped, and must not wait.
func (k *Client) NewCopies(dropped func(events int)) *Copies {
	return &Copies{
		client: k, dropped: dropped, ring: make([]func() entity.Event, copiesHeld), woken: make(chan struct{}, 1),
	}
}

// Offer adds an event, which is made when it is sent; it drops the oldest where there is no
// room. It never waits.
func (c *Copies) Offer(event func() entity.Event) {
	c.mu.Lock()
	full := c.held == len(c.ring)
	if full {
		c.first = (c.first + 1) % len(c.ring)
		c.held--
	}
	c.ring[(c.first+c.held)%len(c.ring)] = event
	c.held++
	c.mu.Unlock()
	if full {
		c.dropped(1)
	}
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// Run sends what is offered until ctx ends.
func (c *Copies) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.woken:
		}
		for c.waits() {
			if !c.client.serves() || !c.sendSome(ctx) {
				if clock.Sleep(ctx, c.client.clock, copyPause) != nil {
					return
				}
			}
		}
	}
}

// waits reports whether anything does.
func (c *Copies) waits() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held > 0
}

// sendSome sends the oldest and reports whether all were taken.
func (c *Copies) sendSome(ctx context.Context) bool {
	events := c.take()
	taken, err := c.client.copies.send(ctx, events)
	if lost := len(events) - len(taken); lost > 0 {
		c.dropped(lost)
	}
	return err == nil
}

// take removes the oldest.
func (c *Copies) take() (events []entity.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.held > 0 && len(events) < batchSize {
		events = append(events, c.ring[c.first]())
		c.ring[c.first] = nil
		c.first = (c.first + 1) % len(c.ring)
		c.held--
	}
	return events
}
