package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

func TestABrokenPromiseIsNamed(t *testing.T) {
	good := func() *Alerts {
		return &Alerts{Delays: &measure.Quantiles{P50: 300, P99: 1000}, BurstMessages: 2, MessageBound: 2}
	}
	goals := AlertGoals{300 * time.Millisecond, time.Second}
	a := good()
	a.Conclude(goals)
	require.Empty(t, a.Broken)
	for says, breaks := range map[string]func(a *Alerts){
		"1 failures were not told":   func(a *Alerts) { a.Unnotified = 1 },
		"1 deliveries were repeated": func(a *Alerts) { a.Repeated = 1 },
		"no valid signature":         func(a *Alerts) { a.Unsigned = 1 },
		"the burst was not told":     func(a *Alerts) { a.BurstMessages = 0 },
		"3 messages, more than 2":    func(a *Alerts) { a.BurstMessages = 3 },
		"the p50 is over 300 ms":     func(a *Alerts) { a.Delays.P50 = 301 },
		"the p99 is over 1000 ms":    func(a *Alerts) { a.Delays.P99 = 1001 },
	} {
		a := good()
		breaks(a)
		a.Conclude(goals)
		require.Len(t, a.Broken, 1, says)
		require.Contains(t, a.Broken[0], says)
	}
}
