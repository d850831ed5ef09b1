package kafka

import (
	"context"
	"errors"
	"io"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// wakerPause is the pause after a failed call.
const wakerPause = time.Second

// Wake calls wake for each message on a topic of the contract that reaches this member of
// a consumer group, until ctx ends. A message decides nothing: it may be lost, doubled or
// forged, so wake only looks into the store. wake must not wait for long.
func (k *Client) Wake(ctx context.Context, group, topic string, wake func()) {
	outage := faillog.New(k.clock, k.logger.With("group", group), faillog.Texts{
		Fails: "messages of Kafka do not arrive; what they would wake looks by itself",
		Works: "messages of Kafka arrive again",
	})
	reader := kafkago.NewReader(kafkago.ReaderConfig{
		Brokers: k.cfg.Brokers, GroupID: group, GroupTopics: []string{k.topicOf(topic)}, Dialer: k.dialer,
		StartOffset: kafkago.FirstOffset, MinBytes: 1, MaxBytes: 10e6, MaxWait: 500 * time.Millisecond,
		HeartbeatInterval: time.Second, SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
		JoinGroupBackoff: time.Second, WatchPartitionChanges: true, PartitionWatchInterval: 5 * time.Second,
		// Offsets decide nothing: they are committed now and then.
		CommitInterval: time.Second,
	})
	defer func() { _ = reader.Close() }()
	for ctx.Err() == nil {
		_, err := reader.ReadMessage(ctx)
		if ctx.Err() != nil || errors.Is(err, io.EOF) {
			return
		}
		outage.Observe(err)
		if err == nil {
			wake()
		} else if clock.Sleep(ctx, k.clock, wakerPause) != nil {
			return
		}
	}
}

// WakeOnAlerts is Wake for changes of alerts, in a group of the installation.
func (k *Client) WakeOnAlerts(ctx context.Context, wake func()) {
	k.Wake(ctx, k.notifiers(), entity.TopicAlerts, wake)
}

// notifiers is the consumer group of those who send messages about alerts.
func (k *Client) notifiers() string { return k.cfg.TopicPrefix + ".notifiers" }
