package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

func TestAStormIsComparedTurnByTurn(t *testing.T) {
	s := &Storm{}
	s.Conclude()
	require.Zero(t, s.NotifiedRatio, "nothing was measured")
	for _, turn := range [][3]float64{{100, 104, 101}, {50, 51, 60}, {100, 103, 102}, {0, 9, 9}} {
		s.Add(Cost{CPUMicros: turn[0]}, Cost{CPUMicros: turn[1]}, Cost{CPUMicros: turn[2]})
	}
	s.Conclude()
	require.InDelta(t, 1.03, s.NotifiedRatio, 1e-9)
	require.InDelta(t, 1.02, s.UnheardRatio, 1e-9)
}

func TestACostIsOfOneExecution(t *testing.T) {
	c := CostOf(Result{CPUPercent: 50, ExecutionsPerSecond: 10_000, LatenessMs: &measure.Quantiles{P50: 2, P99: 9}})
	require.Equal(t, Cost{CPUMicros: 50, LatenessP50Ms: 2, LatenessP99Ms: 9}, c)
	require.Equal(t, Cost{}, CostOf(Result{CPUPercent: 50}))
}
