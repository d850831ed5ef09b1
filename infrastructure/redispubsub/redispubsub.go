// Package redispubsub carries hints between nodes over Redis. It also marks nodes
// alive for nodes of older releases, which read that while the store is away. Nothing
// depends on it for correctness: a message may be lost, doubled or late.
package redispubsub

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis implements notify.Transport and membership.LivenessStore. Safe for concurrent
// use.
type Redis struct {
	client  redis.UniversalClient
	channel string
	alive   string
}

// subscribeBound bounds the wait for Redis to confirm a subscription.
const subscribeBound = 2 * time.Second

// New returns a transport on the keys of one space. Installations that share a Redis
// use different spaces.
func New(client redis.UniversalClient, space string) *Redis {
	return &Redis{client: client, channel: space + ":hints", alive: space + ":beacon"}
}

// Publish implements notify.Transport.
func (r *Redis) Publish(ctx context.Context, message []byte) error {
	if err := r.client.Publish(ctx, r.channel, message).Err(); err != nil {
		return fmt.Errorf("publish a hint: %w", err)
	}
	return nil
}

// Subscribe implements notify.Transport. It returns when ctx ends or the
// subscription broke; the client subscribes again after a broken connection.
func (r *Redis) Subscribe(ctx context.Context, began func(), take func(message []byte)) error {
	sub := r.client.Subscribe(ctx, r.channel)
	defer func() { _ = sub.Close() }()
	if _, err := sub.ReceiveTimeout(ctx, subscribeBound); err != nil {
		return fmt.Errorf("subscribe to hints: %w", err)
	}
	began()
	arrived := sub.ChannelWithSubscriptions()
	for {
		select {
		case <-ctx.Done():
			return nil
		case next, ok := <-arrived:
			if !ok {
				return nil
			}
			switch m := next.(type) {
			case *redis.Subscription:
				began()
			case *redis.Message:
				take([]byte(m.Payload))
			}
		}
	}
}

// index is the key of the set of nodes that are marked alive, by when the mark ends.
// It is one key, so that a Redis cluster keeps it on one node.
func (r *Redis) index() string { return "{" + r.alive + "}" }

// MarkAlive implements membership.LivenessStore. It stores the time, by the clock of
// Redis, at which the mark of the node ends.
func (r *Redis) MarkAlive(ctx context.Context, nodeID string, lasts time.Duration) error {
	err := r.client.Eval(ctx, `
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', KEYS[1], ms + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 10)
return 1`, []string{r.index()}, nodeID, lasts.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("mark the node alive: %w", err)
	}
	return nil
}
