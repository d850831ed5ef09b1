package metrics

import (
	"time"
)

// Retention returns how far the deletion of old rows is behind, by kind of rows.
type Retention interface {
	Lag() map[string]time.Duration
}

// WatchRetention adds the gauge of old rows that are not deleted yet.
func (m *MetricsCollector) WatchRetention(r Retention) {
	maker{m.registry}.figures(func(gauge, _ show) {
		for rows, by := range r.Lag() {
			gauge("ps_retention_lag_seconds", by.Seconds(), rows)
		}
	}, figure{
		"ps_retention_lag_seconds",
		"How much older than asked the oldest rows are, by kind, on the node that deletes them; 0 while it keeps up.",
		[]string{"rows"},
	})
}
