package metrics

import "context"

// backlogFigures are those of what waits for the tasks of the leader, on the leader, and of what leaves the node.
func backlogFigures() []figure {
	return []figure{
		{
			"ps_outbox_events", "Events in the outbox, by the reader for whom they wait, on the leader; at most 100000. " +
				"Up to 20 s old.", []string{"reader"},
		},
		{
			"ps_alerts", "Open alerts, by level and status, on the leader; at most 100000. Up to 20 s old.",
			[]string{"level", "status"},
		},
		{
			"ps_statistics_lag_seconds",
			"Age of the oldest end that is in no statistics yet, on the leader; 0 where all are. Up to 20 s old.", nil,
		},
		{"ps_kafka_up", "1 while the brokers take events, else 0.", nil},
		{
			"ps_metric_rows_dropped_total",
			"Rows of time series that were given up, because the store was away for too long. Alert on any.", nil,
		},
	}
}

func (s Sources) showBacklog(c *counts, gauge, count show) {
	count("ps_metric_rows_dropped_total", float64(s.Dropped()))
	if s.Kafka != nil {
		gauge("ps_kafka_up", flag(s.Kafka()))
	}
	if !s.Loops.Leads() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	found := c.read(ctx, countAge, true)
	for reader, n := range found.events {
		gauge("ps_outbox_events", float64(n), reader)
	}
	for state, n := range found.alerts {
		gauge("ps_alerts", float64(n), state.Level, state.Status)
	}
	if found.hasFold {
		lag := 0.0
		if !found.oldest.IsZero() {
			lag = max(s.Clock.Now().Sub(found.oldest).Seconds(), 0)
		}
		gauge("ps_statistics_lag_seconds", lag)
	}
}
