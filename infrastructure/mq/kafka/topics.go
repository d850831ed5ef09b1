package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// topicOf is the name at the brokers of a topic of the contract.
func (k *Client) topicOf(topic string) string {
	_, name, _ := strings.Cut(topic, ".")
	return k.cfg.TopicPrefix + "." + name
}

// CheckInterval is how often each node asks the brokers.
const CheckInterval = 10 * time.Second

// topicPause is the pause between two looks at topics that are being made.
const topicPause = 100 * time.Millisecond

// Check asks the brokers for the topics, and makes those that are missing, where it may.
// Trouble and the log show the mistake; the error is for a caller who asks
// once.
func (k *Client) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	missing, settling, err := k.missing(ctx)
	k.noteAway(err)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		err = k.create(ctx, missing)
		settling = err == nil
	}
	for settling && clock.Sleep(ctx, k.clock, topicPause) == nil {
		if missing, settling, err = k.missing(ctx); err != nil {
			break // the next check tells
		}
		settling = settling || len(missing) > 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.checked = true
	if err != nil && k.topics == nil {
		k.logger.Warn("topics of Kafka are missing; events for them wait", "error", err)
	}
	k.topics = err
	return err
}

// missing are the topics that do not exist. Partitions that are settling have no leader yet.
func (k *Client) missing(ctx context.Context) (names []string, settling bool, err error) {
	conn, err := k.dial(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("connect to the brokers: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, false, fmt.Errorf("bound the call: %w", err)
		}
	}
	for _, topic := range entity.Topics() {
		name := k.topicOf(topic)
		_, err := conn.ReadPartitions(name)
		switch {
		case errors.Is(err, kafkago.UnknownTopicOrPartition), errors.Is(err, kafkago.TopicAuthorizationFailed):
			names = append(names, name)
		case errors.Is(err, kafkago.LeaderNotAvailable):
			settling = true
		case err != nil:
			return nil, false, fmt.Errorf("ask the brokers for the topic %s: %w", name, err)
		}
	}
	return names, settling, nil
}

// create makes topics with the partitions and copies that the brokers give by default.
func (k *Client) create(ctx context.Context, names []string) error {
	req := &kafkago.CreateTopicsRequest{}
	for _, name := range names {
		req.Topics = append(req.Topics, kafkago.TopicConfig{Topic: name, NumPartitions: -1, ReplicationFactor: -1})
	}
	client := &kafkago.Client{Addr: kafkago.TCP(k.cfg.Brokers...), Transport: k.transport, Timeout: ioTimeout}
	answer, err := client.CreateTopics(ctx, req)
	if err != nil {
		return fmt.Errorf("make the topics %s: %w", strings.Join(names, ", "), err)
	}
	var refused []string
	var why error
	for _, name := range names {
		if err := answer.Errors[name]; err != nil && !errors.Is(err, kafkago.TopicAlreadyExists) {
			refused, why = append(refused, name), err
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return fmt.Errorf("the brokers refuse to make the topics %s (%w): make them yourself, and allow the user of the "+
		"scheduler to write and read them", strings.Join(refused, ", "), why)
}

// Try connects to every broker and signs in, for a check of the settings. The error names
// the brokers that do not answer.
func Try(ctx context.Context, cfg config.Kafka) error {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	dialer, err := dialerOf(cfg)
	if err != nil {
		return err
	}
	var failures []error
	for _, broker := range cfg.Brokers {
		conn, err := dialer.DialContext(ctx, "tcp", broker)
		if err == nil {
			// A port that is open may belong to anything, and what versions a broker speaks it tells also to those who
			// have not signed in: ask for more.
			_ = conn.SetDeadline(deadline)
			_, err = conn.Brokers()
			_ = conn.Close()
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("the broker %s does not serve: %w", broker, err))
		}
	}
	return errors.Join(failures...)
}
