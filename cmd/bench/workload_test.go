package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/alerts"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/workload/calls"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func TestTheMixIsSeventyReadsAndThirtyWrites(t *testing.T) {
	reads, writes := calls.Mix()
	require.Equal(t, []int{70, 30}, []int{reads, writes})
}

// The copies for Kafka may cost some time.
func TestTheGoalsOfAlertsAreWiderWithKafka(t *testing.T) {
	require.Equal(t, report.AlertGoals{P50: 300 * time.Millisecond, P99: time.Second}, alerts.GoalsOf(config.Config{}))
	kafka := config.Config{Kafka: config.Kafka{Brokers: []string{"127.0.0.1:9092"}}}
	require.Equal(t, report.AlertGoals{P50: 2 * time.Second, P99: 2 * time.Second}, alerts.GoalsOf(kafka))
}
