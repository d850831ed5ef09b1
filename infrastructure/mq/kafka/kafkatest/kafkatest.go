// Package kafkatest connects tests to the Kafka that PS_TEST_KAFKA_BROKERS names. Several
// packages use it at once, so each test uses topics of its own.
package kafkatest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// The environment of the tests.
const (
	envBrokers = "PS_TEST_KAFKA_BROKERS"
	envRequire = "PS_TEST_REQUIRE_SERVICES"
)

// Config names topics of the test at the brokers. Without brokers it skips the test, or
// fails it where services are required.
func Config(t testing.TB) config.Kafka {
	t.Helper()
	brokers := os.Getenv(envBrokers)
	if brokers == "" {
		if os.Getenv(envRequire) == "1" {
			require.Fail(t, "no Kafka", "%s is not set and %s=1", envBrokers, envRequire)
		}
		t.Skipf("it needs Kafka: set %s, or run make test", envBrokers)
	}
	return At(strings.Split(brokers, ",")...)
}

// At names topics of their own at these brokers.
func At(brokers ...string) config.Kafka {
	return config.Kafka{Brokers: brokers, TopicPrefix: "test-" + strings.ToLower(rand.Text()[:10])}
}

// ReadAll reads what all partitions of a topic hold now, each in its order.
func ReadAll(ctx context.Context, cfg config.Kafka, topic string) (all []kafkago.Message, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	name := cfg.TopicPrefix + "." + topic
	conn, err := kafkago.DialContext(ctx, "tcp", cfg.Brokers[0])
	if err != nil {
		return nil, err
	}
	partitions, err := conn.ReadPartitions(name)
	_ = conn.Close()
	if err != nil {
		return nil, err
	}
	for _, p := range partitions {
		part, err := readPartition(ctx, cfg.Brokers, name, p.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

func readPartition(ctx context.Context, brokers []string, topic string, id int) (all []kafkago.Message, err error) {
	leader, err := kafkago.DialLeader(ctx, "tcp", brokers[0], topic, id)
	if err != nil {
		return nil, err
	}
	end, err := leader.ReadLastOffset()
	_ = leader.Close()
	if err != nil || end == 0 {
		return nil, err
	}
	r := kafkago.NewReader(kafkago.ReaderConfig{
		Brokers: brokers, Topic: topic, Partition: id, MinBytes: 1, MaxBytes: 10e6, MaxWait: 100 * time.Millisecond,
	})
	defer func() { _ = r.Close() }()
	for {
		m, err := r.ReadMessage(ctx)
		if err != nil {
			return nil, err
		}
		if all = append(all, m); m.Offset >= end-1 {
			return all, nil
		}
	}
}
