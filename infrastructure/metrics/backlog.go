package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// backlogs shows what waits for the tasks of the leader, on the leader, and what leaves the node.
type backlogs struct {
	Sources
	counts                               *counts
	events, alerts, fold, kafka, dropped *prometheus.Desc
}

func newBacklog(s Sources, c *counts) *backlogs {
	return &backlogs{
		Sources: s, counts: c,
		events: prometheus.NewDesc("ps_outbox_events",
			"Events in the outbox, by the reader for whom they wait, on the leader; at most 100000. Up to 20 s old.",
			[]string{"reader"}, nil),
		alerts: prometheus.NewDesc("ps_alerts",
			"Open alerts, by level and status, on the leader; at most 100000. Up to 20 s old.", []string{"level", "status"},
			nil),
		fold: prometheus.NewDesc("ps_statistics_lag_seconds",
			"Age of the oldest end that is in no statistics yet, on the leader; 0 where all are. Up to 20 s old.", nil, nil),
		kafka: prometheus.NewDesc("ps_kafka_up", "1 while the brokers take events, else 0.", nil, nil),
		dropped: prometheus.NewDesc("ps_metric_rows_dropped_total",
			"Rows of time series that were given up, because the store was away for too long. Alert on any.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (b *backlogs) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.events, b.alerts, b.fold, b.kafka, b.dropped} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (b *backlogs) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	ch <- prometheus.MustNewConstMetric(b.dropped, prometheus.CounterValue, float64(b.Dropped()))
	if b.Kafka != nil {
		up := 0.0
		if b.Kafka() {
			up = 1
		}
		gauge(b.kafka, up)
	}
	if !b.Loops.Leads() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	found := b.counts.read(ctx, countAge, true)
	for reader, n := range found.events {
		gauge(b.events, float64(n), reader)
	}
	for state, n := range found.alerts {
		gauge(b.alerts, float64(n), state.Level, state.Status)
	}
	if found.hasFold {
		lag := 0.0
		if !found.oldest.IsZero() {
			lag = max(b.Clock.Now().Sub(found.oldest).Seconds(), 0)
		}
		gauge(b.fold, lag)
	}
}
