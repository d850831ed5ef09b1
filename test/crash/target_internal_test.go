package crash

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Work that a target accepted is over when the target reports its end, however late and after
// however many tries the answer comes: the scheduler may have begun the next run by then.
func TestAcceptedWorkIsOverWhenItIsReported(t *testing.T) {
	target, err := NewTarget(filepath.Join(t.TempDir(), "calls"))
	require.NoError(t, err)
	var reported time.Time
	target.ReportTo(func(string, string, string) int {
		if reported.IsZero() {
			reported = time.Now()
			return 0
		}
		time.Sleep(300 * time.Millisecond)
		return http.StatusNoContent
	})
	call := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/?async=1&ms=30", http.NoBody)
	call.Header.Set("X-Scheduler-Report-Path", "/report")
	answer := httptest.NewRecorder()
	target.ServeHTTP(answer, call)
	require.Equal(t, http.StatusAccepted, answer.Code)
	require.NoError(t, target.Close())
	calls := target.Calls()
	require.Len(t, calls, 1)
	require.Equal(t, history.AnswerOK, calls[0].Answer)
	require.GreaterOrEqual(t, calls[0].End.Sub(calls[0].Start), 30*time.Millisecond, "the work is waited for")
	require.False(t, calls[0].End.After(reported), "the work ended %s after it was reported", calls[0].End.Sub(reported))
}
