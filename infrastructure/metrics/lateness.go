package metrics

import (
	"math"
	"sync/atomic"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// greatest is the greatest value since somebody last took it. Safe for concurrent use.
type greatest struct{ value atomic.Int64 }

func (g *greatest) observe(v time.Duration) {
	for {
		now := g.value.Load()
		if int64(v) <= now || g.value.CompareAndSwap(now, int64(v)) {
			return
		}
	}
}

// Lateness returns how late runs have started since this process did, as exact as the buckets
// of ps_start_lateness_seconds, and never more than the greatest one. known is false before the
// first start.
func (m *MetricsCollector) Lateness() (p50, p99 time.Duration, known bool) {
	var now dto.Metric
	if err := m.lateness.of.Write(&now); err != nil || now.GetHistogram().GetSampleCount() == 0 {
		return 0, 0, false
	}
	most := time.Duration(m.latest.value.Load())
	return quantile(now.GetHistogram(), 0.5, most), quantile(now.GetHistogram(), 0.99, most), true
}

// quantile assumes that the samples of a bucket are evenly spread up to its end, or to the
// greatest one. It is never more than that one.
func quantile(h *dto.Histogram, q float64, most time.Duration) time.Duration {
	rank, below, from := q*float64(h.GetSampleCount()), 0.0, 0.0
	at := func(upTo, to float64) time.Duration {
		to = max(min(to, most.Seconds()), from)
		seconds := from + (to-from)*(rank-below)/(upTo-below)
		return min(time.Duration(seconds*float64(time.Second)), most)
	}
	for _, b := range h.GetBucket() {
		upTo := float64(b.GetCumulativeCount())
		if upTo >= rank && upTo > below {
			return at(upTo, b.GetUpperBound())
		}
		below, from = upTo, b.GetUpperBound()
	}
	return at(float64(h.GetSampleCount()), math.Inf(1))
}
