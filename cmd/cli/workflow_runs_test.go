package cli_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each sentence of a command names what it was about, also where that is its second argument.
func TestSentencesNameTheirSecondArgument(t *testing.T) {
	api := newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{}`)
	})
	environ := []string{"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
	for line, text := range map[string]string{
		"workflow runs step cancel 0193 score[7]": "asked score[7] to end",
		"workflow runs step skip 0193 load":       "skipped load",
		"workflow runs step repeat 0193 load":     "load runs again",
		"workflow runs step succeed 0193 load":    "load is a success now",
		"workflow runs pause 0193":                "paused 0193",
		"worker token revoke shop 0194":           "revoked 0194",
	} {
		code, out, errOut := run(t, environ, strings.Fields(line)...)
		require.Zero(t, code, errOut)
		require.Equal(t, text+"\n", out+errOut, line)
	}
}

// A workflow run has no node: its steps have.
func TestAFollowedRunWithoutANode(t *testing.T) {
	for node, text := range map[string]string{`null`: "attempt 1\n", `"node-1"`: "attempt 1 on node-1\n"} {
		api := newFakeAPI(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/logs/stream"):
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "event: end\ndata: {}\n\n")
			case r.Method == http.MethodPost:
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"executionId":"0194","executionIds":["0194"]}`)
			default:
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"id":"0194","status":"SUCCESS","attempt":1,"durationMs":51,"nodeId":`+node+`}`)
			}
		})
		environ := []string{"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
		code, out, errOut := run(t, environ, "workflow", "runs", "retry", "0193", "--wait")
		require.Zero(t, code, errOut)
		require.True(t, strings.HasSuffix(errOut, "51ms, "+text), out+errOut)
	}
}
