package fault

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// A violation says why a node stopped, so the reason must be read under the key that
// nodes log.
func TestTheReasonOfAStopIsReadFromTheLog(t *testing.T) {
	at := time.Date(2026, 11, 22, 11, 0, 0, 0, time.UTC)
	var c history.Cluster
	for _, line := range []string{
		`{"level":"ERROR","msg":"this node stops its work","node":"a","reason":"its lease ended"}`,
		`{"level":"INFO","msg":"this node works again","node":"a","epoch":2}`,
		`{"level":"WARN","msg":"a node has stopped beating","node":"a","status":"SUSPECT","cause":""}`,
		`{"level":"WARN","msg":"a node has stopped beating","node":"a","status":"DOWN","cause":"PROOF"}`,
		`not JSON`,
	} {
		noteLine("b", rig.Note{At: at, Line: line}, &c)
	}
	require.Equal(t, []history.Fence{
		{Node: "b", At: at, Why: "its lease ended"}, {Node: "b", At: at, Works: true},
	}, c.Fences)
	require.Equal(t, []history.Death{{Node: "a", By: "b", At: at}}, c.Deaths)
}
