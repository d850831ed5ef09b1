package e2e_test

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A node that is told to stop while it waits for the answer of a target takes it,
// and detaches the run before it ends (engine rule 28).
func TestANodeThatStopsDetachesWhatItsTargetsAccept(t *testing.T) {
	dbtest.NeedMySQL(t)
	f := newFleet(t)
	n1, n2 := f.nodes[0], f.nodes[1]
	job := f.job("slow to accept", "n2", map[string]any{
		"jobData": map[string]any{"method": "POST", "url": f.target.URL + "/slow", "async": true},
	})
	var made struct {
		IDs []string `json:"executionIds"`
	}
	f.at(n1).must(202, http.MethodPost, "/api/v1/jobs/"+job+"/trigger", map[string]any{}, &made)
	id := made.IDs[0]
	require.Eventually(t, func() bool {
		return len(f.target.of(id)) == 1
	}, time.Minute, 10*time.Millisecond, "the run is posted")
	require.NoError(t, n2.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		res, err := http.Get("http://" + n2.Addr + "/readyz")
		if err != nil {
			return true
		}
		defer res.Body.Close()
		return res.StatusCode != http.StatusOK
	}, 10*time.Second, 10*time.Millisecond, "the node stops")
	require.False(t, n2.Exited(), "it waits for its run")
	close(f.target.slow)
	require.True(t, n2.ExitedWithin(20*time.Second))
	f.awaitDetached(n1, id, 1)
	require.Equal(t, 204, f.target.report(t, "http://"+n1.Addr, id, done))
	require.Equal(t, "SUCCESS", f.run(n1, id).Status)
	f.postedOnce(id)
}
