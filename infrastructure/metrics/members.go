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

func newMembers(r prometheus.Registerer) members {
	m := members{
		beats: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ps_beat_duration_seconds",
			Help:    "Time of a beat of this node and its look at the registry.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5},
		}, []string{"result"}),
		asked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ps_promises_asked_total",
			Help: "Questions to other nodes until when they do not declare this one DOWN, by what came of them: promise, " +
				"declared, silent.",
		}, []string{"result"}),
		promised: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "ps_promises_given_total",
			Help: "Promises given to other nodes.",
		}),
		stopped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ps_fences_total",
			Help: "Times that this node stopped its work because its lease ended, by cause: cut, lease, silent, declared, " +
				"frozen, taken over.",
		}, []string{"cause"}),
		deaths: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "ps_node_death_seconds",
			Help:    "Age of the last beat of nodes that this one declared DOWN, by cause: LEASE, PROOF, YIELD.",
			Buckets: []float64{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 7.5, 10, 15, 30, 60},
		}, []string{"cause"}),
	}
	// Series that are there from the start show their first event as an increase.
	for _, result := range []string{"promise", "declared", "silent"} {
		m.asked.WithLabelValues(result)
	}
	for _, cause := range []string{"cut", "lease", "silent", "declared", "frozen", "taken over"} {
		m.stopped.WithLabelValues(cause)
	}
	for _, cause := range []string{"LEASE", "PROOF", "YIELD"} {
		m.deaths.WithLabelValues(cause)
	}
	r.MustRegister(m.beats, m.asked, m.promised, m.stopped, m.deaths)
	return m
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
