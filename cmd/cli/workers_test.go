package cli_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
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
				`"declare":true,"maxWorkers":7,"version":3}],"nextCursor":null}`)
			return
		}
		_, _ = io.WriteString(w, `{"name":"shop","version":4}`)
	})
	environ := []string{"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
	code, out, errOut := run(t, environ, "worker", "group", "set", "shop", "--commands")
	require.Zero(t, code, errOut)
	require.Contains(t, out+errOut, "changed the worker group shop, version 4")
	require.JSONEq(t, `{"jobGroups":["pay"],"secrets":true,"commands":true,"declare":true,"maxWorkers":7,"version":3}`,
		sent[1])
	code, _, errOut = run(t, environ, "worker", "group", "set", "shop", "--secrets=false", "--job-group", "a",
		"--job-group", "b", "--max-workers", "9", "--declare=false")
	require.Zero(t, code, errOut)
	require.JSONEq(t, `{"jobGroups":["a","b"],"secrets":false,"commands":false,"declare":false,"maxWorkers":9,`+
		`"version":3}`, sent[3])
	code, _, errOut = run(t, environ, "worker", "group", "set", "bank", "--secrets")
	require.NotZero(t, code)
	require.Contains(t, errOut, "--job-group")
	code, _, errOut = run(t, environ, "worker", "group", "set", "bank", "--job-group", "loans")
	require.Zero(t, code, errOut)
	require.JSONEq(t, `{"jobGroups":["loans"]}`, sent[len(sent)-1])
	calls := strings.Join(api.seen(), "\n")
	require.True(t, strings.HasSuffix(calls, "GET /worker-groups\nPUT /worker-groups/bank"), calls)
}

// Without flags the command shows its help, as before. A worker that cannot be says which flag is missing or wrong, and
// calls nobody.
func TestAWorkerSaysWhatItLacks(t *testing.T) {
	environ := []string{"HOME=" + t.TempDir()}
	code, out, errOut := run(t, environ, "worker")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "drain")
	most := []string{"--server", "http://127.0.0.1:1", "--group", "g", "--token-file", "/nowhere"}
	for says, args := range map[string][]string{
		"--server":                  {"--group", "g"},
		"--group":                   {"--server", "http://127.0.0.1:1"},
		"--token-file":              most[:4],
		"--command-slots needs":     append(most[:6:6], "--command-slots", "2"),
		"runs nothing":              append(most[:6:6], "--slots", "0"),
		"--grace must not":          append(most[:6:6], "--grace", "-1"),
		"--weight must":             append(most[:6:6], "--weight", "0"),
		"give --allow-plain":        {"--server", "http://other:1", "--group", "g", "--token-file", "/nowhere"},
		"read --token-file":         most,
		"--server: \"ftp://a\" is":  {"--server", "ftp://a", "--group", "g", "--token-file", "/nowhere"},
		"read --ca-file":            append(most[:4:4], "--token-file", token(t), "--ca-file", "/nowhere"),
		"https":                     {"--server", "http://other:1", "--group", "g", "--token-file", "/nowhere"},
		"/nowhere":                  most,
		"did you mean --token-file": append(most[:4:4], "--token-fil", "x"),
		`unknown command "drian"`:   {"drian"},
		"listen for health checks":  append(most[:4:4], "--token-file", token(t), "--health", "nowhere.invalid:1"),
		"executor.http.allowCIDRs":  append(most[:4:4], "--token-file", token(t), "--config", wrongConfig(t)),
	} {
		code, _, errOut := run(t, environ, append([]string{"worker"}, args...)...)
		require.NotZero(t, code, says)
		require.Contains(t, errOut, says)
	}
	for _, alone := range []string{
		"--instance=a", "--slots=1", "--command-slots=1", "--labels=a=b", "--weight=1", "--grace=1", "--ca-file=a",
		"--allow-plain", "--health=:1", "--commands",
	} {
		code, _, errOut := run(t, environ, "worker", alone)
		require.NotZero(t, code, alone)
		require.Contains(t, errOut, "a worker needs --server", alone)
	}
}

func token(t *testing.T) string {
	t.Helper()
	return fileWith(t, "psw_x")
}

func wrongConfig(t *testing.T) string {
	t.Helper()
	return fileWith(t, "executor: {http: {allowCIDRs: [nonsense]}}")
}

func fileWith(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}
