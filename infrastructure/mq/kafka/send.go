package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// batchBytes bounds what one call sends: brokers take about 1 MB at once by default.
	batchBytes = 900 << 10
	// leastBytes is how far it is reduced for brokers that take less.
	leastBytes = 16 << 10
	// batchSize bounds the messages of one call.
	batchSize = 500
	// dataBytes bounds the data of one message.
	dataBytes = 256 << 10
	// relayAttempts is one: what was not taken waits in the outbox, and the relay tries again. Attempts at a broker that
	// stands still take ioTimeout each; a turn of several would look like a relay that has stalled.
	relayAttempts = 1
	// copyAttempts is more, because what was not taken is lost.
	copyAttempts = 3
	// slowFailure is what a call takes at least that fails because of the brokers. A failure at once may be one topic.
	slowFailure = time.Second
)

// writer is a kafkago.Writer.
type writer interface {
	WriteMessages(ctx context.Context, messages ...kafkago.Message) error
	Close() error
}

// sender sends events through a writer of its own: one call at a time, so that each call
// is at most one batch for each partition, which the brokers take whole or not at all.
type sender struct {
	client *Client
	writer writer
	limit  atomic.Int64
	// slow is the topic that failed slowly last: it goes behind the others, to hold up none of them for ever.
	slow string
}

func (k *Client) newSender(attempts int) *sender {
	s := &sender{client: k, writer: &kafkago.Writer{
		Addr: kafkago.TCP(k.cfg.Brokers...), Transport: k.transport, Balancer: &kafkago.Hash{},
		RequiredAcks: kafkago.RequireAll, BatchTimeout: 5 * time.Millisecond, BatchSize: batchSize,
		BatchBytes: 2 * batchBytes, Compression: kafkago.Lz4, MaxAttempts: attempts,
		WriteTimeout: ioTimeout, ReadTimeout: ioTimeout,
	}}
	s.limit.Store(batchBytes)
	return s
}

// Publish implements maintenance.Publisher. ctx must end only when the node stops: the
// writer still sends what it was given then.
func (k *Client) Publish(ctx context.Context, events []entity.Event) (taken []string, err error) {
	taken, err = k.relay.send(ctx, events)
	if ctx.Err() == nil {
		k.noteAway(err)
	}
	return taken, err
}

// send sends events, of each key in their order and none behind one that was not taken. Behind a call that fails
// slowly it sends nothing: each further one would take as long.
func (s *sender) send(ctx context.Context, events []entity.Event) (taken []string, err error) {
	var failures []error
	byTopic := map[string][]entity.Event{}
	var order []string
	for _, e := range events {
		if byTopic[e.Topic] == nil {
			order = append(order, e.Topic)
		}
		byTopic[e.Topic] = append(byTopic[e.Topic], e)
	}
	if i := slices.Index(order, s.slow); i >= 0 {
		order = append(slices.Delete(order, i, i+1), s.slow)
	}
	// One topic a call: a topic that is missing fails a call as a whole.
	for _, topic := range order {
		sent, away, err := s.sendTopic(ctx, byTopic[topic])
		taken = append(taken, sent...)
		if err != nil {
			failures = append(failures, fmt.Errorf("send events to the topic %s: %w", s.client.topicOf(topic), err))
		}
		if away {
			s.slow = topic
			break
		}
	}
	return taken, errors.Join(failures...)
}

// sendTopic sends events of one topic; away is true after a slow failure.
func (s *sender) sendTopic(ctx context.Context, events []entity.Event) (taken []string, away bool, err error) {
	failed := map[string]bool{}
	for len(events) > 0 {
		var messages []kafkago.Message
		var ids []string
		limit, size := int(s.limit.Load()), 0
		for len(events) > 0 && len(messages) < batchSize {
			e := events[0]
			if failed[e.Key] {
				events = events[1:]
				continue
			}
			m := s.client.message(e, min(dataBytes, limit/2))
			if size += sizeOf(m); size > limit && len(messages) > 0 {
				break
			}
			messages, ids, events = append(messages, m), append(ids, e.ID), events[1:]
		}
		if len(messages) == 0 {
			break
		}
		began := s.client.clock.Monotonic()
		failure := s.writer.WriteMessages(ctx, messages...)
		away = failure != nil && s.client.clock.Monotonic()-began > slowFailure
		var each kafkago.WriteErrors
		switch {
		case failure == nil:
			taken = append(taken, ids...)
		case errors.As(failure, &each) && len(each) == len(ids):
			for i, cause := range each {
				if cause == nil {
					taken = append(taken, ids[i])
					continue
				}
				failed[string(messages[i].Key)], err = true, cause
			}
			if errors.Is(err, kafkago.MessageSizeTooLarge) {
				s.limit.Store(int64(max(leastBytes, limit/2)))
			}
		default:
			return taken, away, failure
		}
		if away {
			break
		}
	}
	return taken, away, err
}
