package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// A violation says why a node stopped, so the reason must be read under the key that
// nodes log. The moment is that of the line, whenever the line is read.
func TestAStopIsReadFromTheLogAsTheNodeWroteIt(t *testing.T) {
	at := time.Date(2026, 11, 22, 11, 0, 0, 5_000_000, time.UTC)
	const moment = `"time":"2026-11-22T12:00:00.005+01:00"`
	var c history.Cluster
	for _, line := range []string{
		`{` + moment + `,"msg":"this node stops its work","node":"a","epoch":1,"reason":"its lease ended"}`,
		`{` + moment + `,"msg":"this node works again","node":"a","epoch":2}`,
		`{` + moment + `,"msg":"a node has stopped beating","node":"a","epoch":1,"status":"SUSPECT","cause":""}`,
		`{` + moment + `,"msg":"a node has stopped beating","node":"a","epoch":1,"status":"DOWN","cause":"PROOF"}`,
	} {
		require.NoError(t, noteLine("b", line, &c))
	}
	for i := range c.Fences {
		c.Fences[i].At = c.Fences[i].At.UTC()
	}
	require.Equal(t, []history.Fence{
		{Node: "b", Epoch: 1, At: at, Why: "its lease ended"}, {Node: "b", Epoch: 2, At: at, Works: true},
	}, c.Fences)
	c.Deaths[0].At = c.Deaths[0].At.UTC()
	require.Equal(t, []history.Death{{Node: "a", By: "b", Epoch: 1, At: at}}, c.Deaths)
	require.Error(t, noteLine("b", "this node stops its work", &c), "a stop must not be lost")
}
