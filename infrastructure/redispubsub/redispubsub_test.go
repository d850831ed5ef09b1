package redispubsub_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redispubsub"
)

func TestMessagesReachEverySubscriber(t *testing.T) { redistest.Each(t, messagesReachEverySubscriber) }

// Each subscriber has a connection of its own, in a cluster perhaps to another
// node than the one that was told.
func messagesReachEverySubscriber(t *testing.T, cfg config.Redis) {
	space := "ps-test-" + uuid.NewString()
	r := redispubsub.New(redistest.Open(t, cfg), space)
	ctx, cancel := context.WithCancel(t.Context())
	got := make([]chan string, 2)
	done := make(chan error, 2)
	for i := range got {
		got[i] = make(chan string, 100)
		sub := redispubsub.New(redistest.Open(t, cfg), space)
		go func() { done <- sub.Subscribe(ctx, func() {}, func(m []byte) { got[i] <- string(m) }) }()
	}
	// A subscription takes a moment; whoever missed the first hears a later one.
	for i, c := range got {
		require.Eventually(t, func() bool {
			require.NoError(t, r.Publish(t.Context(), []byte("hello")))
			select {
			case m := <-c:
				return m == "hello"
			default:
				return false
			}
		}, 10*time.Second, 10*time.Millisecond, "subscriber %d", i)
	}
	cancel()
	for range got {
		require.NoError(t, <-done)
	}
}

// A connection that broke is made again, and the subscriber is told that it may
// have missed messages.
func TestASubscriberHearsThatItMayHaveMissedMessages(t *testing.T) {
	redistest.NeedRedis(t)
	cfg := redistest.Config()
	client := redistest.Open(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	began, done := make(chan struct{}, 100), make(chan error, 1)
	before := subscribers(t, client)
	go func() {
		done <- redispubsub.New(redistest.Open(t, cfg), "ps-test-"+uuid.NewString()).
			Subscribe(ctx, func() { began <- struct{}{} }, func([]byte) {})
	}()
	for try := range 2 {
		select {
		case <-began:
		case <-time.After(20 * time.Second):
			require.Fail(t, "no subscription", "try %d", try)
		}
		if try == 0 {
			for _, id := range subscribers(t, client) {
				if !slices.Contains(before, id) {
					require.NoError(t, client.Do(t.Context(), "CLIENT", "KILL", "ID", id).Err())
				}
			}
		}
	}
	cancel()
	require.NoError(t, <-done)
}

// subscribers are the ids of the connections that are subscribed to something.
func subscribers(t *testing.T, client redis.UniversalClient) (ids []string) {
	t.Helper()
	list, err := client.Do(t.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	require.NoError(t, err)
	for line := range strings.Lines(list) {
		id, _, _ := strings.Cut(strings.TrimPrefix(line, "id="), " ")
		ids = append(ids, id)
	}
	return ids
}

func TestBeaconsGoOut(t *testing.T) { redistest.Each(t, beaconsGoOut) }

// Older programs read the lights: those whose end is not past.
func beaconsGoOut(t *testing.T, cfg config.Redis) {
	client, space := redistest.Open(t, cfg), "ps-test-"+uuid.NewString()
	r := redispubsub.New(client, space)
	require.NoError(t, r.MarkAlive(t.Context(), "b", 100*time.Millisecond))
	require.NoError(t, r.MarkAlive(t.Context(), "a", time.Minute))
	ends, err := client.ZRangeWithScores(t.Context(), "{"+space+":beacon}", 0, -1).Result()
	require.NoError(t, err)
	require.Equal(t, []any{"b", "a"}, []any{ends[0].Member, ends[1].Member})
	require.InDelta(t, 59_900, ends[1].Score-ends[0].Score, 5_000, "in ms of Redis' clock")
	now, err := client.Time(t.Context()).Result()
	require.NoError(t, err)
	require.InDelta(t, 60_000, ends[1].Score-float64(now.UnixMilli()), 10_000)
}

func TestNobodyThereIsAnError(t *testing.T) {
	r := redispubsub.New(redistest.Open(t, redistest.Gone(t)), "ps-test")
	require.Error(t, r.Publish(t.Context(), []byte("x")))
	require.Error(t, r.MarkAlive(t.Context(), "a", time.Second))
	require.Error(t, r.Subscribe(t.Context(), func() { t.Error("a subscription to nobody") }, func([]byte) {
		t.Error("a message from nowhere")
	}))
}
