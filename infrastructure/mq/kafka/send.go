package kafka

import (
	"context"
	"errors"
	"fmt"
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
}

func (k *Client) newSender() *sender {
	s := &sender{client: k, writer: &kafkago.Writer{
		Addr: kafkago.TCP(k.cfg.Brokers...), Transport: k.transport, Balancer: &kafkago.Hash{},
		RequiredAcks: kafkago.RequireAll, BatchTimeout: 5 * time.Millisecond, BatchSize: batchSize,
		BatchBytes: 2 * batchBytes, Compression: kafkago.Lz4, MaxAttempts: 3,
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

// send sends events, of each key in their order and none behind one that was not taken.
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
	// One topic a call: a topic that is missing fails a call as a whole.
	for _, topic := range order {
		sent, err := s.sendTopic(ctx, byTopic[topic])
		taken = append(taken, sent...)
		if err != nil {
			failures = append(failures, fmt.Errorf("send events to the topic %s: %w", s.client.topicOf(topic), err))
		}
	}
	return taken, errors.Join(failures...)
}

func (s *sender) sendTopic(ctx context.Context, events []entity.Event) (taken []string, err error) {
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
		failure := s.writer.WriteMessages(ctx, messages...)
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
			return taken, failure
		}
	}
	return taken, err
}
