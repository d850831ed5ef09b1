package measure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPercentilesAreNearestRank(t *testing.T) {
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(100 - i)
	}
	l := Summarize(values)
	require.Equal(t, &Quantiles{P50: 50, P99: 99, Max: 100}, l)
	require.Equal(t, &Quantiles{P50: 7, P99: 7, Max: 7}, Summarize([]float64{7}))
	require.Nil(t, Summarize(nil))
}
