package metrics

import (
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Lateness returns how late runs have started since this process did, as exact as the buckets
// of ps_start_lateness_seconds. known is false before the first start.
func (m *MetricsCollector) Lateness() (p50, p99 time.Duration, known bool) {
	var now dto.Metric
	if err := m.lateness.of.Write(&now); err != nil || now.GetHistogram().GetSampleCount() == 0 {
		return 0, 0, false
	}
	return quantile(now.GetHistogram(), 0.5), quantile(now.GetHistogram(), 0.99), true
}

// quantile assumes that the samples of a bucket are evenly spread. Samples beyond the last
// bucket count as its end.
func quantile(h *dto.Histogram, q float64) time.Duration {
	rank, below, from := q*float64(h.GetSampleCount()), 0.0, 0.0
	for _, b := range h.GetBucket() {
		upTo, to := float64(b.GetCumulativeCount()), b.GetUpperBound()
		if upTo >= rank && upTo > below {
			return time.Duration((from + (to-from)*(rank-below)/(upTo-below)) * float64(time.Second))
		}
		below, from = upTo, to
	}
	return time.Duration(from * float64(time.Second))
}
