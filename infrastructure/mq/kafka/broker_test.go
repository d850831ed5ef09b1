package kafka_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
)

// within bounds the wait for something that must happen.
const within = 30 * time.Second

// publishAll publishes until all events are taken.
func publishAll(t *testing.T, k *kafka.Client, events []entity.Event) {
	t.Helper()
	require.Eventually(t, func() bool {
		taken, _ := k.Publish(t.Context(), events)
		done := map[string]bool{}
		for _, id := range taken {
			done[id] = true
		}
		var left []entity.Event
		for _, e := range events {
			if !done[e.ID] {
				left = append(left, e)
			}
		}
		events = left
		return len(events) == 0
	}, within, 100*time.Millisecond)
}

// What real brokers hold is what was published, in the order of each key.
func TestRealBrokersHoldEventsInTheOrderOfEachKey(t *testing.T) {
	cfg := kafkatest.Config(t)
	require.NoError(t, kafka.Try(t.Context(), cfg))
	k := open(t, cfg)
	require.NoError(t, k.Check(t.Context()), "it makes the topics")
	require.NoError(t, k.Check(t.Context()), "which are there then")
	reason, _ := k.Trouble()
	require.Empty(t, reason)

	const keys, each = 7, 200
	var events []entity.Event
	for n := range each {
		for key := range keys {
			payload := fmt.Sprintf(`{"n":%d}`, n)
			if n == each/2 {
				payload = fmt.Sprintf(`{"n":%d,"text":%q}`, n, strings.Repeat("long ", 300_000))
			}
			events = append(events, entity.Event{
				ID: fmt.Sprintf("%d:%d", key, n), Topic: entity.TopicExecutions, Key: fmt.Sprint(key), Type: "t",
				Payload: payload, CreateTime: time.Now(),
			})
		}
	}
	publishAll(t, k, events)
	all, err := kafkatest.ReadAll(t.Context(), cfg, "executions")
	require.NoError(t, err)
	require.Len(t, all, keys*each)
	next := map[string]int{}
	partitions := map[int]bool{}
	for _, m := range all {
		var value struct {
			EventID, NodeID string
			Data            struct{ N int }
		}
		require.NoError(t, json.Unmarshal(m.Value, &value))
		key := string(m.Key)
		require.Equal(t, next[key], value.Data.N, "of key %s", key)
		require.Equal(t, fmt.Sprintf("%s:%d", key, next[key]), value.EventID)
		require.Equal(t, "node-1", value.NodeID)
		next[key]++
		partitions[m.Partition] = true
	}
	require.Greater(t, len(partitions), 1, "keys are spread")
	for _, topic := range []string{"jobs", "alerts", "metrics"} {
		all, err := kafkatest.ReadAll(t.Context(), cfg, topic)
		require.NoError(t, err)
		require.Empty(t, all)
	}
}

// A message about an alert wakes one member of the group, also one that came before it.
func TestAMessageWakesAMemberOfTheGroup(t *testing.T) {
	cfg := kafkatest.Config(t)
	k := open(t, cfg)
	require.NoError(t, k.Check(t.Context()))
	alert := func(id string) []entity.Event {
		return []entity.Event{{ID: id, Topic: entity.TopicAlerts, Key: id, Type: "t", Payload: "{}", CreateTime: time.Now()}}
	}
	publishAll(t, k, alert("before"))
	ctx, stop := context.WithCancel(t.Context())
	var woken atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.WakeOnAlerts(ctx, func() { woken.Add(1) })
	}()
	require.Eventually(t, func() bool { return woken.Load() == 1 }, within, 10*time.Millisecond)
	publishAll(t, k, alert("after"))
	require.Eventually(t, func() bool { return woken.Load() == 2 }, within, 10*time.Millisecond)
	stop()
	<-done
}

// member is a node that is woken.
type member struct {
	woken atomic.Int32
	stop  context.CancelFunc
	done  chan struct{}
}

func join(t *testing.T, cfg config.Kafka) *member {
	t.Helper()
	k := open(t, cfg)
	ctx, stop := context.WithCancel(t.Context())
	m := &member{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		k.WakeOnAlerts(ctx, func() { m.woken.Add(1) })
	}()
	return m
}

// leave ends the member and waits for its end.
func (m *member) leave() { m.stop(); <-m.done }

// When members come and go, each message still wakes somebody.
func TestARebalanceLosesNoWakeUp(t *testing.T) {
	cfg := kafkatest.Config(t)
	k := open(t, cfg)
	require.NoError(t, k.Check(t.Context()))
	sent := 0
	// send sends to all partitions, and waits until as many calls woke the members.
	send := func(members ...*member) {
		t.Helper()
		before := int32(0)
		for _, m := range members {
			before += m.woken.Load()
		}
		var events []entity.Event
		for range 16 {
			sent++
			id := fmt.Sprint(sent)
			events = append(events, entity.Event{
				ID: id, Topic: entity.TopicAlerts, Key: id, Type: "t", Payload: "{}", CreateTime: time.Now(),
			})
		}
		publishAll(t, k, events)
		require.Eventually(t, func() bool {
			now := int32(0)
			for _, m := range members {
				now += m.woken.Load()
			}
			return now-before >= int32(len(events))
		}, within, 10*time.Millisecond)
	}
	a := join(t, cfg)
	send(a)
	b := join(t, cfg)
	require.Eventually(t, func() bool { send(a, b); return b.woken.Load() > 0 }, within, time.Second, "it gets its share")
	a.leave()
	send(b)
	c := join(t, cfg)
	b.leave()
	send(c)
	c.leave()
}
