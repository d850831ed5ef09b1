package cli_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A worker group is sent whole: what no flag names stays as it was.
func TestAWorkerGroupKeepsWhatIsNotNamed(t *testing.T) {
	var sent []string
	api := newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" { // the list of groups takes no parameters
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, string(body))
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"items":[{"name":"shop","jobGroups":["pay"],"secrets":true,"commands":false,`+
				`"maxWorkers":7,"version":3}],"nextCursor":null}`)
			return
		}
		_, _ = io.WriteString(w, `{"name":"shop","version":4}`)
	})
	environ := []string{"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
	code, out, errOut := run(t, environ, "worker", "group", "set", "shop", "--commands")
	require.Zero(t, code, errOut)
	require.Contains(t, out+errOut, "changed the worker group shop, version 4")
	require.JSONEq(t, `{"jobGroups":["pay"],"secrets":true,"commands":true,"maxWorkers":7,"version":3}`, sent[1])
	code, _, errOut = run(t, environ, "worker", "group", "set", "shop", "--secrets=false", "--job-group", "a",
		"--job-group", "b", "--max-workers", "9")
	require.Zero(t, code, errOut)
	require.JSONEq(t, `{"jobGroups":["a","b"],"secrets":false,"commands":false,"maxWorkers":9,"version":3}`, sent[3])
	code, _, errOut = run(t, environ, "worker", "group", "set", "bank", "--secrets")
	require.NotZero(t, code)
	require.Contains(t, errOut, "--job-group")
	code, _, errOut = run(t, environ, "worker", "group", "set", "bank", "--job-group", "loans")
	require.Zero(t, code, errOut)
	require.JSONEq(t, `{"jobGroups":["loans"]}`, sent[len(sent)-1])
	calls := strings.Join(api.seen(), "\n")
	require.True(t, strings.HasSuffix(calls, "GET /worker-groups\nPUT /worker-groups/bank"), calls)
}
