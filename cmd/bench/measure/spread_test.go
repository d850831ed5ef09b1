package measure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

// The ranks are those of the table of W. J. Conover, Practical Nonparametric Statistics, for the median at 95 %.
func TestTheSpreadNamesMedianAndInterval(t *testing.T) {
	for n, rank := range map[int]int{1: 1, 2: 1, 5: 1, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 20: 6, 30: 10} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64((i*7)%n + 1) // not in order; a permutation where 7 does not divide n
		}
		got := measure.SpreadOf(values)
		require.Equal(t, measure.Spread{
			Median: float64(n+1) / 2, Low: float64(rank), High: float64(n + 1 - rank), Turns: n,
		}, got, "%d turns", n)
	}
	require.Zero(t, measure.SpreadOf(nil))
}
