package vo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	sums "github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

func TestQuantilesOfOneValueDoNotExceedIt(t *testing.T) {
	for _, ms := range []int64{0, 1, 7, 210_689, 3_600_001} {
		var h sums.Histogram
		h.Add(time.Duration(ms) * time.Millisecond)
		q := quantilesOf(&h, ms)
		for _, got := range []*int64{q.P50, q.P95, q.P99} {
			require.LessOrEqual(t, *got, ms)
			require.GreaterOrEqual(t, float64(*got), 0.95*float64(ms))
		}
	}
}
