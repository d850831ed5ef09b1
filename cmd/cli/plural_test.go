package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// One is said as one, and all else as many.
func TestSentencesCount(t *testing.T) {
	for n, text := range map[int]string{
		0: "0 jobs; the fullest minute is 2026-11-22 03:00:00Z with 0 fires",
		1: "1 job; the fullest minute is 2026-11-22 03:00:00Z with 1 fire",
		2: "2 jobs; the fullest minute is 2026-11-22 03:00:00Z with 2 fires", 11: "11 jobs; ",
	} {
		api := newFakeAPI(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"items":[],"jobs":%d,"peak":{"time":"2026-11-22T03:00:00Z","fires":%d}}`, n, n)
		})
		environ := []string{
			"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t", "TZ=UTC",
		}
		code, out, errOut := run(t, environ, strings.Fields("schedule load")...)
		require.Zero(t, code, errOut)
		require.Contains(t, out+errOut, text)
	}
	api := newFakeAPI(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"w1","running":1}`)
	})
	environ := []string{"HOME=" + t.TempDir(), "PLATFORM_SCHEDULER_SERVER=" + api.URL, "PLATFORM_SCHEDULER_TOKEN=t"}
	_, out, errOut := run(t, environ, "worker", "drain", "w1")
	require.Contains(t, out+errOut, "1 run goes on there")
}
