// Package redispubsub carries hints between nodes over Redis, and keeps the
// lights by which nodes of older programs see others while the store is away.
// Nothing in it is needed for what is true: messages may be lost, doubled or late.
package redispubsub

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis implements notify.Transport and membership.Beacons. Safe for concurrent
// use.
type Redis struct {
	client  redis.UniversalClient
	channel string
	beacons string
}

// subscribeBound is how long Redis may take to confirm a subscription.
const subscribeBound = 2 * time.Second

// New keeps to keys of that space, which tells installations apart that share
// a Redis.
func New(client redis.UniversalClient, space string) *Redis {
	return &Redis{client: client, channel: space + ":hints", beacons: space + ":beacon"}
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

// index holds the names of nodes that have lit a beacon, by when it goes out.
// It is one key, so that a cluster keeps it in one place.
func (r *Redis) index() string { return "{" + r.beacons + "}" }

// Light implements membership.Beacons: the node is entered with the time, by
// Redis's clock, at which its light goes out.
func (r *Redis) Light(ctx context.Context, nodeID string, lasts time.Duration) error {
	err := r.client.Eval(ctx, `
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZADD', KEYS[1], ms + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 10)
return 1`, []string{r.index()}, nodeID, lasts.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("light the beacon: %w", err)
	}
	return nil
}
