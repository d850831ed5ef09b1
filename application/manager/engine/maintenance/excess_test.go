package maintenance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
)

// Beyond the limit the oldest events for Kafka go, so many in a turn, and are counted. It needs no relay: so also where
// no node leads.
func TestTooManyEventsForKafkaAreDroppedAndCounted(t *testing.T) {
	m := &memory{excess: 123_456}
	var counts []int
	x := maintenance.NewExcess(m, func(n int) { counts = append(counts, n) })
	for range 3 {
		require.NoError(t, x.RunOnce(t.Context()))
	}
	require.Equal(t, []int{100_000, 23_456}, counts)
}
