package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// latest shows when something happened last, and nothing before the first time: 0 would be the year 1970.
type latest struct {
	desc *prometheus.Desc
	at   atomic.Int64 // Unix time in ms
}

func (l *latest) set(at time.Time) { l.at.Store(at.UnixMilli()) }

// Describe implements prometheus.Collector.
func (l *latest) Describe(ch chan<- *prometheus.Desc) { ch <- l.desc }

// Collect implements prometheus.Collector.
func (l *latest) Collect(ch chan<- prometheus.Metric) {
	if at := l.at.Load(); at != 0 {
		ch <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, float64(at)/1000)
	}
}
