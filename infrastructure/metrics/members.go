package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// members are the instruments of the node's membership.
type members struct {
	beats    *prometheus.HistogramVec
	asked    *prometheus.CounterVec
	promised prometheus.Counter
	stopped  *prometheus.CounterVec
	deaths   *prometheus.HistogramVec
}

func newMembers(m maker) members {
	v := members{
		beats: m.histograms(prometheus.HistogramOpts{
			Name:    "ps_beat_duration_seconds",
			Help:    "Time of a beat of this node and its look at the registry.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5},
		}, "result"),
		asked: m.counters("ps_promises_asked_total",
			"Questions to other nodes until when they do not declare this one DOWN, by what came of them: promise, "+
				"declared, silent.", []string{"result"}, "promise", "declared", "silent"),
		promised: m.counter("ps_promises_given_total", "Promises given to other nodes."),
		stopped: m.counters("ps_fences_total",
			"Times that this node stopped its work because its lease ended, by cause: cut, lease, silent, declared, "+
				"frozen, taken over.", []string{"cause"},
			"cut", "lease", "silent", "declared", "frozen", "taken over", "standby"),
		deaths: m.histograms(prometheus.HistogramOpts{
			Name:    "ps_node_death_seconds",
			Help:    "Age of the last beat of nodes that this one declared DOWN, by cause: LEASE, PROOF, YIELD.",
			Buckets: []float64{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 7.5, 10, 15, 30, 60},
		}, "cause"),
	}
	for _, cause := range []string{"LEASE", "PROOF", "YIELD"} {
		v.deaths.WithLabelValues(cause) // the first one is an increase, then
	}
	return v
}

// Beat implements membership.Metrics.
func (m members) Beat(took time.Duration, good bool) {
	result := "good"
	if !good {
		result = "failed"
	}
	m.beats.WithLabelValues(result).Observe(took.Seconds())
}

// Asked implements membership.Metrics.
func (m members) Asked(result string) { m.asked.WithLabelValues(result).Inc() }

// Promised implements membership.Metrics.
func (m members) Promised() { m.promised.Inc() }

// Stopped implements membership.Metrics.
func (m members) Stopped(cause string) { m.stopped.WithLabelValues(cause).Inc() }

// Death implements membership.Metrics.
func (m members) Death(cause string, age time.Duration) {
	m.deaths.WithLabelValues(cause).Observe(age.Seconds())
}
