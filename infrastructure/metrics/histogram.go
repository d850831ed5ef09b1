package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// histogram returns the options of one that is served with classic buckets, and with native ones to a scraper that asks
// for them. A native bucket is at most a tenth wider than the one before.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
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
