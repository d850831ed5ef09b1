package measure

import (
	"fmt"
	"slices"
)

// Quantiles is handler entry minus due time, or another time in ms.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// String prints it for people; "–" where nothing was measured.
func (l *Quantiles) String() string {
	if l == nil {
		return "–"
	}
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, max %.1f ms", l.P50, l.P99, l.Max)
}

// Summarize sorts times in ms and sums them up; nil where there are none.
func Summarize(ms []float64) *Quantiles {
	if len(ms) == 0 {
		return nil
	}
	slices.Sort(ms)
	return &Quantiles{P50: Percentile(ms, 50), P99: Percentile(ms, 99), Max: ms[len(ms)-1]}
}

// Percentile is the nearest-rank percentile of sorted values.
func Percentile(sorted []float64, p int) float64 {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}
