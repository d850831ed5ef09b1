package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Retention returns how far the deletion of old rows is behind, by kind of rows.
type Retention interface {
	Lag() map[string]time.Duration
}

// WatchRetention adds the gauge of old rows that are not deleted yet.
func (m *MetricsCollector) WatchRetention(r Retention) {
	m.registry.MustRegister(&retention{r, prometheus.NewDesc("ps_retention_lag_seconds",
		"How much older than asked the oldest rows are, by kind, on the node that deletes them; 0 while it keeps up.",
		[]string{"rows"}, nil)})
}

type retention struct {
	of  Retention
	lag *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *retention) Describe(ch chan<- *prometheus.Desc) { ch <- r.lag }

// Collect implements prometheus.Collector.
func (r *retention) Collect(ch chan<- prometheus.Metric) {
	for rows, by := range r.of.Lag() {
		ch <- prometheus.MustNewConstMetric(r.lag, prometheus.GaugeValue, by.Seconds(), rows)
	}
}
