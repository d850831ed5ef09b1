package bench

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
)

// A bench beside Kafka writes to topics of its own, whatever prefix is configured, and leaves none.
func TestASmallBenchWithKafkaLeavesNoTopics(t *testing.T) {
	brokers := kafkatest.Config(t)
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "executor.slots": "256", "kafka.brokers": strings.Join(brokers.Brokers, ","),
		"kafka.topicPrefix": brokers.TopicPrefix,
	}})
	require.NoError(t, err)
	r, err := Product().Run(t.Context(), cfg, Options{
		Name: "alerts", Duration: time.Second, Jobs: 30, Rate: 50, Burst: 300, Progress: io.Discard,
	})
	require.NoError(t, err)
	require.Zero(t, r.Lost+r.Doubled)
	client := &kafkago.Client{Addr: kafkago.TCP(brokers.Brokers...), Timeout: 10 * time.Second}
	require.Eventually(t, func() bool { // other benches may have topics of theirs at the same brokers
		answer, err := client.Metadata(t.Context(), &kafkago.MetadataRequest{})
		if err != nil {
			return false
		}
		for _, topic := range answer.Topics {
			require.False(t, strings.HasPrefix(topic.Name, brokers.TopicPrefix+"."), "not the configured ones: %s", topic.Name)
			if strings.HasPrefix(topic.Name, "ps-bench-") {
				return false
			}
		}
		return true
	}, time.Minute, 200*time.Millisecond, "the topics go")
}

// Brokers that are away cost a bench no figures, and it says what it may have left.
func TestASmallBenchWhileTheBrokersAreAway(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	cfg, _, err := config.Load(config.Options{Flags: map[string]string{
		"dataDir": t.TempDir(), "executor.slots": "256", "kafka.brokers": gone.Addr().String(),
	}})
	require.NoError(t, err)
	var notes strings.Builder
	r, err := Product().Run(t.Context(), cfg, Options{Name: "lateness", Duration: time.Second, Rate: 50, Progress: &notes})
	require.NoError(t, err)
	require.Zero(t, r.Lost+r.Doubled)
	require.Positive(t, r.Planned)
	require.Contains(t, notes.String(), "are not deleted")
}
