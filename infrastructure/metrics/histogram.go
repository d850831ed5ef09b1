package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// maker makes instruments and registers them.
type maker struct{ prometheus.Registerer }

func (m maker) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.MustRegister(c)
	return c
}

// counters are those of one name. Series with the known values of their one label are there from the start:
// their first event is an increase, then.
func (m maker) counters(name, help string, labels []string, known ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	for _, value := range known {
		c.WithLabelValues(value)
	}
	m.MustRegister(c)
	return c
}

func (m maker) histograms(o prometheus.HistogramOpts, label string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(o, []string{label})
	m.MustRegister(h)
	return h
}

func (m maker) histogram(o prometheus.HistogramOpts) prometheus.Histogram {
	h := prometheus.NewHistogram(o)
	m.MustRegister(h)
	return h
}

// info shows values that do not change, in the labels of a gauge.
func (m maker) info(name, help string, values prometheus.Labels) {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: values})
	g.Set(1)
	m.MustRegister(g)
}

// native returns the options of a histogram that is served with classic buckets, and with native ones to a
// scraper that asks for them. A native bucket is at most a tenth wider than the one before.
func native(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160,
		NativeHistogramMinResetDuration: time.Hour,
	}
}

// exemplarEvery is the least time between two exemplars of a histogram: each one allocates.
const exemplarEvery = time.Second

// traced is a histogram with exemplars: now and then a sample carries the id of its execution.
type traced struct {
	of    prometheus.Histogram
	clock clock.Clock
	// next is when the next exemplar is due, in monotonic time.
	next atomic.Int64
}

func newTraced(c clock.Clock, o prometheus.Observer) *traced {
	return &traced{of: o.(prometheus.Histogram), clock: c}
}

func (t *traced) observe(v float64, executionID string) {
	now, next := int64(t.clock.Monotonic()), t.next.Load()
	if now < next || executionID == "" || !t.next.CompareAndSwap(next, now+int64(exemplarEvery)) {
		t.of.Observe(v)
		return
	}
	t.of.(prometheus.ExemplarObserver).ObserveWithExemplar(v, prometheus.Labels{"execution_id": executionID})
}
