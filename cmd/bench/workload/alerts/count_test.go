package alerts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func TestCountsOfAlertsAreComparedJobByJob(t *testing.T) {
	failures := map[string]int{"a": 3, "b": 2, "c": 1}
	alerts := []counted{{"a", 1}, {"a", 2}, {"b", 1}, {"c", 2}, {"d", 1}}
	sum, lost, more := compare(failures, alerts)
	require.Equal(t, []int{7, 1, 2}, []int{sum, lost, more}, "what is too much of one job makes up for no other")
	require.Equal(t, map[string]int{"a": 3, "b": 2, "c": 1}, failures)
}

func TestABrokenPromiseIsNamed(t *testing.T) {
	good := func() *report.Alerts {
		return &report.Alerts{Delays: &measure.Quantiles{P50: 300, P99: 1000}, BurstMessages: 2, MessageBound: 2}
	}
	b := Told{Goals: GoalsOf(config.Config{})}
	require.Empty(t, b.broken(good()))
	for says, breaks := range map[string]func(a *report.Alerts){
		"1 failures were not told":   func(a *report.Alerts) { a.Untold = 1 },
		"1 deliveries were repeated": func(a *report.Alerts) { a.Repeated = 1 },
		"no valid signature":         func(a *report.Alerts) { a.Unsigned = 1 },
		"the burst was not told":     func(a *report.Alerts) { a.BurstMessages = 0 },
		"3 messages, more than 2":    func(a *report.Alerts) { a.BurstMessages = 3 },
		"the p50 is over 300 ms":     func(a *report.Alerts) { a.Delays.P50 = 301 },
		"the p99 is over 1000 ms":    func(a *report.Alerts) { a.Delays.P99 = 1001 },
	} {
		a := good()
		breaks(a)
		require.Len(t, b.broken(a), 1, says)
		require.Contains(t, b.broken(a)[0], says)
	}
	kafka := config.Config{Kafka: config.Kafka{Brokers: []string{"127.0.0.1:9092"}}}
	require.Equal(t, 2*time.Second, GoalsOf(kafka).P99)
}
