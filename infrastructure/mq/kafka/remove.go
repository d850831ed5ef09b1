package kafka

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// ErrAway says that no broker could be asked.
var ErrAway = errors.New("no broker can be asked")

// away tells that no broker answers.
func away(err error) error {
	if errors.Is(err, kafkago.BrokerNotAvailable) {
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return err
}

// Remove deletes the topics and the consumer group of an installation that is gone, with all messages. A missing topic
// is no error; where no broker can be asked, it is ErrAway. The client may be closed before.
func (k *Client) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*ioTimeout)
	defer cancel()
	client := &kafkago.Client{Addr: kafkago.TCP(k.cfg.Brokers...), Transport: k.transport, Timeout: ioTimeout}
	var names []string
	for _, topic := range entity.Topics() {
		names = append(names, k.topicOf(topic))
	}
	gone, err := client.DeleteTopics(ctx, &kafkago.DeleteTopicsRequest{Topics: names})
	if err != nil {
		return fmt.Errorf("delete the topics %v: %w", names, away(err))
	}
	var failures []error
	for _, name := range names {
		if err := gone.Errors[name]; err != nil && !errors.Is(err, kafkago.UnknownTopicOrPartition) {
			failures = append(failures, fmt.Errorf("delete the topic %s: %w", name, err))
		}
	}
	left, err := client.DeleteGroups(ctx, &kafkago.DeleteGroupsRequest{GroupIDs: []string{k.notifiers()}})
	if err == nil {
		err = left.Errors[k.notifiers()]
	}
	if err != nil && !errors.Is(err, kafkago.GroupIdNotFound) {
		failures = append(failures, fmt.Errorf("delete the consumer group %s: %w", k.notifiers(), err))
	}
	return errors.Join(failures...)
}
