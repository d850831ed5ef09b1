package measure

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountsOfAlertsAreComparedJobByJob(t *testing.T) {
	failures := map[string]int{"a": 3, "b": 2, "c": 1}
	alerts := []AlertCount{{"a", 1}, {"a", 2}, {"b", 1}, {"c", 2}, {"d", 1}}
	sum, lost, more := CompareCounts(failures, alerts)
	require.Equal(t, []int{7, 1, 2}, []int{sum, lost, more}, "what is too much of one job makes up for no other")
	require.Equal(t, map[string]int{"a": 3, "b": 2, "c": 1}, failures)
}
