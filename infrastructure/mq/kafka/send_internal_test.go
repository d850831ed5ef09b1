package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fakeWriter notes what is written and refuses what answer says.
type fakeWriter struct {
	answer func(messages []kafkago.Message) error
	calls  [][]kafkago.Message
}

func (w *fakeWriter) WriteMessages(_ context.Context, messages ...kafkago.Message) error {
	w.calls = append(w.calls, messages)
	if w.answer == nil {
		return nil
	}
	return w.answer(messages)
}

func (w *fakeWriter) Close() error { return nil }

// refusing refuses single messages.
func refusing(cause error, refuse func(m kafkago.Message) bool) func(messages []kafkago.Message) error {
	return func(messages []kafkago.Message) error {
		each, refused := make(kafkago.WriteErrors, len(messages)), false
		for i, m := range messages {
			if refuse(m) {
				each[i], refused = cause, true
			}
		}
		if !refused {
			return nil
		}
		return each
	}
}

func withWriter(t *testing.T, answer func(messages []kafkago.Message) error) (*Client, *fakeWriter, *clocktest.Manual) {
	t.Helper()
	clock := clocktest.NewManual(noon)
	k, err := Open(config.Kafka{Brokers: []string{"127.0.0.1:1"}, TopicPrefix: "acme"}, "node-1", clock,
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	w := &fakeWriter{answer: answer}
	k.relay.writer, k.copies.writer, k.checked = w, w, true
	return k, w, clock
}

func eventOf(id, topic, key string, bytes int) entity.Event {
	return entity.Event{
		ID: id, Topic: topic, Key: key, Type: "t", CreateTime: noon,
		Payload: fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", bytes)),
	}
}

func keyIs(key string) func(m kafkago.Message) bool {
	return func(m kafkago.Message) bool { return string(m.Key) == key }
}

// A call is at most one batch of each partition; behind one that failed nothing of its
// keys is sent.
func TestBehindAFailedCallNothingOfItsKeysIsSent(t *testing.T) {
	k, w, _ := withWriter(t, refusing(kafkago.RequestTimedOut, keyIs("bad")))
	var events []entity.Event
	for i := range 8 {
		key := []string{"good", "bad"}[i%2]
		events = append(events, eventOf(fmt.Sprint(i), entity.TopicExecutions, key, 200<<10))
	}
	taken, err := k.Publish(t.Context(), events)
	require.ErrorIs(t, err, kafkago.RequestTimedOut)
	require.Equal(t, []string{"0", "2", "4", "6"}, taken)
	bad := 0
	for i, call := range w.calls {
		size := 0
		for _, m := range call {
			size += sizeOf(m)
			if string(m.Key) == "bad" {
				require.Zero(t, i, "only in the first call")
				bad++
			}
		}
		require.LessOrEqual(t, size, batchBytes)
	}
	require.Positive(t, bad)
	reason, blocks := k.Trouble()
	require.Contains(t, reason, "wait in the outbox")
	require.False(t, blocks)

	w.answer = nil
	taken, err = k.Publish(t.Context(), events[:1])
	require.NoError(t, err)
	require.Len(t, taken, 1)
	reason, _ = k.Trouble()
	require.Empty(t, reason, "it is over")
}

// A broker that stands still takes the time of one call in a turn of the relay, and holds up no topic for ever.
func TestBehindASlowFailureNothingIsSent(t *testing.T) {
	k, w, clock := withWriter(t, nil)
	w.answer = func(messages []kafkago.Message) error {
		if messages[0].Topic != "acme.jobs" {
			return nil
		}
		clock.Advance(ioTimeout)
		return refusing(kafkago.RequestTimedOut, func(kafkago.Message) bool { return true })(messages)
	}
	var events []entity.Event
	for i := range 8 { // more than one call
		events = append(events, eventOf(fmt.Sprint(i), entity.TopicJobs, fmt.Sprint(i), 200<<10))
	}
	events = append(events, eventOf("other", entity.TopicExecutions, "k", 1))
	taken, err := k.Publish(t.Context(), events)
	require.ErrorIs(t, err, kafkago.RequestTimedOut)
	require.Empty(t, taken)
	require.Len(t, w.calls, 1)
	taken, err = k.Publish(t.Context(), events)
	require.ErrorIs(t, err, kafkago.RequestTimedOut)
	require.Equal(t, []string{"other"}, taken)
	require.Len(t, w.calls, 3)
	relay, ok := k.newSender(relayAttempts).writer.(*kafkago.Writer)
	require.True(t, ok)
	require.Equal(t, 1, relay.MaxAttempts, "the outbox is the relay's second attempt")
}

// A topic that is missing fails its own events alone.
func TestATopicThatIsMissingHoldsUpNoOther(t *testing.T) {
	k, w, _ := withWriter(t, func(messages []kafkago.Message) error {
		if messages[0].Topic == "acme.jobs" {
			return kafkago.UnknownTopicOrPartition
		}
		return nil
	})
	taken, err := k.Publish(t.Context(), []entity.Event{
		eventOf("a", entity.TopicJobs, "k", 1), eventOf("b", entity.TopicExecutions, "k", 1),
		eventOf("c", entity.TopicJobs, "k", 1), eventOf("d", entity.TopicAlerts, "k", 1),
	})
	require.ErrorIs(t, err, kafkago.UnknownTopicOrPartition)
	require.ErrorContains(t, err, "acme.jobs")
	require.Equal(t, []string{"b", "d"}, taken)
	require.Len(t, w.calls, 3)
}

// Brokers that take less than usual get less at once, until it fits.
func TestWhatIsTooLargeForTheBrokersIsMadeSmaller(t *testing.T) {
	const most = 100 << 10
	k, _, _ := withWriter(t, func(messages []kafkago.Message) error {
		size := 0
		for _, m := range messages {
			size += sizeOf(m)
		}
		return refusing(kafkago.MessageSizeTooLarge, func(kafkago.Message) bool { return size > most })(messages)
	})
	waiting := map[string]entity.Event{}
	for i := range 20 {
		e := eventOf(fmt.Sprint(i), entity.TopicExecutions, fmt.Sprint(i%3), 80<<10)
		waiting[e.ID] = e
	}
	for range 10 {
		var events []entity.Event
		for i := range 20 {
			if e, ok := waiting[fmt.Sprint(i)]; ok {
				events = append(events, e)
			}
		}
		taken, _ := k.Publish(t.Context(), events)
		for _, id := range taken {
			delete(waiting, id)
		}
	}
	require.Empty(t, waiting)
}

// Copies never wait: the oldest go where there is no room, and what is not taken is gone.
func TestCopiesAreDroppedAndCounted(t *testing.T) {
	k, w, _ := withWriter(t, nil)
	dropped := 0
	copies := k.NewCopies(func(n int) { dropped += n })
	const extra = 7
	for i := range copiesHeld + extra {
		copies.Offer(func() entity.Event { return eventOf(fmt.Sprint(i), entity.TopicExecutions, "", 1) })
	}
	require.Equal(t, extra, dropped)
	first := copies.take()
	require.Len(t, first, batchSize)
	require.Equal(t, fmt.Sprint(extra), first[0].ID, "the oldest went")

	ctx, stop := context.WithCancel(t.Context())
	sent := batchSize
	w.answer = func(messages []kafkago.Message) error {
		if sent += len(messages); sent == copiesHeld {
			stop()
		}
		return nil
	}
	copies.Run(ctx)
	require.Equal(t, copiesHeld, sent)
	require.Equal(t, extra, dropped)

	ctx, stop = context.WithCancel(t.Context())
	w.answer = func([]kafkago.Message) error { stop(); return errors.New("away") }
	copies.Offer(func() entity.Event { return eventOf("z", entity.TopicExecutions, "", 1) })
	copies.Run(ctx)
	require.Equal(t, extra+1, dropped)
	require.Empty(t, copies.take())
}

// That events were dropped is shown for a while, and is no reason to take a node off.
func TestDroppedEventsAreShown(t *testing.T) {
	k, _, clock := withWriter(t, nil)
	k.NoteDropped(0)
	reason, _ := k.Trouble()
	require.Empty(t, reason)
	clock.Advance(time.Second)
	k.NoteDropped(3)
	reason, blocks := k.Trouble()
	require.Contains(t, reason, "the oldest were dropped")
	require.False(t, blocks)
	clock.Advance(dropShown)
	reason, _ = k.Trouble()
	require.Empty(t, reason)
}

// Copies wait for brokers that are away, and for topics that are being made.
func TestCopiesWaitForTheBrokers(t *testing.T) {
	k, w, clock := withWriter(t, nil)
	k.checked = false
	dropped := 0
	copies := k.NewCopies(func(n int) { dropped += n })
	copies.Offer(func() entity.Event { return eventOf("a", entity.TopicExecutions, "", 1) })
	ctx, stop := context.WithCancel(t.Context())
	sent := make(chan struct{})
	w.answer = func([]kafkago.Message) error { close(sent); return nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		copies.Run(ctx)
	}()
	pass := func() {
		require.Eventually(t, func() bool { return clock.Timers() > 0 }, 5*time.Second, time.Millisecond)
		select {
		case <-sent:
			require.Fail(t, "it was sent")
		default:
		}
		clock.Advance(copyPause)
	}
	pass()
	k.mu.Lock()
	k.checked, k.away = true, errors.New("away")
	k.mu.Unlock()
	pass()
	pass()
	k.noteAway(nil)
	require.Eventually(t, func() bool {
		clock.Advance(copyPause)
		select {
		case <-sent:
			return true
		default:
			return false
		}
	}, 5*time.Second, time.Millisecond)
	stop()
	<-done
	require.Zero(t, dropped)
}
