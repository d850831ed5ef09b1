package kafka_test

import (
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
)

func open(t *testing.T, cfg config.Kafka) *kafka.Client {
	t.Helper()
	k, err := kafka.Open(cfg, "node-1", clock.NewSystem(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k
}

// Brokers that are away are said so, hold up nobody, and take nothing.
func TestBrokersThatAreAwayAreNamed(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := gone.Addr().String()
	require.NoError(t, gone.Close())
	cfg := config.Kafka{Brokers: []string{addr}, TopicPrefix: "x"}
	k := open(t, cfg)
	require.ErrorContains(t, k.Check(t.Context()), addr)
	reason, blocks := k.Trouble()
	require.Contains(t, reason, addr)
	require.NotContains(t, reason, "\n")
	require.False(t, blocks)
	taken, err := k.Publish(t.Context(), []entity.Event{{ID: "a", Topic: entity.TopicJobs, Payload: "{}"}})
	require.Error(t, err)
	require.Empty(t, taken)
	require.ErrorContains(t, kafka.Try(t.Context(), cfg), "the broker "+addr+" does not serve")
}

// Something that is no broker is not taken for one.
func TestAPortThatIsNoBrokerIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	require.ErrorContains(t, kafka.Try(t.Context(), config.Kafka{Brokers: []string{l.Addr().String()}}), "does not serve")
}

func TestMechanisms(t *testing.T) {
	for _, name := range []string{"", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		open(t, config.Kafka{Brokers: []string{"k:1"}, SASL: config.SASL{Mechanism: name, Username: "u", Password: "p"}})
	}
	cfg := config.Kafka{Brokers: []string{"k:1"}, SASL: config.SASL{Mechanism: "GSSAPI", Password: "canary-1"}}
	_, err := kafka.Open(cfg, "n", clock.NewSystem(), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "kafka.sasl.mechanism")
	require.NotContains(t, err.Error(), "canary-1")
}
