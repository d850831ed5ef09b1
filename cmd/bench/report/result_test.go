package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
)

func TestTheJSONHasTheNamesOfTheContract(t *testing.T) {
	r := Result{
		Name: "throughput", Store: "s", Nodes: 1, ExecutionsPerSecond: 1, CeilingPerSecond: 2, ShareOfCeiling: 0.5,
		LatenessMs: &measure.Quantiles{}, LastStartMs: 1,
	}
	out, err := json.Marshal(r)
	require.NoError(t, err)
	var keys map[string]any
	require.NoError(t, json.Unmarshal(out, &keys))
	for _, key := range []string{
		"name", "store", "nodes", "executionsPerSecond", "ceilingPerSecond", "shareOfCeiling", "latenessMs",
		"planned", "lost", "doubled", "lastStartMs", "cpuPercent", "rssMb",
	} {
		require.Contains(t, keys, key)
	}
}
